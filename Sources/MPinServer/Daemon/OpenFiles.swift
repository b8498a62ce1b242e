/// Keeps the number of open files within the system's limit. Each connection is an open file.
extension Parts {
    /// The number of files that are open if all limits of connections and requests are used up.
    package var filesNeeded: Int {
        let limits = limits
        let alone = rps == nil && rpa == nil
        let open = alone ? authorities.count : publicAddresses.count
        // The number of listeners that only other parts of the system call, and programs that watch it.
        let inside = (alone ? 0 : authorities.count) + privateAddresses.count + watchAddresses.count
        let onward = rpa?.rpsURL == nil ? 0 : limits.waitingPages + limits.waitingPhones + limits.requestsInFlight
        return open * limits.connections + inside * min(limits.connections, limits.connectionsPerAddress) + onward
            + Self.otherFiles
    }

    /// The number of files that are kept for databases, logs, pipes and requests to other servers.
    private static let otherFiles = 256

    /// Lowers the limits of connections until `files` open files are enough. Otherwise the system could run out of
    /// files and refuse a connection of a login that has begun.
    package mutating func fit(files: Int) {
        while filesNeeded > files, limits.connections > 32 {
            let (all, each) = (limits.connections, limits.connectionsPerAddress)
            let ofNetwork = limits.connectionsPerNetwork
            changeLimits {
                $0.connections = all - all / 16 - 1
                $0.connectionsPerAddress = min(each - each / 16, all)
                $0.connectionsPerNetwork = min(ofNetwork - ofNetwork / 16, all)
            }
        }
    }

    private mutating func changeLimits(_ change: (inout Limits) -> Void) {
        for index in authorities.indices { change(&authorities[index].limits) }
        if var service = rps {
            change(&service.limits)
            rps = service
        }
        if var application = rpa {
            change(&application.limits)
            rpa = application
        }
    }
}

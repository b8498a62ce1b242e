/// The number of open files. Each connection is one, and the system limits how many a process may have open.
extension Parts {
    /// The number of files that are open if all limits of connections and requests are used up.
    package var filesNeeded: Int {
        let limits = limits
        let alone = rps == nil && rpa == nil
        let open = alone ? authorities.count : publicAddresses.count
        // The number of listeners that only other parts of the system call.
        let inside = (alone ? 0 : authorities.count) + privateAddresses.count + (adminListen == nil ? 0 : 1)
        let onward = rpa?.rpsURL == nil ? 0 : limits.waitingPages + limits.waitingPhones + limits.requestsInFlight
        return open * limits.connections + inside * min(limits.connections, limits.connectionsPerAddress) + onward
            + Self.otherFiles
    }

    /// Files for databases, logs, pipes, and calls of other servers.
    private static let otherFiles = 256

    /// Lowers the limits of connections until `files` open files are enough. Otherwise the system would refuse
    /// connections when there are no more files, also those of logins that have begun.
    package mutating func fit(files: Int) {
        while filesNeeded > files, limits.connections > 32 {
            let (all, each) = (limits.connections, limits.connectionsPerAddress)
            changeLimits {
                $0.connections = all - all / 16 - 1
                $0.connectionsPerAddress = min(each - each / 16, all)
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

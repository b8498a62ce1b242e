import NIOConcurrencyHelpers
import NIOCore

/// Counts the open connections of a listener, in all and by caller.
final class ConnectionCounter: Sendable {
    private struct Counts {
        var all = 0
        var byCaller: [IPAddress: Int] = [:]
    }

    private let limits: Limits
    private let exposure: Exposure
    private let counts = NIOLockedValueBox(Counts())

    init(_ limits: Limits, _ exposure: Exposure) {
        self.limits = limits
        self.exposure = exposure
    }

    var open: Int { counts.withLockedValue(\.all) }

    /// False: there are too many, or it comes past the proxy. Else the connection counts until it is closed. Proxies
    /// bring the connections of many.
    func admit(_ channel: any Channel) -> Bool {
        let peer = channel.remoteAddress.flatMap { IPAddress($0) }
        guard exposure.admits(peer) else { return false }
        let caller = peer.flatMap { exposure.proxies.trusts($0) ? nil : $0.caller }
        let isAdmitted = counts.withLockedValue { counts in
            guard counts.all < limits.connections else { return false }
            if let caller {
                guard counts.byCaller[caller, default: 0] < limits.connectionsPerAddress else { return false }
                counts.byCaller[caller, default: 0] += 1
            }
            counts.all += 1
            return true
        }
        guard isAdmitted else { return false }
        channel.closeFuture.whenComplete { [self] _ in left(caller) }
        return true
    }

    private func left(_ caller: IPAddress?) {
        counts.withLockedValue { counts in
            counts.all -= 1
            guard let caller, let count = counts.byCaller[caller] else { return }
            counts.byCaller[caller] = count > 1 ? count - 1 : nil
        }
    }
}

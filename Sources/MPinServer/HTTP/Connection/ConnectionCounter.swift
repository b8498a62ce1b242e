import NIOConcurrencyHelpers
import NIOCore

/// Counts the open connections of a listener, in all and by caller.
final class ConnectionCounter: Sendable {
    private let limits: Limits
    private let exposure: Exposure
    private let counts = NIOLockedValueBox(CallerCounts())

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
        let isAdmitted = counts.withLockedValue {
            $0.enter(caller, most: limits.connections, mostOfOne: limits.connectionsPerAddress)
        }
        guard isAdmitted else { return false }
        channel.closeFuture.whenComplete { [counts] _ in counts.withLockedValue { $0.leave(caller) } }
        return true
    }
}

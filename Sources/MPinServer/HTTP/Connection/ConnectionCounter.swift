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

    /// Counts a connection until it is closed. False if there are too many, or if it should come through a proxy and
    /// does not. Connections of trusted proxies are not counted for any single caller.
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

/// Counts things, such as connections, in all and by caller.
struct CallerCounts {
    private(set) var all = 0
    private var byCaller: [IPAddress: Int] = [:]

    /// Counts one more thing of `caller`. False if there are `most` already, or `mostOfOne` of this caller. If `caller`
    /// is nil, as for a proxy, only `most` applies.
    mutating func enter(_ caller: IPAddress?, most: Int, mostOfOne: Int) -> Bool {
        guard all < most else { return false }
        if let caller {
            guard byCaller[caller, default: 0] < mostOfOne else { return false }
            byCaller[caller, default: 0] += 1
        }
        all += 1
        return true
    }

    mutating func leave(_ caller: IPAddress?) {
        all -= 1
        guard let caller, let count = byCaller[caller] else { return }
        byCaller[caller] = count > 1 ? count - 1 : nil
    }
}

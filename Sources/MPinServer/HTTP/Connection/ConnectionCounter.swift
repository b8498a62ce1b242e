import NIOConcurrencyHelpers
import NIOCore
import Synchronization

/// Counts the open connections of a listener, in all, by caller and by the caller's network, and makes room for new ones:
/// it closes those that have waited for their clients the longest. A connection whose request is being answered stays,
/// also one that waits for a person.
final class ConnectionCounter: Sendable {
    fileprivate struct State {
        var counts = CallerCounts()
        /// The connections by their networks; under nil those of trusted proxies.
        var open: [IPAddress?: [ObjectIdentifier: OpenConnection]] = [:]
        /// The connections that are about to be closed. They are not counted any more.
        var leaving: Set<ObjectIdentifier> = []
        /// No look for idle connections before these times: when there is no place left, and when places get scarce.
        var (nextLook, nextShrinking) = (NIODeadline.distantPast, NIODeadline.distantPast)
        /// When there was no room last.
        var lastFull: NIODeadline?
    }

    private let limits: Limits
    private let exposure: Exposure
    private let note: @Sendable (Note) -> Void
    private let state = NIOLockedValueBox(State())

    /// What the counter reports of connections.
    enum Note: String { case closed, refused }

    /// `note` is told of each connection that is closed to make room, and of each that is refused.
    init(_ limits: Limits, _ exposure: Exposure, note: @escaping @Sendable (Note) -> Void = { _ in }) {
        self.limits = limits
        self.exposure = exposure
        self.note = note
    }

    /// Counts a connection until it is closed. Nil if there are too many that cannot be closed, or if it should come
    /// through a proxy and does not. Connections of trusted proxies are not counted for any single caller.
    func admit(_ channel: any Channel) -> OpenConnection? {
        let peer = channel.remoteAddress.flatMap { IPAddress($0) }
        guard exposure.admits(peer) else { return nil }
        let connection = OpenConnection(channel, of: peer.flatMap { exposure.proxies.trusts($0) ? nil : $0.caller })
        let (isAdmitted, leaving) = state.withLockedValue { admit(connection, &$0, .now()) }
        for other in leaving { close(other) }
        guard isAdmitted else {
            note(.refused)
            return nil
        }
        channel.closeFuture.whenComplete { [state] _ in state.withLockedValue { $0.remove(connection) } }
        return connection
    }

    /// How many connections are open, how many may be, and whether there was no room in the last minute.
    var use: (open: Int, most: Int, wasFull: Bool) {
        state.withLockedValue { state in
            let wasFull = state.lastFull.map { NIODeadline.now() - $0 < .minutes(1) } ?? false
            return (state.counts.all, limits.connections, wasFull)
        }
    }

    /// Counts the connection, and returns those that make room for it. Shares make room first, so that a caller who has
    /// used up one loses connections, and nobody else.
    private func admit(
        _ connection: OpenConnection, _ state: inout State, _ now: NIODeadline
    ) -> (Bool, [OpenConnection]) {
        var leaving: [OpenConnection] = []
        if let caller = connection.caller {
            let (ofCaller, ofNetwork) = (state.counts.of(caller), state.counts.ofNetwork(caller.network))
            if ofCaller >= limits.connectionsPerAddress {
                let own = state.quiet([caller.network]).filter { $0.connection.caller == caller }
                leaving = state.release(own, limits.connectionsPerAddress / Self.part)
            } else if ofNetwork >= limits.connectionsPerNetwork {
                leaving = state.release(state.quiet([caller.network]), limits.connectionsPerNetwork / Self.part)
            }
        }
        leaving += makeRoom(&state, now)
        let isAdmitted = state.counts.enter(
            connection.caller, most: limits.connections, mostOfOne: limits.connectionsPerAddress,
            mostOfNetwork: limits.connectionsPerNetwork)
        if isAdmitted { state.open[connection.caller?.network, default: [:]][connection.id] = connection }
        return (isAdmitted, leaving)
    }

    /// Returns the connections that are closed for everybody's sake. When there is no place left, these are the ones that
    /// have waited longest, and those of proxies only if there are no others.
    private func makeRoom(_ state: inout State, _ now: NIODeadline) -> [OpenConnection] {
        let most = limits.connections
        guard state.counts.all >= most else { return shrunk(&state, now) }
        state.lastFull = now
        guard now >= state.nextLook else { return [] }
        var found = state.quiet(state.open.keys.filter { $0 != nil })
        if found.isEmpty { found = state.quiet([nil]) }
        // A look takes time, so one that has found nothing is not repeated at once.
        if found.isEmpty { state.nextLook = now + .milliseconds(20) }
        return state.release(found, most / Self.part)
    }

    /// Returns the connections that have waited for longer than is allowed while places are scarce: from the moment when
    /// half of them are taken, the idle time shrinks, down to nothing when all are.
    private func shrunk(_ state: inout State, _ now: NIODeadline) -> [OpenConnection] {
        let (all, most) = (state.counts.all, limits.connections)
        guard 2 * all > most, now >= state.nextShrinking else { return [] }
        state.nextShrinking = now + .milliseconds(500)
        let milliseconds = limits.idleSeconds * 2000 * (most - all) / most
        let found = state.quiet(state.open.keys.filter { $0 != nil }).filter {
            $0.since <= now - .milliseconds(Int64(milliseconds))
        }
        return state.release(found, found.count)
    }

    /// One look makes room for this part of the connections, because it takes as long as many of them.
    private static let part = 64

    /// Closes a connection, unless bytes of its client have come in the meantime.
    private func close(_ connection: OpenConnection) {
        let since = connection.quietSince
        connection.channel.eventLoop.execute { [self] in
            guard let since, connection.quietSince == since else {
                return state.withLockedValue { $0.keep(connection) }
            }
            note(.closed)
            connection.channel.close(promise: nil)
        }
    }
}

extension ConnectionCounter.State {
    /// A connection that waits for bytes of its client, and since when.
    typealias Quiet = (connection: OpenConnection, since: NIODeadline)

    /// The connections of these networks that wait for bytes of their clients.
    func quiet(_ networks: [IPAddress?]) -> [Quiet] {
        networks.flatMap { network in
            (open[network] ?? [:]).compactMap { id, connection in
                guard let since = connection.quietSince, !leaving.contains(id) else { return nil }
                return (connection, since)
            }
        }
    }

    /// Frees the places of the `count` that have waited longest, or of one, and returns them.
    mutating func release(_ quiet: [Quiet], _ count: Int) -> [OpenConnection] {
        let released = quiet.sorted { $0.since < $1.since }.prefix(max(1, count))
        for (connection, _) in released {
            leaving.insert(connection.id)
            counts.leave(connection.caller)
        }
        return released.map(\.connection)
    }

    /// Counts a connection again that is not closed after all.
    mutating func keep(_ connection: OpenConnection) {
        guard open[connection.caller?.network]?[connection.id] != nil, leaving.remove(connection.id) != nil else {
            return
        }
        _ = counts.enter(connection.caller, most: .max, mostOfOne: .max, mostOfNetwork: .max)
    }

    mutating func remove(_ connection: OpenConnection) {
        let network = connection.caller?.network
        open[network]?[connection.id] = nil
        if open[network]?.isEmpty ?? false { open[network] = nil }
        if leaving.remove(connection.id) == nil { counts.leave(connection.caller) }
    }
}

/// A connection that a ``ConnectionCounter`` counts.
final class OpenConnection: Sendable {
    let channel: any Channel
    /// Whom the connection counts for; nil for a trusted proxy.
    let caller: IPAddress?
    /// Uptime in nanoseconds since which the connection waits for bytes of its client; 0: it does not.
    private let quiet = Atomic(NIODeadline.now().uptimeNanoseconds)

    init(_ channel: any Channel, of caller: IPAddress?) {
        self.channel = channel
        self.caller = caller
    }

    var id: ObjectIdentifier { ObjectIdentifier(self) }

    /// Since when the connection waits for bytes of its client: for its next request, or for the rest of one. Nil if its
    /// request is being answered.
    var quietSince: NIODeadline? {
        get {
            let since = quiet.load(ordering: .relaxed)
            return since == 0 ? nil : .uptimeNanoseconds(since)
        }
        set { quiet.store(newValue?.uptimeNanoseconds ?? 0, ordering: .relaxed) }
    }
}

/// Counts things, such as connections, in all, by caller and by the caller's network.
struct CallerCounts {
    private(set) var all = 0
    private var byCaller: [IPAddress: Int] = [:]
    private var byNetwork: [IPAddress: Int] = [:]

    func of(_ caller: IPAddress) -> Int { byCaller[caller] ?? 0 }

    func ofNetwork(_ network: IPAddress) -> Int { byNetwork[network] ?? 0 }

    /// Counts one more thing of `caller`. False if there are `most` already, `mostOfOne` of this caller, or
    /// `mostOfNetwork` of its network. If `caller` is nil, as for a proxy, only `most` applies.
    mutating func enter(_ caller: IPAddress?, most: Int, mostOfOne: Int, mostOfNetwork: Int) -> Bool {
        guard all < most else { return false }
        if let caller {
            guard of(caller) < mostOfOne, ofNetwork(caller.network) < mostOfNetwork else { return false }
            byCaller[caller, default: 0] += 1
            byNetwork[caller.network, default: 0] += 1
        }
        all += 1
        return true
    }

    mutating func leave(_ caller: IPAddress?) {
        all -= 1
        guard let caller else { return }
        Self.reduce(&byCaller, caller)
        Self.reduce(&byNetwork, caller.network)
    }

    private static func reduce(_ counts: inout [IPAddress: Int], _ key: IPAddress) {
        guard let count = counts[key] else { return }
        counts[key] = count > 1 ? count - 1 : nil
    }
}

import Synchronization

/// A connection whose user waits without a thread. One caller uses it at a time.
final class PostgresLink: Polled {
    private typealias Continuation = CheckedContinuation<[PostgresResult], any Error>

    private struct State {
        let connection: PostgresConnection
        var waiting: Continuation?
        var deadline = ContinuousClock.now
        var isLost = false
    }

    private let state: Mutex<State>
    private let descriptor: Int32
    private let trips: TripCount

    /// Opens a connection, which takes a while, so not on a thread of Swift's tasks. Each exchange counts as a trip.
    init(_ url: PostgresURL, _ trips: TripCount) throws {
        self.trips = trips
        let connection = try PostgresConnection(url)
        descriptor = connection.descriptor
        state = Mutex(State(connection: connection))
        try Poller.shared.add(self, descriptor)
    }

    deinit { Poller.shared.remove(self, descriptor) }

    /// Whether an exchange has found that the connection has ended.
    var isLost: Bool { state.withLock { $0.isLost } }

    /// Whether nothing speaks against an exchange. A connection that ended since the last one is noticed here, where
    /// nothing is sent yet: later nobody could tell whether a change was made.
    var isUsable: Bool {
        state.withLock { state in
            state.isLost = state.isLost || state.connection.hasEnded
            return !state.isLost
        }
    }

    /// Sends commands together and returns the result of each. Throws ``PostgresFailure``: if the server refuses a
    /// statement, it does not carry out those after it; after the deadline the connection is lost.
    func exchange(
        _ commands: [PostgresCommand], by deadline: ContinuousClock.Instant
    ) async throws -> [PostgresResult] {
        trips.add()
        return try await answers(to: commands, by: deadline)
    }

    /// Has the server end this connection, with all locks that it holds, 20 seconds after this machine has gone away
    /// without a word. By default a server keeps it for two hours. Options of libpq could say the same, but poolers refuse
    /// them.
    func limitLife(by deadline: ContinuousClock.Instant) async throws {
        _ = try await answers(to: [.limitLife], by: deadline)
    }

    private func answers(
        to commands: [PostgresCommand], by deadline: ContinuousClock.Instant
    ) async throws -> [PostgresResult] {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock {
                $0.waiting = continuation
                $0.deadline = deadline
            }
            proceed { connection throws(PostgresFailure) in try connection.send(commands) }
        }
    }

    /// Reads what has arrived. The poller calls it.
    func advance() { proceed { _ in } }

    /// Gives up if the deadline is over. The poller calls it from time to time.
    func expire(at now: ContinuousClock.Instant) {
        guard state.withLock({ $0.waiting != nil && $0.deadline < now }) else { return }
        proceed { _ throws(PostgresFailure) in throw .lost("PostgreSQL: no answer in time") }
    }

    /// Does `step`, and then as much of the exchange as is possible now. The poller waits for the rest.
    private func proceed(_ step: (PostgresConnection) throws(PostgresFailure) -> Void) {
        let (waiting, result) = state.withLock { state -> (Continuation?, Result<[PostgresResult], any Error>) in
            do {
                guard state.waiting != nil else { return (nil, .success([])) }
                try step(state.connection)
                guard let results = try state.connection.advance() else {
                    Poller.shared.arm(descriptor, forWriting: state.connection.needsToWrite)
                    return (nil, .success([]))
                }
                defer { state.waiting = nil }
                return (state.waiting, .success(results))
            } catch {
                if case .lost = error as? PostgresFailure { state.isLost = true }
                defer { state.waiting = nil }
                return (state.waiting, .failure(error))
            }
        }
        waiting?.resume(with: result)
    }
}

extension PostgresCommand {
    /// The last of these is for a machine that has not confirmed what was sent to it: then there are no keep-alives.
    fileprivate static let limitLife = PostgresCommand(
        """
        SELECT set_config(name, value, false) FROM (VALUES ('idle_in_transaction_session_timeout', '10s'),
            ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'),
            ('tcp_user_timeout', '20s')) AS settings (name, value)
        """)
}

/// The number of exchanges over all connections of a store.
final class TripCount: Sendable {
    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add() { count.add(1, ordering: .relaxed) }
}

import NIOCore
import Synchronization

/// A connection that any number of callers use at the same time. Redis answers in order, so each gets its replies. Nobody
/// needs a thread to wait.
final class RedisLink: Polled {
    private typealias Continuation = CheckedContinuation<[RedisReply], any Error>

    private struct Exchange {
        /// Nil if nobody wants the replies.
        var continuation: Continuation?
        /// When the caller gives up.
        let deadline: ContinuousClock.Instant
        /// When the connection counts as lost.
        let end: ContinuousClock.Instant
        let count: Int
        /// Whether these are the replies to the password, which the connection has sent by itself. If it is wrong, the
        /// connection is lost.
        var isPassword = false
        var replies: [RedisReply] = []
    }

    private struct State {
        let connection: RedisConnection
        var waiting = CircularBuffer<Exchange>()
        var loss: String?

        init(_ connection: RedisConnection, by deadline: ContinuousClock.Instant) {
            self.connection = connection
            guard connection.hasSentPassword else { return }
            waiting.append(Exchange(continuation: nil, deadline: deadline, end: deadline, count: 1, isPassword: true))
        }
    }

    /// The exchanges that have ended, whose callers go on outside of the lock.
    private typealias Ended = [(continuation: Continuation?, result: Result<[RedisReply], any Error>)]

    private let state: Mutex<State>
    private let descriptor: Int32
    private let trips: TripCount

    /// How long the server may take for an answer. Others use the connection, so it is not lost when the caller gives up
    /// earlier.
    private static let patience = Duration.seconds(5)
    /// The largest number of exchanges that are not answered yet.
    private static let mostWaiting = 10_000

    /// Connects, which takes a while, so not on a thread of Swift's tasks. Each exchange counts as a trip.
    init(_ url: RedisURL, _ trips: TripCount) throws {
        self.trips = trips
        let connection = try RedisConnection(url)
        descriptor = connection.descriptor
        state = Mutex(State(connection, by: .now + .seconds(2)))
        try Poller.shared.add(self, descriptor)
        Poller.shared.arm(descriptor, forWriting: false)
    }

    deinit { Poller.shared.remove(descriptor) }

    var isLost: Bool { state.withLock { $0.loss != nil } }

    /// Sends commands together and returns their replies, of which some may be errors. Throws ``RedisFailure``. If there is
    /// no answer for five seconds, the connection is lost, for all its callers.
    func exchange(
        _ commands: RedisCommands, by deadline: ContinuousClock.Instant
    ) async throws -> [RedisReply] {
        trips.add()
        return try await withCheckedThrowingContinuation { continuation in
            let end = max(deadline, .now + Self.patience)
            begin(
                Exchange(continuation: continuation, deadline: deadline, end: end, count: commands.count),
                commands.bytes)
        }
    }

    /// Sends commands whose replies nobody wants.
    func post(_ commands: RedisCommands, by deadline: ContinuousClock.Instant) {
        begin(Exchange(continuation: nil, deadline: deadline, end: deadline, count: commands.count), commands.bytes)
    }

    private func begin(_ exchange: Exchange, _ bytes: [UInt8]) {
        let (refusal, ended) = state.withLock { state -> (String?, Ended) in
            // A connection that ended since the last exchange is noticed here, where nothing is sent yet: later nobody
            // could tell whether a change was made.
            if state.waiting.isEmpty { _ = Self.receive(&state) }
            if let loss = state.loss { return (loss, []) }
            guard state.waiting.count < Self.mostWaiting else { return ("Redis: too many wait for an answer", []) }
            state.waiting.append(exchange)
            do throws(RedisFailure) { try state.connection.send(bytes) } catch {
                return (nil, Self.lose(&state, error.reason))
            }
            if state.connection.needsToWrite { Poller.shared.arm(descriptor, forWriting: true) }
            return (nil, [])
        }
        if let refusal { exchange.continuation?.resume(throwing: RedisFailure.unreachable(refusal)) }
        Self.finish(ended)
    }

    func advance() {
        let ended = state.withLock { state -> Ended in
            guard state.loss == nil else { return [] }
            do throws(RedisFailure) { try state.connection.flush() } catch { return Self.lose(&state, error.reason) }
            let ended = Self.receive(&state)
            if state.loss == nil { Poller.shared.arm(descriptor, forWriting: state.connection.needsToWrite) }
            return ended
        }
        Self.finish(ended)
    }

    func expire(at now: ContinuousClock.Instant) {
        let ended = state.withLock { state -> Ended in
            if let first = state.waiting.first, first.end < now { return Self.lose(&state, "Redis: no answer in time") }
            return Self.giveUp(&state, at: now)
        }
        Self.finish(ended)
    }

    /// Gives the connection up, because its server cannot do what is asked of it.
    func drop(_ reason: String) { Self.finish(state.withLock { Self.lose(&$0, reason) }) }

    /// Reads replies and returns the exchanges that have all of theirs, or all exchanges if the connection is lost.
    private static func receive(_ state: inout State) -> Ended {
        var replies: [RedisReply] = []
        var failure: RedisFailure?
        do throws(RedisFailure) { try state.connection.receive { replies.append($0) } } catch { failure = error }
        var ended: Ended = []
        for reply in replies {
            guard var exchange = state.waiting.popFirst() else {
                failure = .lost("Redis: a reply that nobody has asked for")
                break
            }
            if exchange.isPassword, case .error(let message) = reply {
                failure = .lost("Redis at \(state.connection.place): \(message)")
                break
            }
            exchange.replies.append(reply)
            if exchange.replies.count == exchange.count {
                ended.append((exchange.continuation, .success(exchange.replies)))
            } else {
                state.waiting.prepend(exchange)
            }
        }
        return failure.map { ended + lose(&state, $0.reason) } ?? ended
    }

    /// Ends the exchanges whose callers wait no longer. Their replies will still come.
    private static func giveUp(_ state: inout State, at now: ContinuousClock.Instant) -> Ended {
        var ended: Ended = []
        for index in state.waiting.indices {
            guard state.waiting[index].deadline < now, let continuation = state.waiting[index].continuation else {
                continue
            }
            state.waiting[index].continuation = nil
            ended.append((continuation, .failure(RedisFailure.late("Redis: no answer in time"))))
        }
        return ended
    }

    private static func lose(_ state: inout State, _ reason: String) -> Ended {
        state.loss = state.loss ?? reason
        defer { state.waiting = [] }
        return state.waiting.map { ($0.continuation, .failure(RedisFailure.lost(reason))) }
    }

    private static func finish(_ ended: Ended) {
        for (continuation, result) in ended { continuation?.resume(with: result) }
    }
}

import Dispatch
import NIOCore
import NIOPosix
import Synchronization

/// A connection to a server that may be used.
struct RedisSession: Sendable {
    let link: RedisLink
    /// What the names of all services begin with while this server is the primary.
    let run: [UInt8]
    /// What all names of this service begin with, as long as ``ServiceNames`` do not change.
    private(set) var prefix: [UInt8] = []
    /// The names under which the server knows our scripts.
    let scripts: [RedisScript: [UInt8]]
    /// The losses of the server before this session.
    let losses: Int

    /// The session with the names of now.
    fileprivate func named(_ names: ServiceNames) -> RedisSession {
        var session = self
        session.prefix = names.service.map { run + Array("\($0):".utf8) } ?? run
        return session
    }
}

/// Keeps one connection on an event loop, which is opened when somebody needs it, and again when it was lost.
///
/// All names begin with the server's `run_id`, which it draws when it starts, and its replication ID, which it draws
/// whenever it becomes a primary. So what was used up before a server ended, or at the server that another one has
/// replaced, cannot be used again, whatever the new one has read from its disk or from the old one, and also not when
/// the old one takes over again (``RedisTenure``).
final class RedisClient: Sendable {
    private typealias Waiter = CheckedContinuation<RedisSession, any Error>

    private struct State {
        var session: RedisSession?
        var isOpening = false
        var waiting: [(number: UInt64, waiter: Waiter)] = []
        var lastNumber: UInt64 = 0
        /// Tries to open a connection that have failed since one succeeded.
        var failures = 0
        /// Until this moment no connection is opened, because the last tries failed.
        var pauseEnd = ContinuousClock.now
        var lastFailure = ""
    }

    private let url: RedisURL
    private let names: ServiceNames
    private let loop: any EventLoop
    private let losses: RedisLosses
    private let trips: TripCount
    private let state = Mutex(State())

    /// The largest number of callers that wait for a connection.
    private static let mostWaiting = 2000
    /// Its threads wait for servers, so they are none of those on which tasks run.
    private static let opening = DispatchQueue(label: "redis open", qos: .utility, attributes: .concurrent)

    init(
        _ url: RedisURL, names: ServiceNames, on loop: any EventLoop = MultiThreadedEventLoopGroup.singleton.any(),
        _ losses: RedisLosses = RedisLosses(), _ trips: TripCount = TripCount()
    ) {
        (self.url, self.names, self.loop, self.losses, self.trips) = (url, names, loop, losses, trips)
    }

    /// The open connection; nil if there is none.
    var session: RedisSession? { state.withLock { usable(&$0) }?.named(names) }

    /// The connection. If there is none, opens one or waits for it. Throws ``StoreError/unavailable(_:)``.
    func session(by deadline: ContinuousClock.Instant) async throws -> RedisSession {
        let session: RedisSession = try await withCheckedThrowingContinuation { waiter in
            switch nextStep(waiter) {
            case .use(let session): waiter.resume(returning: session)
            case .fail(let reason): waiter.resume(throwing: StoreError.unavailable(reason))
            case .wait(let number, let opens):
                if opens { Task { [self] in await open() } }
                let seconds = TimeAmount.milliseconds(max(0, Int64((deadline - .now) / .milliseconds(1))))
                loop.scheduleTask(in: seconds) { [self] in
                    remove(number)?.resume(throwing: StoreError.unavailable("Redis at \(url.place): no connection yet"))
                }
            }
        }
        return session.named(names)
    }

    private enum Step {
        case use(RedisSession)
        case wait(UInt64, opens: Bool)
        case fail(String)
    }

    private func nextStep(_ waiter: Waiter) -> Step {
        state.withLock { state in
            if let session = usable(&state) { return .use(session) }
            guard state.isOpening || state.pauseEnd <= .now else { return .fail(state.lastFailure) }
            guard state.waiting.count < Self.mostWaiting else { return .fail("Redis: too many wait for a connection") }
            state.lastNumber &+= 1
            state.waiting.append((state.lastNumber, waiter))
            defer { state.isOpening = true }
            return .wait(state.lastNumber, opens: !state.isOpening)
        }
    }

    private func usable(_ state: inout State) -> RedisSession? {
        if let session = state.session, session.link.isLost || session.losses != losses.count { state.session = nil }
        return state.session
    }

    private func remove(_ number: UInt64) -> Waiter? {
        state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).waiter }
        }
    }

    /// Opens a connection and hands it to all that wait. After a failure the next try is allowed after 50 ms, and after
    /// each further one twice as late, up to a second. A random part of the pause keeps many nodes from trying together.
    private func open() async {
        let result: Result<RedisSession, any Error>
        do { result = .success(try await opened()) } catch { result = .failure(Self.unavailable(error)) }
        let waiting = state.withLock { state in
            state.isOpening = false
            switch result {
            case .success(let session): (state.session, state.failures) = (session, 0)
            case .failure(let error):
                let pause = min(1000, 50 << min(state.failures, 5))
                state.failures += 1
                state.pauseEnd = .now + .milliseconds(Int.random(in: pause / 2...pause))
                state.lastFailure = "\(error)"
            }
            defer { state.waiting = [] }
            return state.waiting
        }
        for (_, waiter) in waiting { waiter.resume(with: result) }
    }

    private static func unavailable(_ error: any Error) -> StoreError {
        .unavailable((error as? RedisFailure)?.reason ?? "\(error)")
    }

    private func opened() async throws -> RedisSession {
        try await withCheckedThrowingContinuation { continuation in
            Self.opening.async { [url, loop, losses, trips] in
                continuation.resume(
                    with: Result {
                        let losses = losses.count
                        let connection = try RedisConnection(url)
                        let answer = try RedisGreeting(url).greet(connection)
                        let link = try RedisLink(connection, answer.tenure, on: loop, trips)
                        return RedisSession(
                            link: link, run: answer.prefix, scripts: answer.scripts, losses: losses)
                    })
            }
        }
    }
}

extension RedisClient {
    /// Sends a command and returns its reply. It is sent again after a lost connection or a change of primaries, unless it
    /// changes what the caller must know. Throws ``StoreError``.
    func single(
        by deadline: ContinuousClock.Instant, isChange: Bool, tries: Int,
        _ words: (RedisSession) -> [RedisCommands.Word]
    ) async throws -> RedisReply {
        var failure = "Redis: the request has no time left"
        var withoutReplicas: [UInt8]?
        for _ in 0..<tries {
            guard deadline - .now > StorePatience.least else { break }
            let session = try await session(by: deadline)
            do {
                let reply = try await session.link.exchange(RedisCommands(session, words(session)), by: deadline)
                guard case .error(let message) = reply else { return reply }
                failure = "Redis: " + message
                guard Self.endsSession(message), withoutReplicas != session.run else {
                    throw StoreError.unavailable(failure)
                }
                if message.hasPrefix("NOREPLICAS") { withoutReplicas = session.run }
                losses.add(after: session.losses)
            } catch RedisFailure.lost(let reason) {
                losses.add(after: session.losses)
                guard !isChange else { throw StoreError.unknownOutcome(reason) }
                failure = reason
            } catch RedisFailure.late(let reason) {
                guard !isChange else { throw StoreError.unknownOutcome(reason) }
                failure = reason
            } catch RedisFailure.unreachable(let reason) { failure = reason }
        }
        throw StoreError.unavailable(failure)
    }

    /// Whether the server has become a replica, has lost its replicas (`min-replicas-to-write`), perhaps because these follow
    /// another primary now, or has forgotten our scripts or our password. It has changed nothing.
    private static func endsSession(_ message: String) -> Bool {
        ["READONLY", "NOREPLICAS", "NOSCRIPT", "NOAUTH"].contains { message.hasPrefix($0) }
    }
}

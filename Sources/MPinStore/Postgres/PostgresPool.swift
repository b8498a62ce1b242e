import Dispatch
import NIOCore
import NIOPosix
import Synchronization

/// The connections of one store: opened when they are needed, used by one caller at a time. A caller that waits too
/// long for one, or finds too many others waiting, gets an error instead.
final class PostgresPool: Sendable {
    private typealias Waiter = CheckedContinuation<PostgresLink?, any Error>

    private struct State {
        var idle: [PostgresLink] = []
        /// The connections that are open, in use or being opened.
        var count = 0
        var waiting: [(number: UInt64, waiter: Waiter)] = []
        var lastNumber: UInt64 = 0
        /// Tries to open a connection that have failed since one succeeded.
        var failures = 0
        /// Until this moment no connection is opened, because the last tries failed.
        var pauseEnd = ContinuousClock.now
        var lastFailure = ""
        /// How many waits have ended, and how long they took together.
        var waits = 0
        var waited = Duration.zero

        mutating func removeAllWaiting() -> [Waiter] {
            defer { waiting = [] }
            return waiting.map(\.waiter)
        }
    }

    let trips = TripCount()
    private let url: PostgresURL
    private let state = Mutex(State())
    private let opening = DispatchQueue(label: "postgres open", attributes: .concurrent)

    /// How long a new connection may take for its first answer.
    private static let patience = Duration.seconds(5)
    /// The largest number of callers that wait for a connection.
    private static let mostWaiting = 2000

    init(_ url: PostgresURL) { self.url = url }

    var use: PoolUse {
        state.withLock { state in
            PoolUse(
                most: url.poolSize, busy: state.count - state.idle.count, waiting: state.waiting.count,
                waits: state.waits, waited: state.waited)
        }
    }

    /// Calls `body` with a connection that nobody else uses meanwhile. After an error that leaves a transaction open,
    /// rolls it back. If the connection was lost, or is one to a standby, closes it and those that are not in use: probably
    /// they are the same.
    func withLink<Result: Sendable>(
        by deadline: ContinuousClock.Instant, _ body: (PostgresLink) async throws -> Result
    ) async throws -> Result {
        let link = try await take(by: deadline)
        do {
            let result = try await body(link)
            give(link)
            return result
        } catch {
            let isOfStandby = (error as? PostgresFailure)?.isOfStandby == true
            if link.isLost || isOfStandby {
                closeIdle()
            } else {
                _ = try? await link.exchange([PostgresCommand("ROLLBACK")], by: deadline)
            }
            give(link, isOfStandby: isOfStandby)
            throw error
        }
    }

    /// Closes the connections that are not in use.
    func closeIdle() {
        let closed = state.withLock { state in
            defer { state.idle = [] }
            state.count -= state.idle.count
            return state.idle
        }
        withExtendedLifetime(closed) {}
    }

    private enum Step {
        case use(PostgresLink)
        case wait(UInt64, opens: Bool)
        case fail(String)
    }

    private func take(by deadline: ContinuousClock.Instant) async throws -> PostgresLink {
        while true {
            var alarm: Scheduled<Void>?
            let start = ContinuousClock.now
            defer {
                if let alarm {
                    alarm.cancel()
                    noteWait(since: start)
                }
            }
            let link = try await withCheckedThrowingContinuation { (waiter: Waiter) in
                switch nextStep(waiter) {
                case .use(let link): waiter.resume(returning: link)
                case .fail(let reason): waiter.resume(throwing: StoreError.unavailable(reason))
                case .wait(let number, let opens):
                    if opens { open() }
                    alarm = giveUp(number, at: deadline)
                }
            }
            if let link { return link }
        }
    }

    private func noteWait(since start: ContinuousClock.Instant) {
        let waited = ContinuousClock.now - start
        state.withLock { state in
            state.waits += 1
            state.waited += waited
        }
    }

    private func nextStep(_ waiter: Waiter) -> Step {
        state.withLock { state in
            while let link = state.idle.popLast() {
                if link.isUsable { return .use(link) }
                state.count -= 1
            }
            let opens = state.count < url.poolSize && state.pauseEnd <= .now
            // While no connection may be opened, one of those that are there will come free.
            guard opens || state.count > 0 else { return .fail(state.lastFailure) }
            guard state.waiting.count < Self.mostWaiting else {
                return .fail("PostgreSQL: too many wait for a connection")
            }
            if opens { state.count += 1 }
            state.lastNumber &+= 1
            state.waiting.append((state.lastNumber, waiter))
            return .wait(state.lastNumber, opens: opens)
        }
    }

    /// Opens a connection for the caller that has waited longest. Callers that wait too long for it give up before.
    private func open() {
        opening.async { [self] in
            do {
                let link = try PostgresLink(url, trips)
                Task { await begin(link) }
            } catch { failed(error) }
        }
    }

    private func begin(_ link: PostgresLink) async {
        do {
            try await link.limitLife(by: .now + Self.patience)
            state.withLock { $0.failures = 0 }
            give(link)
        } catch { failed(error) }
    }

    private func giveUp(_ number: UInt64, at deadline: ContinuousClock.Instant) -> Scheduled<Void> {
        let seconds = TimeAmount.milliseconds(max(0, Int64((deadline - .now) / .milliseconds(1))))
        return MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: seconds) { [self] in
            guard let waiter = remove(number) else { return }
            let reason = state.withLock { $0.failures > 0 ? ", and no new one: " + $0.lastFailure : "" }
            waiter.resume(throwing: StoreError.unavailable("PostgreSQL: no free connection in time" + reason))
        }
    }

    /// Notes that no connection could be opened. The next try is allowed after 50 ms, and after each further failure twice as
    /// late, up to a second. A random part of the pause keeps many nodes from trying together. If there is no other connection,
    /// those who wait look again at once, and otherwise get new ones after the pause.
    private func failed(_ error: any Error) {
        let pause = state.withLock { state -> Int? in
            let longest = min(1000, 50 << min(state.failures, 5))
            let pause = Int.random(in: longest / 2...longest)
            state.failures += 1
            state.pauseEnd = .now + .milliseconds(pause)
            state.lastFailure = (error as? PostgresFailure)?.reason ?? "\(error)"
            state.count -= 1
            return state.count == 0 ? nil : pause
        }
        // It is not about the server: there is no libpq, or no way to wait for an answer.
        if let error = error as? StoreError { return wakeAll(.failure(error)) }
        guard let pause else { return wakeAll(.success(nil)) }
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .milliseconds(Int64(pause))) { [self] in
            openForWaiting()
        }
    }

    /// Opens connections for those who wait, unless there has been a failure since, after which this is called again.
    private func openForWaiting() {
        let missing = state.withLock { state in
            guard state.pauseEnd <= .now else { return 0 }
            let missing = min(state.waiting.count, url.poolSize - state.count)
            state.count += missing
            return missing
        }
        for _ in 0..<missing { open() }
    }

    private func wakeAll(_ result: Result<PostgresLink?, any Error>) {
        let waiting = state.withLock { $0.removeAllWaiting() }
        for waiter in waiting { waiter.resume(with: result) }
    }

    private func remove(_ number: UInt64) -> Waiter? {
        state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).waiter }
        }
    }

    /// Takes a connection and hands it to the caller that has waited longest. If it is of no use, that caller looks for another
    /// one; if it was the last one, all do.
    private func give(_ link: PostgresLink, isOfStandby: Bool = false) {
        let isLost = link.isLost || isOfStandby
        let next = state.withLock { state -> [Waiter] in
            if isLost { state.count -= 1 }
            if state.count == 0 { return state.removeAllWaiting() }
            guard state.waiting.isEmpty else { return [state.waiting.removeFirst().waiter] }
            if !isLost { state.idle.append(link) }
            return []
        }
        for waiter in next { waiter.resume(returning: isLost ? nil : link) }
    }
}

/// How callers use the connections of a store.
package struct PoolUse: Sendable {
    /// The most connections that there may be.
    package let most: Int
    /// Connections that a caller has now, and those that are being opened.
    package let busy: Int
    /// Callers that wait for a connection now, or until those who have one are done and make their changes, too.
    package var waiting: Int
    /// Waits that have ended since the store was opened, also without a connection, and how long they took together. The
    /// first caller of a connection waits until it is open.
    package let waits: Int
    package let waited: Duration
}

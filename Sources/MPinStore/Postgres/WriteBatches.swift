import Synchronization

/// Lets blind changes that are made at the same time share one exchange with the server, and one transaction: under load
/// this is one commit, one flush and one wake-up for many logins. The first change goes at once; those that come while an
/// exchange is on its way share the next one.
///
/// Only one exchange is on its way at a time, so it must not wait for long. If it does not get the lock of a row at once, it
/// gives up, and its changes are made apart from each other.
package final class WriteBatches<Command: Sendable, Answer: Sendable>: Sendable {
    /// A command, and the place of the rows that it locks. All servers lock rows in the order of these places; otherwise two
    /// of them could each wait for a row that the other has locked.
    package typealias Step = (place: ItemKey, command: Command)

    /// Carries commands out as one transaction until a deadline, and returns an answer to each. Returns nil if it was not
    /// carried out and each change must be tried apart. Throws if nobody knows whether it was, and if no other try is worth
    /// it: then nobody has a connection.
    package typealias Exchange = (_ commands: [Command], _ deadline: ContinuousClock.Instant) async throws -> [Answer]?

    /// A change that waits for the next exchange.
    private struct Member {
        let steps: [Step]
        let deadline: ContinuousClock.Instant
        let waiting: UnsafeContinuation<Turn, Never>

        /// Whether its caller has so little time left that it would shorten the time of the others.
        func isHurried(at now: ContinuousClock.Instant) -> Bool { deadline - now <= .seconds(1) }
    }

    /// What a change comes to.
    private enum Turn {
        /// The change is made apart from others.
        case apart
        /// The task of the change makes the exchange, for these others, too, and ends it at the deadline.
        case leads([Member], by: ContinuousClock.Instant)
        case made(Result<[Answer], any Error>)

        /// The answers to a change that was made.
        var answers: [Answer]? {
            get throws { if case .made(let answers) = self { try answers.get() } else { nil } }
        }
    }

    private struct State {
        var waiting: [Member] = []
        /// When the exchange that is on its way ends at the latest; nil if there is none.
        var end: ContinuousClock.Instant?

        /// Returns the turn of a change if it does not wait. At most 2,000 wait, and none for an exchange that may end after
        /// its deadline.
        mutating func enter(_ member: Member, at now: ContinuousClock.Instant) -> Turn? {
            guard !member.isHurried(at: now) else { return .apart }
            guard let end else {
                self.end = member.deadline
                return .leads([], by: member.deadline)
            }
            guard end <= member.deadline, waiting.count < 2000 else { return .apart }
            waiting.append(member)
            return nil
        }

        /// Returns the turns of those that wait no longer: of who leads the next exchange, which at most 64 changes share,
        /// and of those that have waited too long for it.
        mutating func next(at now: ContinuousClock.Instant) -> [(member: Member, turn: Turn)] {
            var turns = waiting.filter { $0.isHurried(at: now) }.map { (member: $0, turn: Turn.apart) }
            waiting.removeAll { $0.isHurried(at: now) }
            end = waiting.lazy.map(\.deadline).min()
            guard let end, let leader = waiting.first else { return turns }
            let others = waiting.dropFirst().prefix(63)
            waiting.removeFirst(others.count + 1)
            turns.append((leader, .leads(Array(others), by: end)))
            return turns
        }
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> ContinuousClock.Instant

    package init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// Whether an exchange is on its way.
    package var isBusy: Bool { state.withLock { $0.end != nil } }
    /// How many changes wait for the next one.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    /// Makes a change, perhaps together with others, and returns the answers to its commands. Nil if it must be made apart
    /// from others; then nothing has changed. Throws what the exchange throws.
    package func make(
        _ steps: [Step], by deadline: ContinuousClock.Instant, _ exchange: Exchange
    ) async throws -> [Answer]? {
        let turn = await withUnsafeContinuation { waiting in
            let member = Member(steps: steps, deadline: deadline, waiting: waiting)
            if let turn = state.withLock({ $0.enter(member, at: now()) }) { waiting.resume(returning: turn) }
        }
        guard case .leads(let others, let end) = turn else { return try turn.answers }
        let changes = [steps] + others.map(\.steps)
        let outcome: Result<[[Answer]]?, any Error>
        do { outcome = .success(try await Self.answers(to: changes, by: end, exchange)) } catch {
            outcome = .failure(error)
        }
        for (member, turn) in state.withLock({ $0.next(at: now()) }) { member.waiting.resume(returning: turn) }
        for (index, member) in others.enumerated() {
            member.waiting.resume(returning: Self.turn(of: index + 1, outcome))
        }
        return try Self.turn(of: 0, outcome).answers
    }

    /// Carries out the steps of all changes in the order of their places. Returns the answers to each change.
    private static func answers(
        to changes: [[Step]], by end: ContinuousClock.Instant, _ exchange: Exchange
    ) async throws -> [[Answer]]? {
        let steps = changes.flatMap(\.self)
        let order = steps.indices.sorted { (steps[$0].place, $0) < (steps[$1].place, $1) }
        guard let answers = try await exchange(order.map { steps[$0].command }, end) else { return nil }
        var rest = zip(order, answers).sorted { $0.0 < $1.0 }.map(\.1)[...]
        return changes.map { steps in
            defer { rest = rest.dropFirst(steps.count) }
            return Array(rest.prefix(steps.count))
        }
    }

    private static func turn(of index: Int, _ outcome: Result<[[Answer]]?, any Error>) -> Turn {
        switch outcome {
        case .failure(let error): .made(.failure(error))
        case .success(nil): .apart
        case .success(let answers?): .made(.success(answers[index]))
        }
    }
}

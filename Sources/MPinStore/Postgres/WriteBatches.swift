import Synchronization

/// Lets blind changes that are made at the same time share one exchange with the server, and one transaction: under load
/// this is one commit, one flush and one wake-up for many logins. The first change goes at once; those that come while an
/// exchange is on its way share the next one.
///
/// Only one exchange is on its way at a time, so it must not wait for long. It gives up at the first locked row; its
/// changes are then made apart from each other.
package final class WriteBatches<Command: Sendable, Answer: Sendable>: Sendable {
    /// Carries commands out as one transaction until a deadline, and returns an answer to each. Returns nil if it was not
    /// carried out, and throws if nobody knows whether it was.
    package typealias Exchange = (_ commands: [Command], _ deadline: ContinuousClock.Instant) async throws -> [Answer]?

    /// A change that waits for the next exchange.
    private struct Member {
        let key: ItemKey
        let commands: [Command]
        let deadline: ContinuousClock.Instant
        let waiting: UnsafeContinuation<Turn, Never>
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
        mutating func enter(_ member: Member) -> Turn? {
            // It would shorten the time of the others.
            guard member.deadline - .now > .seconds(1) else { return .apart }
            guard let end else {
                self.end = member.deadline
                return .leads([], by: member.deadline)
            }
            guard end <= member.deadline, waiting.count < 2000 else { return .apart }
            waiting.append(member)
            return nil
        }

        /// Returns who leads the next exchange, which at most 64 changes share, and its turn.
        mutating func next() -> (leader: Member, turn: Turn)? {
            end = waiting.lazy.map(\.deadline).min()
            guard let end, let leader = waiting.first else { return nil }
            let others = waiting.dropFirst().prefix(63)
            waiting.removeFirst(others.count + 1)
            return (leader, .leads(Array(others), by: end))
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Whether an exchange is on its way.
    package var isBusy: Bool { state.withLock { $0.end != nil } }
    /// How many changes wait for the next one.
    package var waiting: Int { state.withLock { $0.waiting.count } }

    /// Makes a change whose first write is to `key`, perhaps together with others, and returns the answers to its commands.
    /// Nil if it must be made apart from others; then nothing has changed. Throws what the exchange throws.
    package func make(
        _ commands: [Command], _ key: ItemKey, by deadline: ContinuousClock.Instant, _ exchange: Exchange
    ) async throws -> [Answer]? {
        let turn = await withUnsafeContinuation { waiting in
            let member = Member(key: key, commands: commands, deadline: deadline, waiting: waiting)
            if let turn = state.withLock({ $0.enter(member) }) { waiting.resume(returning: turn) }
        }
        guard case .leads(let others, let end) = turn else { return try turn.answers }
        return try await lead(commands, key, others, by: end, exchange).answers
    }

    /// Makes the exchange for the leader and the others, and lets the next one begin.
    private func lead(
        _ commands: [Command], _ key: ItemKey, _ others: [Member], by end: ContinuousClock.Instant,
        _ exchange: Exchange
    ) async -> Turn {
        // Two servers that lock the same rows do so in the same order.
        let members = others.sorted { $0.key < $1.key }
        let place = members.firstIndex { key < $0.key } ?? members.count
        var all = members.map(\.commands)
        all.insert(commands, at: place)
        let outcome: Result<[Answer]?, any Error>
        do { outcome = .success(try await exchange(all.flatMap(\.self), end)) } catch { outcome = .failure(error) }
        if let next = state.withLock({ $0.next() }) { next.leader.waiting.resume(returning: next.turn) }
        var turns = Self.turns(outcome, counts: all.map(\.count))
        let own = turns.remove(at: place)
        for (member, turn) in zip(members, turns) { member.waiting.resume(returning: turn) }
        return own
    }

    /// What an exchange came to for each of its changes, given the numbers of their commands.
    private static func turns(_ outcome: Result<[Answer]?, any Error>, counts: [Int]) -> [Turn] {
        switch outcome {
        case .failure(let error): return counts.map { _ in .made(.failure(error)) }
        case .success(nil): return counts.map { _ in .apart }
        case .success(let answers?):
            var rest = answers[...]
            return counts.map { count in
                defer { rest = rest.dropFirst(count) }
                return .made(.success(Array(rest.prefix(count))))
            }
        }
    }
}

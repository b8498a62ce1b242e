package import MPinCrypto
import MPinSecrets
import Synchronization

/// Checks the proofs of logins. Proofs that wait at the same time are checked together, which costs less for each of
/// them (`ServerContext.areAllRight`). No proof waits for others to come.
///
/// If a proof among them is wrong, each is checked alone. All logins that cannot succeed are alike in this: wrong PINs,
/// and the proofs of blocked and unknown identities, in whose place something is checked that is never right. So the
/// time of an answer does not tell one from the other. While many proofs are wrong, for example because somebody floods
/// the server with them, fewer are checked together, and in the end none, so that right ones do not become slower.
package final class JointChecks: Sendable {
    /// Lets the tasks that can run now run first.
    private let pause: @Sendable () async -> Void
    private let state = Mutex(State())

    package init(pause: @escaping @Sendable () async -> Void) { self.pause = pause }

    /// What a check came to for one proof.
    private enum Outcome {
        /// The proof is to be checked alone.
        case alone
        /// The proof opens the group with this number, and its task checks the group.
        case leads(Int)
        case right
    }

    /// A proof that has joined a group.
    private struct Member {
        let proof: LoginProof
        let waiting: UnsafeContinuation<Outcome, Never>
    }

    private struct State {
        /// The groups that are not checked yet, by their numbers: the proofs that have joined each.
        var groups: [Int: [Member]] = [:]
        /// The group that proofs can join; nil if there is none.
        var open: (number: Int, context: ServerContext)?
        /// The number of the last group that was opened.
        var last = 0
        var wrong = WrongShare()

        /// Lets the proof join the open group, or open another if that one is full or has another context. Returns its
        /// outcome if it does not wait.
        mutating func enter(_ member: Member, _ context: ServerContext) -> Outcome? {
            guard wrong.groupSize > 1 else { return .alone }
            if let open, open.context === context, (groups[open.number]?.count ?? 0) + 1 < wrong.groupSize {
                groups[open.number]?.append(member)
                return nil
            }
            last &+= 1
            groups[last] = []
            open = (last, context)
            return .leads(last)
        }

        /// Removes a group, which is to be checked now, and returns the proofs that have joined it.
        mutating func close(_ number: Int) -> [Member] {
            if open?.number == number { open = nil }
            return groups.removeValue(forKey: number) ?? []
        }
    }

    /// How many proofs are in groups that are not checked yet.
    package var waiting: Int { state.withLock { $0.groups.values.reduce(0) { $0 + $1.count + 1 } } }

    /// Whether the proof is right.
    package func isRight(_ proof: LoginProof, _ context: ServerContext) async throws -> Bool {
        let outcome = await withUnsafeContinuation { waiting in
            let member = Member(proof: proof, waiting: waiting)
            if let outcome = state.withLock({ $0.enter(member, context) }) { waiting.resume(returning: outcome) }
        }
        switch outcome {
        case .right: return true
        case .leads(let number) where try await areAllRight(proof, number, context): return true
        case .leads, .alone: return try isRightAlone(proof, context)
        }
    }

    /// Checks the group that the proof has opened, and tells its members. False also if nobody has joined it.
    private func areAllRight(_ proof: LoginProof, _ number: Int, _ context: ServerContext) async throws -> Bool {
        await pause()
        let members = state.withLock { $0.close(number) }
        guard !members.isEmpty else { return false }
        let proofs = [proof] + members.map(\.proof)
        // An error is reported to the login whose values cause it, when its proof is checked alone.
        let areRight = (try? context.areAllRight(proofs, random: systemRandom)) == true
        if areRight { state.withLock { $0.wrong.note(right: proofs.count) } }
        for member in members { member.waiting.resume(returning: areRight ? .right : .alone) }
        return areRight
    }

    /// Whether the proof is right, which nothing else is checked with.
    package func isRightAlone(_ proof: LoginProof, _ context: ServerContext) throws -> Bool {
        var isRight = false
        defer { state.withLock { isRight ? $0.wrong.note(right: 1) : $0.wrong.noteWrong() } }
        let key = proof.publicKey
        isRight = try context.verify(
            id: proof.id.span, date: proof.date, u: proof.u.span, y: proof.y.span, v: proof.v.span,
            publicKey: key.isEmpty ? nil : key.span, checksKey: false)
        return isRight
    }
}

/// The share of wrong ones among the last proofs, as a moving average over about 32 of them.
package struct WrongShare {
    private var share = 0.0

    package init() {}

    /// How many proofs are checked together at most. A group costs 0.27 checks for each proof at a size of 8, 0.39 at 4
    /// and 0.63 at 2, and with a wrong one among them another check for each. The sizes are those with the lowest sum.
    /// With key pairs a group costs more, and these sizes are still better than none.
    package var groupSize: Int {
        switch share {
        case ..<0.03: ServerContext.jointProofs
        case ..<0.10: 4
        case ..<0.15: 2
        default: 1
        }
    }

    package mutating func note(right: Int) { for _ in 0..<right { share -= share / 32 } }
    package mutating func noteWrong() { share += (1 - share) / 32 }
}

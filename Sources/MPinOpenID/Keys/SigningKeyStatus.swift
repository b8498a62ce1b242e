package import MPinStore

/// What an operator can see of the signing keys, without the key that seals them.
extension SigningKeys {
    package enum State: String, Sendable {
        /// It is published, and will sign.
        case next
        case signing
        /// It signs no more, but clients may still want to verify its tokens.
        case old
    }

    package struct Status: Sendable {
        package let kid: String
        package let algorithm: SigningAlgorithm
        /// When the key begins to sign, or has begun.
        package let begins: Moment
        /// When the key is deleted. Nil if no other key has taken its place.
        package let ends: Moment?
        package let state: State
    }

    /// Returns all published keys, those of each algorithm in the order in which they sign.
    package static func all(
        in store: any Store, schedule: Schedule = Schedule(), at now: Moment
    ) async throws -> [Status] {
        let records = try await table(in: store).read(place, at: now) ?? Records()
        return SigningAlgorithm.allCases.flatMap { algorithm in
            let keys = records.keys.filter { $0.algorithm == algorithm }.sorted { $0.begins < $1.begins }
            return zip(keys, keys.dropFirst().map { Optional($0) } + [nil]).map { key, next in
                let isOver = next.map { $0.begins <= now } ?? false
                return Status(
                    kid: key.kid, algorithm: algorithm, begins: key.begins,
                    ends: isOver ? next?.begins.adding(seconds: schedule.afterlife) : nil,
                    state: key.begins > now ? .next : isOver ? .old : .signing)
            }
        }
    }
}

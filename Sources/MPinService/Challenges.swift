import MPinSecrets
package import MPinStore

/// What a pass 1 leaves for its pass 2.
package struct Challenge: Codable, Sendable, Equatable {
    /// Key of the M-Pin ID.
    package var id: String
    /// Hex of the client's commitment: UT with time permits, else U; G1 point.
    package var u: String
    /// Hex of the server's challenge, 32 bytes.
    package var y: String
    package var expires: Moment
    /// Whether the login is for a code that registers another device.
    package var registersDevice: Bool
    /// Hashes of the proofs that have been brought for it: none is looked at twice.
    package var tried: [String] = []

    package init(id: String, u: String, y: String, expires: Moment, registersDevice: Bool = false) {
        self.id = id
        self.u = u
        self.y = y
        self.expires = expires
        self.registersDevice = registersDevice
    }
}

/// The challenges that wait for their proofs. An identity can have a few, so that a stranger's pass 1 does not break a
/// running login; unknown IDs share a fixed number of places.
package struct Challenges: Sendable {
    private let known: Table<[Challenge]>
    private let unknown: Table<[Challenge]>
    private let slots: Slots
    /// Challenges of one identity that live at the same time; the oldest goes first.
    private let limit: Int

    package init(in store: any Store, slots: Slots, limit: Int) {
        known = Table("pass1", in: store)
        unknown = Table("unknown_pass1", in: store)
        self.slots = slots
        self.limit = limit
    }

    package func add(_ challenge: Challenge, for id: MPinID, isKnown: Bool, at now: Moment) async throws {
        try await table(isKnown).update(key(id, isKnown), at: now) { [limit] entry in
            let live = (entry?.value ?? []).filter { $0.expires > now }
            entry = .init((live + [challenge]).suffix(limit), expires: challenge.expires)
        }
    }

    /// The live challenges of the ID that this proof, given in hex, was not brought for before, newest first; and
    /// whether the ID is known.
    package func claim(_ id: MPinID, proof: String, at now: Moment) async throws -> (isKnown: Bool, [Challenge]) {
        let proof = Hex.encode(SHA256.hash(Array(proof.utf8)))
        let ofKnown = try await claim(id, isKnown: true, proof, at: now)
        let ofUnknown = try await claim(id, isKnown: false, proof, at: now)
        return ofKnown.isEmpty ? (false, ofUnknown) : (true, ofKnown)
    }

    private func claim(_ id: MPinID, isKnown: Bool, _ proof: String, at now: Moment) async throws -> [Challenge] {
        try await table(isKnown).update(key(id, isKnown), at: now) { entry in
            guard var challenges = entry?.value else { return [] }
            var claimed: [Challenge] = []
            for index in challenges.indices {
                let challenge = challenges[index]
                guard challenge.id == id.key, challenge.expires > now, !challenge.tried.contains(proof) else {
                    continue
                }
                challenges[index].tried.append(proof)
                claimed.insert(challenge, at: 0)
            }
            entry?.value = challenges
            return claimed
        }
    }

    /// Uses the challenges up.
    package func use(_ used: [Challenge], for id: MPinID, isKnown: Bool, at now: Moment) async throws {
        try await table(isKnown).update(key(id, isKnown), at: now) { entry in
            entry?.value.removeAll { left in used.contains { $0.y == left.y } }
            if entry?.value.isEmpty ?? false { entry = nil }
        }
    }

    private func table(_ isKnown: Bool) -> Table<[Challenge]> { isKnown ? known : unknown }

    private func key(_ id: MPinID, _ isKnown: Bool) -> String { isKnown ? id.key : slots.key(id.hash) }
}

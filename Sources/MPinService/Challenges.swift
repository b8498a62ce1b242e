import MPinSecrets
package import MPinStore

/// What a pass 1 leaves for its pass 2.
package struct Challenge: Sendable, Equatable {
    /// Key of the M-Pin ID.
    package var id: String
    /// The client's commitment: UT with time permits, else U; G1 point, 65 bytes.
    package var u: [UInt8]
    /// The server's challenge, 32 bytes.
    package var y: [UInt8]
    package var expires: Moment
    /// Whether the login is for a code that registers another device.
    package var registersDevice: Bool
    /// Hashes of the proofs that have been brought for it: none is looked at twice.
    package var tried: [[UInt8]] = []

    package init(id: String, u: [UInt8], y: [UInt8], expires: Moment, registersDevice: Bool = false) {
        self.id = id
        self.u = u
        self.y = y
        self.expires = expires
        self.registersDevice = registersDevice
    }
}

/// The challenges of one identity, as they are kept.
struct LiveChallenges: Storable {
    var challenges: [Challenge]

    init(_ challenges: [Challenge]) { self.challenges = challenges }

    init(stored bytes: [UInt8]) throws {
        guard var members = try Unpacker(bytes, version: 1) else { throw StoreError.unusable("no challenges") }
        challenges = []
        for _ in 0..<(try members.count()) {
            var challenge = Challenge(
                id: try members.text(), u: try members.octets(), y: try members.octets(),
                expires: try members.moment(), registersDevice: try members.flag())
            for _ in 0..<(try members.count()) { challenge.tried.append(try members.octets()) }
            challenges.append(challenge)
        }
    }

    func stored() throws -> [UInt8] {
        var members = Packer(version: 1, capacity: 512)
        members.put(challenges.count)
        for challenge in challenges {
            members.put(challenge.id)
            for octets in [challenge.u, challenge.y] { members.put(octets) }
            members.put(challenge.expires)
            members.put(challenge.registersDevice)
            members.put(challenge.tried.count)
            for proof in challenge.tried { members.put(proof) }
        }
        return members.bytes
    }
}

/// The challenges that wait for their proofs. An identity can have a few, so that a stranger's pass 1 does not break a
/// running login. Nobody looks whether an ID is known: those of invented IDs are gone when their seconds are over.
package struct Challenges: Sendable {
    private let table: Table<LiveChallenges>
    /// Challenges of one identity that live at the same time; the oldest goes first.
    private let limit: Int

    package init(in store: any Store, limit: Int) {
        table = Table("pass1", in: store)
        self.limit = limit
    }

    /// Whether a claim waits for no other process.
    var isNear: Bool { table.store.isNear }

    package func add(_ challenge: Challenge, for id: MPinID, at now: Moment) async throws {
        try await table.update(id.key, at: now, .volatile) { [limit] entry in
            let live = (entry?.value.challenges ?? []).filter { $0.expires > now }
            entry = .init(LiveChallenges((live + [challenge]).suffix(limit)), expires: challenge.expires)
        }
    }

    /// The live challenges of the ID that this proof, a G1 point, was not brought for before, newest first.
    package func claim(_ id: MPinID, proof: [UInt8], at now: Moment) async throws -> [Challenge] {
        let change = Claim(key: table.key(id.key), id: id.key, proof: SHA256.hash(proof), now: now)
        return try await table.store.perform(change, at: now, .volatile)
    }
}

/// Notes at the challenges of an identity that a proof was brought for them, and gives them.
private struct Claim: NamedChange {
    static let name = "claim"

    let key: ItemKey
    let id: String
    /// Its hash.
    let proof: [UInt8]
    let now: Moment

    var keys: [ItemKey] { [key] }

    func run(_ items: inout Items) throws -> [Challenge] {
        try Table<LiveChallenges>.change(&items[key]) { entry in
            guard var challenges = entry?.value.challenges else { return [] }
            var claimed: [Challenge] = []
            for index in challenges.indices {
                let challenge = challenges[index]
                guard challenge.id == id, challenge.expires > now, !challenge.tried.contains(proof) else { continue }
                challenges[index].tried.append(proof)
                claimed.insert(challenge, at: 0)
            }
            entry?.value.challenges = challenges
            return claimed
        }
    }
}

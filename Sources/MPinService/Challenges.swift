import MPinSecrets
package import MPinStore

/// The data that pass 1 stores for pass 2.
package struct Challenge: Sendable, Equatable {
    /// The key of the M-Pin ID (``MPinID/key``).
    package var id: String
    /// The client's commitment, a G1 point of 65 bytes: UT if time permits are used, else U.
    package var u: [UInt8]
    /// The server's challenge, 32 bytes.
    package var y: [UInt8]
    package var expires: Moment
    /// Whether the login asks for one-time digits that register another device.
    package var registersDevice: Bool
    /// The public key that the client has named, 128 bytes; empty for a login without a key pair.
    package var publicKey: [UInt8]
    /// What the login is for (TRUST wire section 4.8); nil on the Milagro wire.
    package var scope: String?
    /// Hashes of the proofs that were presented for this challenge. None is judged twice.
    package var tried: [[UInt8]] = []

    package init(
        id: String, u: [UInt8], y: [UInt8], expires: Moment, registersDevice: Bool = false, publicKey: [UInt8] = [],
        scope: String? = nil
    ) {
        self.id = id
        self.u = u
        self.y = y
        self.expires = expires
        self.registersDevice = registersDevice
        self.publicKey = publicKey
        self.scope = scope
    }
}

/// The challenges of one identity, in the form that the store keeps.
struct LiveChallenges: Storable {
    var challenges: [Challenge]

    init(_ challenges: [Challenge]) { self.challenges = challenges }

    init(stored bytes: [UInt8]) throws {
        guard var members = try Unpacker(bytes, version: 2) else { throw StoreError.unusable("no challenges") }
        challenges = []
        for _ in 0..<(try members.count()) {
            var challenge = Challenge(
                id: try members.text(), u: try members.octets(), y: try members.octets(),
                expires: try members.moment(), registersDevice: try members.flag(), publicKey: try members.octets(),
                scope: try members.text())
            if challenge.scope == "" { challenge.scope = nil }
            for _ in 0..<(try members.count()) { challenge.tried.append(try members.octets()) }
            challenges.append(challenge)
        }
    }

    func stored() throws -> [UInt8] {
        var members = Packer(version: 2, capacity: 512)
        members.put(challenges.count)
        for challenge in challenges {
            members.put(challenge.id)
            for octets in [challenge.u, challenge.y] { members.put(octets) }
            members.put(challenge.expires)
            members.put(challenge.registersDevice)
            members.put(challenge.publicKey)
            members.put(challenge.scope ?? "")
            members.put(challenge.tried.count)
            for proof in challenge.tried { members.put(proof) }
        }
        return members.bytes
    }
}

/// The challenges that wait for their proofs. An identity can have several, so that somebody else's pass 1 does not
/// break a running login. They are kept for unregistered IDs, too, until they expire.
package struct Challenges: Sendable {
    private let table: Table<LiveChallenges>
    /// How many challenges of one identity are valid at the same time. A new one replaces the oldest.
    private let limit: Int

    package init(in store: any Store, limit: Int) {
        table = Table("pass1", in: store)
        self.limit = limit
    }

    /// Whether the store answers without a trip to another process.
    var isNear: Bool { table.store.isNear }

    package func add(_ challenge: Challenge, for id: MPinID, at now: Moment) async throws {
        try await table.update(id.key, at: now, .volatile) { [limit] entry in
            let live = (entry?.value.challenges ?? []).filter { $0.expires > now }
            entry = .init(LiveChallenges((live + [challenge]).suffix(limit)), expires: challenge.expires)
        }
    }

    /// Returns the valid challenges of the ID, newest first, and notes that `proof`, a G1 point, was presented for
    /// them. Challenges for which the same proof was presented before are left out, and those of the other kind:
    /// `isScoped` tells whether the login has a scope.
    package func claim(
        _ id: MPinID, proof: [UInt8], isScoped: Bool = false, at now: Moment
    ) async throws -> [Challenge] {
        let change = Claim(
            key: table.key(id.key), id: id.key, proof: SHA256.hash(proof), isScoped: isScoped, now: now)
        return try await table.store.perform(change, at: now, .volatile)
    }
}

/// The change of ``Challenges/claim(_:proof:at:)``: notes a proof in the challenges of an identity for which it is new,
/// and returns these challenges.
private struct Claim: NamedChange {
    static let name = "claim"

    let key: ItemKey
    let id: String
    /// SHA-256 of the proof.
    let proof: [UInt8]
    let isScoped: Bool
    let now: Moment

    var keys: [ItemKey] { [key] }

    func run(_ items: inout Items) throws -> [Challenge] {
        try Table<LiveChallenges>.change(&items[key]) { entry in
            guard var challenges = entry?.value.challenges else { return [] }
            var claimed: [Challenge] = []
            for index in challenges.indices {
                let challenge = challenges[index]
                guard challenge.id == id, challenge.expires > now, !challenge.tried.contains(proof),
                    (challenge.scope != nil) == isScoped
                else { continue }
                challenges[index].tried.append(proof)
                claimed.insert(challenge, at: 0)
            }
            entry?.value.challenges = challenges
            return claimed
        }
    }
}

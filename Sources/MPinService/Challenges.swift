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

extension Challenge: Packable {
    package init(packed members: inout Unpacker) throws {
        self.init(
            id: try members.text(), u: try members.octets(), y: try members.octets(), expires: try members.moment(),
            registersDevice: try members.flag(), publicKey: try members.octets(), scope: try members.text())
        if scope == "" { scope = nil }
        for _ in 0..<(try members.count()) { tried.append(try members.octets()) }
    }

    package func pack(into members: inout Packer) {
        members.put(id)
        for octets in [u, y] { members.put(octets) }
        members.put(expires)
        members.put(registersDevice)
        members.put(publicKey)
        members.put(scope ?? "")
        members.put(tried.count)
        for proof in tried { members.put(proof) }
    }
}

/// The challenges of one identity, in the form that the store keeps: a list, and the steps that were appended to it
/// (``BlindForm``).
struct LiveChallenges: Storable {
    private(set) var challenges: [Challenge]
    /// The result of the last appended step, if that was a claim.
    private(set) var claimed: [Challenge] = []

    init(_ challenges: [Challenge]) { self.challenges = challenges }

    init(stored bytes: [UInt8]) throws {
        guard var members = try Unpacker(bytes, version: 2) else { throw StoreError.unusable("no challenges") }
        challenges = []
        for _ in 0..<(try members.count()) { challenges.append(try members.value()) }
        while !members.isAtEnd { claimed = apply(try members.value(Step.self)) }
    }

    func stored() throws -> [UInt8] {
        var members = Packer(version: 2, capacity: 512)
        members.put(challenges.count)
        for challenge in challenges { challenge.pack(into: &members) }
        return members.bytes
    }

    /// What a pass of a login does with the challenges.
    enum Step: Packable {
        /// Adds a challenge, and drops expired ones and all but the newest `limit`.
        case add(Challenge, limit: Int, now: Moment)
        /// Notes a proof (its SHA-256) in the challenges of this kind for which it is new.
        case claim(id: String, proof: [UInt8], isScoped: Bool, now: Moment)
        /// Deletes the challenges with these values y.
        case delete([[UInt8]])

        init(packed members: inout Unpacker) throws {
            switch try members.count() {
            case 1: self = .add(try members.value(), limit: try members.count(), now: try members.moment())
            case 2:
                self = .claim(
                    id: try members.text(), proof: try members.octets(), isScoped: try members.flag(),
                    now: try members.moment())
            case 3: self = .delete(try (0..<(try members.count())).map { _ in try members.octets() })
            default: throw Unpacker.foreign
            }
        }

        func pack(into members: inout Packer) {
            switch self {
            case .add(let challenge, let limit, let now):
                members.put(1)
                challenge.pack(into: &members)
                members.put(limit)
                members.put(now)
            case .claim(let id, let proof, let isScoped, let now):
                members.put(2)
                members.put(id)
                members.put(proof)
                members.put(isScoped)
                members.put(now)
            case .delete(let used):
                members.put(3)
                members.put(used.count)
                for y in used { members.put(y) }
            }
        }

        /// The step in packed form, to be appended.
        var packed: [UInt8] {
            var members = Packer(appendedWith: 512)
            pack(into: &members)
            return members.bytes
        }
    }

    /// Takes a step. Returns the claimed challenges, newest first; for other steps none.
    mutating func apply(_ step: Step) -> [Challenge] {
        switch step {
        case .add(let challenge, let limit, let now):
            challenges = (challenges.filter { $0.expires > now } + [challenge]).suffix(limit)
        case .claim(let id, let proof, let isScoped, let now):
            var claimed: [Challenge] = []
            for index in challenges.indices {
                let challenge = challenges[index]
                guard challenge.id == id, challenge.expires > now, !challenge.tried.contains(proof),
                    (challenge.scope != nil) == isScoped
                else { continue }
                challenges[index].tried.append(proof)
                claimed.insert(challenge, at: 0)
            }
            return claimed
        case .delete(let used): challenges.removeAll { used.contains($0.y) }
        }
        return []
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
        let change = AddChallenge(key: table.key(id.key), challenge: challenge, limit: limit, now: now)
        let length = try await table.store.perform(change, at: now, .volatile)
        // Reading an item takes all appended steps. Storing it again leaves only their result.
        if length > Self.longest { try await table.update(id.key, at: now, .volatile) { _ in } }
    }

    /// The number of bytes above which an item with appended steps is written anew. A login appends about 400 bytes.
    private static let longest = 4096

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

/// The change of ``Challenges/add(_:for:at:)``. Returns the number of bytes of the item, which includes steps that others
/// have appended.
private struct AddChallenge: NamedChange {
    static let name = "add"

    let key: ItemKey
    let challenge: Challenge
    let limit: Int
    let now: Moment

    var keys: [ItemKey] { [key] }
    private var step: LiveChallenges.Step { .add(challenge, limit: limit, now: now) }

    func run(_ items: inout Items) throws -> Int {
        try Table<LiveChallenges>.change(&items[key]) { entry in
            var live = entry?.value ?? LiveChallenges([])
            _ = live.apply(step)
            entry = .init(live, expires: challenge.expires)
        }
        return 0
    }

    func blindForm() throws -> BlindForm<Int>? {
        let alone = try Table<LiveChallenges>.item(.init(LiveChallenges([challenge]), expires: challenge.expires))
        return BlindForm([.append(key, step.packed, otherwise: alone)], readsItems: false) {
            $0.first??.item.value.count
        }
    }
}

/// The change of ``Challenges/claim(_:proof:isScoped:at:)``.
private struct Claim: NamedChange {
    static let name = "claim"

    let key: ItemKey
    let id: String
    /// SHA-256 of the proof.
    let proof: [UInt8]
    let isScoped: Bool
    let now: Moment

    var keys: [ItemKey] { [key] }
    private var step: LiveChallenges.Step { .claim(id: id, proof: proof, isScoped: isScoped, now: now) }

    func run(_ items: inout Items) throws -> [Challenge] {
        try Table<LiveChallenges>.change(&items[key]) { entry in
            guard var live = entry?.value else { return [] }
            defer { entry?.value = live }
            return live.apply(step)
        }
    }

    func blindForm() -> BlindForm<[Challenge]>? {
        BlindForm([.append(key, step.packed, otherwise: nil)]) { results in
            guard let found = results.first ?? nil else { return [] }
            return try LiveChallenges(stored: found.item.value).claimed
        }
    }
}

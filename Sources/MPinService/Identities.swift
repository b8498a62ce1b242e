import MPinSecrets
package import MPinStore

/// The identities that this server has registered, and the tries on IDs that are none.
///
/// A login on an unknown ID takes the same steps as one on a known ID whose PINs are all wrong, so that nobody can find
/// out which IDs exist. Its wrong PINs are counted in one of a fixed number of places, so that inventing IDs fills
/// neither memory nor disk.
package struct Identities: Sendable {
    private let known: Table<IdentityRecord>
    private let unknown: Table<IdentityRecord>
    private let slots: Slots
    private let policy: AttemptPolicy
    private let store: any Store
    /// Of a reservation: ``Durability/durable`` where a challenge or a token can outlive what the store has not yet on
    /// disk. Else one that was taken and forgotten would be a guess more.
    private let durability: Durability

    package init(
        in store: any Store, slots: Slots, policy: AttemptPolicy, reserving durability: Durability = .ordered
    ) {
        known = Table("identity", in: store)
        unknown = Table("unknown_identity", in: store)
        self.slots = slots
        self.policy = policy
        self.store = store
        self.durability = durability
    }

    /// Whether a reservation waits for no other process.
    var isNear: Bool { store.isNear }

    /// Makes the identity of a registration known for good; no change where it is known. The key id that it has.
    package func create(_ registration: Registration, keyID: String, at now: Moment) async throws -> String {
        let record = IdentityRecord(
            mpinID: registration.id.hex, userID: registration.userID, keyID: keyID, registered: now)
        if try await known.create(registration.id.key, record, at: now) { return keyID }
        return try await find(registration.id, at: now)?.keyID ?? keyID
    }

    package func find(_ id: MPinID, at now: Moment) async throws -> IdentityRecord? {
        try await known.read(id.key, at: now)
    }

    /// The same, and in the same time for all: one record is read and one that is not there is looked for.
    func findAlike(_ id: MPinID, at now: Moment) async throws -> IdentityRecord? {
        let identity = try await find(id, at: now)
        // No place has the key of an M-Pin ID.
        if try await unknown.read(identity == nil ? Self.standIn : id.key, at: now) == nil, identity == nil {
            _ = try await unknown.create(Self.standIn, .standIn(at: now), at: now)
        }
        return identity
    }

    /// What stands for an unknown ID in its record. It makes that as long as the record of a person, which takes as long to
    /// read and to write.
    private static func strangerName(_ id: MPinID) -> String { id.key + String(repeating: "0", count: 210) }

    /// As long as the key of an M-Pin ID.
    private static let standIn = String(repeating: "0", count: 64)

    /// At most `limit` identities in the order of their keys, from the first behind the key `after` on.
    package func list(
        after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, value: IdentityRecord)] {
        try await known.list(after: key, limit: limit, at: now)
    }

    /// Forgets the wrong PINs; nil for an unknown ID.
    package func unblock(_ id: MPinID, at now: Moment) async throws -> IdentityRecord? {
        try await change(id, at: now) { $0.unblock(at: now) }
    }

    /// Lets the identity never log in again; nil for an unknown ID.
    package func revoke(_ id: MPinID, at now: Moment) async throws -> IdentityRecord? {
        try await change(id, at: now) { $0.revoked = true }
    }

    private func change(
        _ id: MPinID, at now: Moment, _ change: @escaping @Sendable (inout IdentityRecord) -> Void
    ) async throws -> IdentityRecord? {
        try await known.update(id.key, at: now, .durable) { entry in
            guard var record = entry?.value else { return nil }
            change(&record)
            entry = .init(record)
            return record
        }
    }
}

/// An attempt that was asked for.
package struct Attempt: Sendable {
    /// 1 to 2^63 - 1, random.
    package let id: Int64
    package let reservation: Reservation
    package let isKnown: Bool
    /// As it is now, with this attempt.
    package let record: IdentityRecord
    /// Begun by attempts that had ended with their process.
    package let block: BegunBlock?
}

extension Identities {
    /// Takes an attempt, of an unknown ID too.
    package func reserve(_ id: MPinID, at now: Moment) async throws -> Attempt {
        let change = Reserve(
            known: known.key(id.key), place: unknown.key(slots.key(id.hash)), stranger: Self.strangerName(id),
            id: .random(in: 1...(.max)), policy: policy, now: now)
        return try await store.performOnce(change, at: now, durability)
    }

    /// Ends an attempt: what it came to, and the block that has begun with it.
    package func settle(
        _ attempt: Attempt, of id: MPinID, _ settlement: Settlement, at now: Moment
    ) async throws -> (Verdict, BegunBlock?) {
        let key = attempt.isKnown ? known.key(id.key) : unknown.key(slots.key(id.hash))
        let change = Settle(
            key: key, name: attempt.record.mpinID, id: attempt.id, settlement: settlement, policy: policy, now: now)
        return try await store.performOnce(change, at: now, .ordered)
    }

    /// What ``settle(_:of:_:at:)`` will say unless the identity changes before.
    func foreseen(_ attempt: Attempt, _ settlement: Settlement, at now: Moment) -> Verdict {
        var record = attempt.record
        return record.settle(attempt.id, settlement, policy, at: now)
    }

    /// Brings what was counted to the disk, before anybody hears of a wrong PIN. Where reservations are durable it is there.
    func sync(_ token: AuthToken, at now: Moment) async throws {
        guard durability != .durable else { return }
        let key = token.isKnown ? token.id : slots.key(Hex.decode(token.id) ?? [])
        try await (token.isKnown ? known : unknown).update(key, at: now, .durable) { _ in }
    }
}

/// Takes an attempt of an identity, or, where it is unknown, in the place of strangers.
private struct Reserve: NamedChange {
    static let name = "reserve"

    let known: ItemKey
    let place: ItemKey
    /// What stands for the unknown ID in its record.
    let stranger: String
    let id: Int64
    let policy: AttemptPolicy
    let now: Moment

    var keys: [ItemKey] { [known, place] }

    func run(_ items: inout Items) throws -> Attempt {
        let isKnown = items[known] != nil
        return try Table<IdentityRecord>.change(&items[isKnown ? known : place]) { entry in
            // The place may hold another unknown ID.
            let own = entry.flatMap { isKnown || $0.value.mpinID == stranger ? $0.value : nil }
            var record = own ?? IdentityRecord(mpinID: stranger, userID: "", keyID: "", registered: now)
            let earlier = record
            let reservation = record.reserve(id, policy, at: now)
            entry = .init(record)
            return Attempt(
                id: id, reservation: reservation, isKnown: isKnown, record: record, block: record.block(since: earlier))
        }
    }
}

/// Ends it.
private struct Settle: NamedChange {
    static let name = "settle"

    let key: ItemKey
    /// Whose attempt it was: another unknown ID may have got the place since.
    let name: String
    let id: Int64
    let settlement: Settlement
    let policy: AttemptPolicy
    let now: Moment

    var keys: [ItemKey] { [key] }

    func run(_ items: inout Items) throws -> (Verdict, BegunBlock?) {
        try Table<IdentityRecord>.change(&items[key]) { entry in
            let own = entry.flatMap { $0.value.mpinID == name ? $0.value : nil }
            var record = own ?? IdentityRecord(mpinID: name, userID: "", keyID: "", registered: now)
            // Who has lost the place has lost what was reserved there.
            if own == nil { record.open = [id] }
            let earlier = record
            let verdict = record.settle(id, settlement, policy, at: now)
            entry = .init(record)
            return (verdict, record.block(since: earlier))
        }
    }
}

extension IdentityRecord {
    /// As long as one of a person.
    fileprivate static func standIn(at now: Moment) -> IdentityRecord {
        IdentityRecord(
            mpinID: String(repeating: "0", count: 260), userID: "nobody@example.com", keyID: "1", registered: now)
    }
}

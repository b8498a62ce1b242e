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

    package init(in store: any Store, slots: Slots, policy: AttemptPolicy) {
        known = Table("identity", in: store)
        unknown = Table("unknown_identity", in: store)
        self.slots = slots
        self.policy = policy
    }

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

    func isKnown(_ id: MPinID, at now: Moment) async throws -> Bool { try await known.contains(id.key, at: now) }

    /// At most `limit` identities in the order of their keys, from the first behind the key `after` on.
    package func list(
        after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, value: IdentityRecord)] {
        try await known.list(after: key, limit: limit, at: now)
    }

    /// Forgets the wrong PINs; nil for an unknown ID.
    package func unblock(_ id: MPinID, at now: Moment) async throws -> IdentityRecord? {
        try await change(id, at: now) { $0.unblock() }
    }

    /// Lets the identity never log in again; nil for an unknown ID.
    package func revoke(_ id: MPinID, at now: Moment) async throws -> IdentityRecord? {
        try await change(id, at: now) { $0.revoked = true }
    }

    private func change(
        _ id: MPinID, at now: Moment, _ change: @escaping @Sendable (inout IdentityRecord) -> Void
    ) async throws -> IdentityRecord? {
        try await known.update(id.key, at: now, durable: true) { entry in
            guard var record = entry?.value else { return nil }
            change(&record)
            entry = .init(record)
            return record
        }
    }
}

extension Identities {
    /// Takes an attempt, of an unknown ID too. The attempts that ended with a process may make it the beginning of a block.
    func reserve(
        _ id: MPinID, isKnown: Bool, at now: Moment
    ) async throws -> (Reservation, IdentityRecord, BegunBlock?) {
        try await update(id, isKnown: isKnown, at: now) { [policy] record in
            let earlier = record
            return (record.reserve(policy, at: now), record, record.block(since: earlier))
        }
    }

    /// Settles a granted attempt.
    func settle(
        _ id: MPinID, isKnown: Bool, isRight: Bool, at now: Moment
    ) async throws -> (Verdict, BegunBlock?) {
        try await update(id, isKnown: isKnown, at: now) { [policy] record in
            let earlier = record
            let verdict = isRight ? record.succeed() : record.fail(policy, at: now)
            return (verdict, record.block(since: earlier))
        }
    }

    /// Counts a login that was refused: as much work as settling one.
    func refuse(_ id: MPinID, isKnown: Bool, at now: Moment) async throws {
        try await update(id, isKnown: isKnown, at: now) { $0.refused += 1 }
    }

    func refund(_ id: MPinID, isKnown: Bool, at now: Moment) async throws {
        try await update(id, isKnown: isKnown, at: now) { $0.refund() }
    }

    /// Brings what was counted to the disk: before anybody hears of a wrong PIN.
    func sync(_ token: AuthToken, at now: Moment) async throws {
        let key = token.isKnown ? token.id : slots.key(Hex.decode(token.id) ?? [])
        try await (token.isKnown ? known : unknown).update(key, at: now, durable: true) { _ in }
    }

    private func update<Result: Sendable>(
        _ id: MPinID, isKnown: Bool, at now: Moment,
        _ change: @escaping @Sendable (inout IdentityRecord) -> Result
    ) async throws -> Result {
        let key = isKnown ? id.key : slots.key(id.hash)
        return try await (isKnown ? known : unknown).update(key, at: now) { entry in
            // The place may hold another unknown ID; of a long one no more than its hash is kept.
            let name = Self.strangerName(id)
            let own = entry.flatMap { isKnown || $0.value.mpinID == name ? $0.value : nil }
            var record = own ?? IdentityRecord(mpinID: name, userID: "", keyID: "", registered: now)
            let result = change(&record)
            entry = .init(record)
            return result
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

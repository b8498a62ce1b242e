import MPinSecrets
package import MPinStore

/// The identities that this server has registered, and the attempts to log in with unregistered IDs.
///
/// A login with an unknown ID takes the same steps as one with a known ID and a wrong PIN, so that nobody can find out
/// which IDs exist. The wrong PINs of unknown IDs are counted in a fixed number of slots, so that invented IDs fill
/// neither memory nor disk.
package struct Identities: Sendable {
    private static let tables = (known: "identity", unknown: "unknown_identity")

    private let known: Table<IdentityRecord>
    private let unknown: Table<IdentityRecord>
    private let slots: Slots
    private let policy: AttemptPolicy
    let suspensions: Suspensions
    private let store: any Store
    /// The durability of a reservation. It is ``Durability/durable`` if a challenge or a token could outlive a
    /// reservation that is not yet on the disk: a lost reservation would give one more guess.
    private let durability: Durability

    package init(
        in store: any Store, slots: Slots, policy: AttemptPolicy, reserving durability: Durability = .ordered
    ) {
        known = Table(Self.tables.known, in: store)
        unknown = Table(Self.tables.unknown, in: store)
        self.slots = slots
        self.policy = policy
        suspensions = Suspensions(in: store)
        self.store = store
        self.durability = durability
    }

    /// Whether the store answers without a trip to another process.
    var isNear: Bool { store.isNear }

    /// Stores the identity of a registration and returns its record. If the identity exists already, it is not changed,
    /// and its record is returned. The identity of a suspended user is refused from the beginning on.
    package func create(
        _ registration: Registration, keyID: String, publicKeyHash: [UInt8] = IdentityRecord.noPublicKey,
        at now: Moment
    ) async throws -> IdentityRecord {
        var record = IdentityRecord(
            mpinID: registration.id.hex, userID: registration.userID, keyID: keyID, registered: now)
        record.publicKeyHash = publicKeyHash
        guard try await known.create(registration.id.key, record, at: now) else {
            return try await find(registration.id, at: now) ?? record
        }
        return try await markIfSuspended(registration.id, record, at: now)
    }

    /// Stores the identity of a new M-Pin ID.
    func create(_ id: MPinID, _ record: IdentityRecord, at now: Moment) async throws {
        guard try await known.create(id.key, record, at: now) else { return }
        _ = try await markIfSuspended(id, record, at: now)
    }

    /// Marks a new identity whose user was suspended while it was made: whoever suspends a user marks the identities that are
    /// there.
    private func markIfSuspended(
        _ id: MPinID, _ record: IdentityRecord, at now: Moment
    ) async throws -> IdentityRecord {
        guard try await suspensions.find(record.user, at: now) != nil else { return record }
        return try await suspensions.mark(id.key, of: record.user, at: now) ?? record
    }

    package func find(_ id: MPinID, at now: Moment) async throws -> IdentityRecord? {
        try await find(key: id.key, at: now)
    }

    /// Finds an identity by its ``MPinID/key``.
    func find(key: String, at now: Moment) async throws -> IdentityRecord? {
        guard let record = try await known.read(key, at: now) else { return nil }
        return try await current(record, key, at: now)
    }

    /// Finds an identity as ``find(_:at:)`` does, but takes equally long for known and unknown IDs. In both cases it
    /// reads one existing record, and looks for one that does not exist.
    func findInEqualTime(_ id: MPinID, at now: Moment) async throws -> IdentityRecord? {
        let identity = try await find(id, at: now)
        // Slots have other keys than M-Pin IDs, so for a known ID this read finds nothing.
        if try await unknown.read(identity == nil ? Self.placeholderKey : id.key, at: now) == nil, identity == nil {
            _ = try await unknown.create(Self.placeholderKey, .placeholder(at: now), at: now)
        }
        return identity
    }

    /// The name of an unknown ID in its record. It is padded, so that the record is as long as that of a known identity
    /// and takes equally long to read and to write.
    private static func paddedName(_ id: MPinID) -> String { id.key + padding }
    private static let padding = String(repeating: "0", count: 210)

    /// The place that the MAC of an appended attempt names (``RecordMAC/Owner``).
    package static let owner: RecordMAC.Owner = { place, value in
        guard place.table == tables.unknown else { return place }
        // The name is the first member of a record, after its version and the length of the name.
        let name = value.dropFirst(5).prefix(placeholderKey.utf8.count)
        return ItemKey(tables.known, String(decoding: name, as: UTF8.self))
    }

    /// A key as long as that of an M-Pin ID.
    private static let placeholderKey = String(repeating: "0", count: 64)

    /// At most `limit` identities in the order of their keys, beginning after `key`, or with the first if it is nil.
    package func list(
        after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, value: IdentityRecord)] {
        try await known.list(after: key, limit: limit, at: now)
    }

    /// Resets the count of wrong PINs and ends a block. Nil for an unknown ID.
    package func unblock(_ id: MPinID, at now: Moment) async throws -> IdentityRecord? {
        try await change(id, at: now) { $0.unblock(at: now) }
    }

    /// Forbids all logins of the identity permanently. Nil for an unknown ID.
    package func revoke(_ id: MPinID, at now: Moment) async throws -> IdentityRecord? {
        try await change(id, at: now) { $0.revoked = true }
    }

    /// Notes that the identity with the key `new` has taken the place of the one with the key `old`, which can never log
    /// in again. Returns the M-Pin ID of the old one. Nil if there is none, or another has taken its place before.
    func replace(_ old: String, by new: String, at now: Moment) async throws -> MPinID? {
        guard let successor = Hex.decode(new), successor.count == SHA256.size else { return nil }
        return try await known.update(old, at: now, .durable) { entry in
            guard var record = entry?.value, !record.isReplaced || record.successor == successor else { return nil }
            record.successor = successor
            entry = .init(record)
            return MPinID(hex: record.mpinID)
        }
    }

    /// Notes the key with which the device of an identity renews its secret (``IdentityRecord/renewal``), in place of an
    /// earlier one. Nil for an unknown ID, or if the identity may no longer log in.
    func beginRenewal(
        _ id: MPinID, _ renewal: IdentityRecord.Renewal, at now: Moment
    ) async throws -> IdentityRecord? {
        try await known.update(id.key, at: now, .durable) { entry in
            guard var record = entry?.value, !record.isBarred else { return nil }
            record.renewal = renewal
            entry = .init(record)
            return record
        }
    }

    /// Notes that the identity is of a user of a project, which its M-Pin ID does not tell.
    func move(_ key: String, to user: UserKey, at now: Moment) async throws {
        try await known.update(key, at: now, .durable) { $0?.value.userID = user.text }
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

extension Identities {
    /// Converts the records that earlier versions wrote, as JSON or without some members, to the packed form (`Packer`),
    /// once in the life of a store. Otherwise the time to read a record would tell known IDs from unknown ones. A record
    /// that cannot be read is not changed.
    package func pack(at now: Moment) async throws {
        let done = Table<Bool>("packed", in: store)
        guard try await !done.contains(Self.form, at: now) else { return }
        for table in [known.name, unknown.name] { try await pack(table, at: now) }
        _ = try await done.create(Self.form, true, at: now)
    }

    /// The form in which this version stores records. Version 1.1.0 had the form "identity".
    private static let form = "identity with renewal"

    /// Converts a hundred records in each change of the store, so that a login waits for one such change at most.
    private func pack(_ table: String, at now: Moment) async throws {
        var last: String?
        while true {
            let page = try await store.list(table, after: last, limit: 100, at: now)
            let keys = page.filter { !IdentityRecord.isComplete($0.item.value) }.map { ItemKey(table, $0.key) }
            if !keys.isEmpty { try await store.performOnce(Pack(keys: keys), at: now, .ordered) }
            guard page.count == 100, let end = page.last else { return }
            last = end.key
        }
    }
}

/// Converts the records with these keys to the packed form.
private struct Pack: NamedChange {
    static let name = "pack"

    let keys: [ItemKey]

    func run(_ items: inout Items) {
        for key in keys {
            guard let item = items[key], let record = try? IdentityRecord(stored: item.value),
                let packed = try? record.stored()
            else { continue }
            items[key]?.value = packed
        }
    }
}

/// The result of ``Identities/reserve(_:at:)``.
package struct Attempt: Sendable {
    /// A random number from 1 to 2^63 - 1.
    package let id: Int64
    package var reservation: Reservation
    package let isKnown: Bool
    /// Where the record is. It is kept because to find the slot of an unknown ID again would take time by which the
    /// answer could be told from that for a known one.
    let key: ItemKey
    /// The slot of the ID, also of a known one.
    let slot: ItemKey
    /// The identity's record, including this attempt.
    package let record: IdentityRecord
    /// The block that has begun because attempts in progress were counted as wrong: the process that judged them has
    /// ended.
    package let block: NewBlock?
    /// The bytes of the record as the store keeps them (``BlindWrite/Result/stored``); nil if they are not known.
    var stored: [UInt8]?
}

extension Identities {
    /// Reserves an attempt for a known or an unknown ID.
    package func reserve(_ id: MPinID, at now: Moment) async throws -> Attempt {
        var attempt = try await reserveOnce(id, at: now)
        guard attempt.isKnown, attempt.record.isSuspended else { return attempt }
        if let verdict = try await verdict(onSuspended: attempt.record, at: now) {
            if case .refused(.blocked) = attempt.reservation { attempt.reservation = .refused(verdict) }
            return attempt
        }
        // The suspension is over.
        _ = try await suspensions.mark(id.key, of: attempt.record.user, at: now)
        return try await reserveOnce(id, at: now)
    }

    private func reserveOnce(_ id: MPinID, at now: Moment) async throws -> Attempt {
        let change = Reserve(
            known: known.key(id.key), place: unknown.key(slots.key(id.hash)), stranger: Self.paddedName(id),
            id: .random(in: 1...(.max)), policy: policy, now: now)
        var attempt = try await store.performOnce(change, at: now, durability)
        // Whoever ends an attempt writes the record anew. A refused one need not be ended.
        if attempt.reservation != .granted, attempt.stored?.count ?? 0 > Self.longest {
            _ = try await settle(attempt, .notJudged, at: now)
            attempt.stored = nil
        }
        return attempt
    }

    /// The number of bytes above which a record with appended attempts is written anew. An attempt appends about 40 bytes.
    private static let longest = 4096

    /// Ends an attempt. Returns the verdict, and the block that has begun with this attempt, if any.
    package func settle(
        _ attempt: Attempt, _ settlement: Settlement, at now: Moment
    ) async throws -> (Verdict, NewBlock?) {
        let change = Settle(
            key: attempt.key, slot: attempt.slot, reserved: attempt.record, id: attempt.id, stored: attempt.stored,
            settlement: settlement, policy: policy, now: now)
        return try await store.performOnce(change, at: now, .ordered)
    }

    /// The verdict that ``settle(_:_:at:)`` will return, unless the identity changes before.
    func expectedVerdict(_ attempt: Attempt, _ settlement: Settlement, at now: Moment) -> Verdict {
        var record = attempt.record
        return record.settle(attempt.id, settlement, policy, at: now)
    }

    /// Writes the count of wrong PINs to the disk, before anybody is told of a wrong PIN. Does nothing if reservations
    /// are durable, because they are on the disk already.
    func sync(_ token: AuthToken, at now: Moment) async throws {
        try await sync(token.id, isKnown: token.isKnown, at: now)
    }

    /// Does the same for the ID with this ``MPinID/key``.
    func sync(_ key: String, isKnown: Bool, at now: Moment) async throws {
        guard durability != .durable else { return }
        // Also for a known ID the slot is computed, so that both take equally long.
        let slot = slots.key(Hex.decode(key) ?? [])
        try await (isKnown ? known : unknown).update(isKnown ? key : slot, at: now, .durable) { _ in }
    }
}

/// The change of ``Identities/reserve(_:at:)``: reserves an attempt in the record of a known identity, or in the slot
/// of an unknown ID.
private struct Reserve: NamedChange {
    static let name = "reserve"

    let known: ItemKey
    let place: ItemKey
    /// The name of the unknown ID in its record.
    let stranger: String
    let id: Int64
    let policy: AttemptPolicy
    let now: Moment

    var keys: [ItemKey] { [known, place] }

    func run(_ items: inout Items) throws -> Attempt {
        let isKnown = items[known] != nil
        let key = isKnown ? known : place
        return try Table<IdentityRecord>.change(&items[key]) { entry in
            // The slot may contain another unknown ID, whose record must not be used for this one.
            let own = entry.flatMap { isKnown || $0.value.mpinID == stranger ? $0.value : nil }
            var record = own ?? IdentityRecord(mpinID: stranger, userID: "", keyID: "", registered: now)
            let (reservation, block) = record.reserve(attempt)
            entry = .init(record)
            return Attempt(
                id: id, reservation: reservation, isKnown: isKnown, key: key, slot: place, record: record,
                block: block)
        }
    }

    func blindForm() throws -> BlindForm<Attempt>? {
        let first = try IdentityRecord(mpinID: stranger, userID: "", keyID: "", registered: now).stored()
        let write = BlindWrite.appendOrFill(
            known, attempt.packed, slot: place, beginning: IdentityRecord.beginning(stranger), first: first)
        return BlindForm([write]) { [id, known, place] results in
            guard let written = results.first ?? nil else { throw Unpacker.foreign }
            let (record, reservation, block) = try IdentityRecord.withLastAttempt(stored: written.item.value)
            return Attempt(
                id: id, reservation: reservation, isKnown: written.key == known, key: written.key, slot: place,
                record: record, block: block, stored: written.stored)
        }
    }

    private var attempt: AppendedAttempt { AppendedAttempt(id: id, policy: policy, now: now) }
}

/// The change of ``Identities/settle(_:_:at:)``: ends an attempt.
private struct Settle: NamedChange {
    static let name = "settle"

    let key: ItemKey
    let slot: ItemKey
    /// The record when the attempt was reserved. Another unknown ID may have taken the slot since then.
    let reserved: IdentityRecord
    let id: Int64
    /// The bytes of that record in the store; nil if they are not known.
    let stored: [UInt8]?
    let settlement: Settlement
    let policy: AttemptPolicy
    let now: Moment

    var keys: [ItemKey] { [key] }

    func run(_ items: inout Items) throws -> (Verdict, NewBlock?) {
        try Table<IdentityRecord>.change(&items[key]) { entry in
            let name = reserved.mpinID
            let own = entry.flatMap { $0.value.mpinID == name ? $0.value : nil }
            var record = own ?? IdentityRecord(mpinID: name, userID: "", keyID: "", registered: now)
            // If another ID has taken the slot, the reservation was lost with the old record, so it is made again.
            if own == nil { record.open = [id] }
            let result = settle(&record)
            entry = .init(record)
            return result
        }
    }

    /// Replaces the record as it was reserved. If it has changed since then, the change must be made by ``run(_:)``.
    func blindForm() throws -> BlindForm<(Verdict, NewBlock?)>? {
        guard let stored else { return nil }
        var record = reserved
        let result = settle(&record)
        let write = BlindWrite.replace(key, old: stored, new: try record.stored())
        // The place where the attempt was reserved, which for a known ID is that of its slot, too.
        return BlindForm([write], place: slot) { [result] results in
            (results.first ?? nil).map { _ in result }
        }
    }

    private func settle(_ record: inout IdentityRecord) -> (Verdict, NewBlock?) {
        let earlier = record
        let verdict = record.settle(id, settlement, policy, at: now)
        return (verdict, record.block(by: id, since: earlier))
    }
}

extension IdentityRecord {
    /// A record that is as long as that of a registered identity.
    fileprivate static func placeholder(at now: Moment) -> IdentityRecord {
        IdentityRecord(
            mpinID: String(repeating: "0", count: 260), userID: "nobody@example.com", keyID: "1", registered: now)
    }
}

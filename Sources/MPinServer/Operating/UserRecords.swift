import MPinOpenID
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// All items of the durable store that belong to one user: for an export, and to be deleted with the user.
struct UserRecords: Sendable {
    /// An item as it is exported. Hashes of secrets are left out.
    struct Record: Sendable, Encodable {
        let table: String
        let key: String
        /// When the item expires. Nil if it stays.
        let expires: String?
        let value: JSONValue
    }

    /// How the items of a table tell their user.
    private enum Place {
        /// The value is JSON, and the user id is the member with this path.
        case member([String])
        /// The value is packed. The closure returns it as JSON, in which the user id is the member with this path.
        case packed(@Sendable ([UInt8]) -> JSONValue?, [String])
        /// The key ends with the SHA-256 of the user id, in hex.
        case keyEnd
        /// The key starts with the SHA-256 of the user id, in hex.
        case keyStart
        /// The key is the user id.
        case key
        /// The value has a list of user ids, and the item stays while one is left (``Mailboxes``).
        case mailbox
        /// The value is an ``IdentityRecord``.
        case identity
    }

    /// The tables in the order in which they are deleted. Identities come last: without its identity, no item of a user
    /// has an effect that was made meanwhile. After them come only the indexes that lead to them. `Tests/tables.py`
    /// lists the tables that have no data of users.
    private static let places: [(String, Place)] = [
        ("oidc_session", .packed(BrowserSession.json, ["login", "userID"])), ("oidc_user_session", .keyStart),
        ("oidc_grant", .packed(Grants.json, ["authorization", "login", "userID"])), ("oidc_user_grant", .keyStart),
        ("oidc_consent", .keyStart), ("oidc_profile", .member(["userID"])),
        ("oidc_email_link", .member(["userID"])), ("renewal", .member(["userID"])), ("activation_code", .keyEnd),
        ("registration", .member(["userID"])), ("identity", .identity), ("device", .keyStart), ("user", .key),
        ("mailbox", .mailbox),
    ]

    /// Tables with data of users that are exported, but not deleted with their user: a suspended user who is deleted must
    /// not come back as a new one, and the name that a user of a project has kept at clients must not become another's.
    private static let kept: [(String, Place)] = [("suspension", .member(["user"])), ("kept_name", .key)]

    private let store: any Store
    /// ``UserKey/text``.
    private let user: String
    private let userHash: String

    init(of user: UserKey, in store: any Store) {
        self.store = store
        self.user = user.text
        userHash = Hex.encode(SHA256.hash(Array(self.user.utf8)))
    }

    func all(at now: Moment) async throws -> [Record] {
        var found: [Record] = []
        for (table, place) in Self.places + Self.kept { found += try await records(table, place, at: now) }
        return found
    }

    /// Deletes the items, and returns those that were deleted.
    func delete(at now: Moment) async throws -> [Record] {
        var deleted: [Record] = []
        for (table, place) in Self.places {
            for record in try await records(table, place, at: now)
            where try await delete(record, place, at: now) {
                deleted.append(record)
            }
        }
        return deleted
    }

    private func delete(_ record: Record, _ place: Place, at now: Moment) async throws -> Bool {
        if case .mailbox = place { return try await Mailboxes(in: store).remove(user, at: now) }
        return try await store.take(ItemKey(record.table, record.key), at: now) != nil
    }

    private func records(_ table: String, _ place: Place, at now: Moment) async throws -> [Record] {
        var found: [Record] = []
        var last: String?
        while true {
            let page = try await store.list(table, after: last, limit: 500, at: now)
            found += page.compactMap { record(table, $0.key, $0.item, place) }
            guard let end = page.last else { return found }
            last = end.key
        }
    }

    /// The item as a record. Nil if it belongs to another user.
    private func record(_ table: String, _ key: String, _ item: StoredItem, _ place: Place) -> Record? {
        let value: JSONValue?
        switch place {
        case .member(let path):
            value = Self.json(item).flatMap { $0.member(path) == .string(user) ? $0 : nil }
        case .packed(let json, let path):
            value = json(item.value).flatMap { $0.member(path) == .string(user) ? $0 : nil }
        case .keyEnd: value = key.hasSuffix(userHash) ? Self.json(item) : nil
        case .key: value = key == user ? Self.json(item) : nil
        case .mailbox: value = Mailboxes.contains(user, stored: item.value) ? .string(user) : nil
        case .keyStart: value = key.hasPrefix(userHash) ? Self.json(item) : nil
        case .identity:
            value = (try? IdentityRecord(stored: item.value)).flatMap { $0.user.text == user ? $0.exported : nil }
        }
        return value.map { Record(table: table, key: key, expires: item.expires?.iso, value: $0.withoutHashes) }
    }

    private static func json(_ item: StoredItem) -> JSONValue? {
        try? JSON.decode(JSONValue.self, from: item.value.span, fromAny: true)
    }
}

extension JSONValue {
    fileprivate func member(_ path: [String]) -> JSONValue? {
        guard let name = path.first else { return self }
        guard case .object(let members) = self else { return nil }
        return members[name]?.member(Array(path.dropFirst()))
    }

    /// Hashes of codes and tokens. A hash of six digits would reveal them.
    private static let hashes: Set = ["hash", "salt", "regOTTHash", "current", "previous"]

    fileprivate var withoutHashes: JSONValue {
        switch self {
        case .object(let members):
            .object(members.filter { !Self.hashes.contains($0.key) }.mapValues(\.withoutHashes))
        case .array(let values): .array(values.map(\.withoutHashes))
        default: self
        }
    }
}

extension IdentityRecord {
    fileprivate var exported: JSONValue {
        var members: [String: JSONValue] = [
            "mpinID": .string(mpinID), "userID": .string(user.shown), "keyID": .string(keyID),
            "registered": .string(registered.iso), "wrongPINs": .int(failuresSinceSuccess), "refused": .int(refused),
            "blocked": .bool(blocked), "revoked": .bool(revoked), "isProven": .bool(isProven),
        ]
        if let lastAttempt { members["lastAttempt"] = .string(lastAttempt.iso) }
        if let blockedUntil { members["blockedUntil"] = .string(blockedUntil.iso) }
        return .object(members)
    }
}

extension UserAdministration {
    /// Everything that the durable store has of a user.
    package struct Export: Sendable, Encodable {
        package let user: String
        package let time: String
        let records: [UserRecords.Record]
    }

    /// Returns nil if the store has nothing of the user.
    package func export(user: String) async throws -> Export? {
        let now = clock()
        let user = try await devices(at: now).user(named: user, at: now)
        return Self.export(user, try await UserRecords(of: user, in: store).all(at: now), at: now)
    }

    /// Deletes everything that the durable store has of a user, and returns it. Nil if there is nothing. Sessions and
    /// tokens of the user have no effect any more. The lines of the audit log stay.
    package func delete(user: String, audit: Audit) async throws -> Export? {
        let now = clock()
        let user = try await devices(at: now).user(named: user, at: now)
        let deleted = try await UserRecords(of: user, in: store).delete(at: now)
        guard let export = Self.export(user, deleted, at: now) else { return nil }
        let identities = deleted.filter { $0.table == records.name }.map(\.key)
        for identity in identities { audit.record(.deleted(identity: identity, user: user.text)) }
        if identities.isEmpty { audit.record(.command("user delete", user: user.text)) }
        return export
    }

    private static func export(_ user: UserKey, _ records: [UserRecords.Record], at now: Moment) -> Export? {
        records.isEmpty ? nil : Export(user: user.shown, time: now.iso, records: records)
    }
}

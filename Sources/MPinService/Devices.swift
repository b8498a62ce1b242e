import MPinSecrets
package import MPinStore

/// A device of a user: an identity, and what the user needs to recognise it.
package struct Device: Sendable, Equatable {
    /// Hex of the SHA-256 of the M-Pin ID, the name of the identity in the audit log and for operators.
    package let identity: String
    /// The name that the client gave when it registered. Nil if it gave none.
    package let name: String?
    package let registered: Moment
    /// When a login was last begun with it. Nil if there was none.
    package let lastUsed: Moment?
    /// Whether the user or the operator has removed it, so that it can never log in again.
    package let isRevoked: Bool
    /// Whether too many wrong PINs have blocked it.
    package let isBlocked: Bool
}

/// The devices of each user: an index of the identities by user, with the devices' names, and an index of the users by
/// their ids. An entry may name an identity that is not stored (yet), so whoever reads it looks for the identity.
///
/// They are not a part of the identity's record, because every login reads and writes that, and the time for it must not
/// depend on the length of a name.
package struct Devices: Sendable {
    fileprivate struct Entry: Codable, Storable {
        /// Empty if the client gave no name.
        var name: String
        /// Nil if the client gave none.
        var pushToken: String?
        /// SHA-256 of the tag that the client has made for the device, in hex. Nil if it gave none.
        var tag: String?
    }

    /// The longest name that is stored, in characters.
    package static let maxName = 64

    private let table: Table<Entry>
    /// Has the user ids as keys, so that they can be listed in their order.
    private let users: Table<Bool>
    let mailboxes: Mailboxes
    private let store: any Store

    package init(in store: any Store) {
        table = Table("device", in: store)
        users = Table("user", in: store)
        mailboxes = Mailboxes(in: store)
        self.store = store
    }

    /// Stores that an identity is a device of the user. A device that is there already keeps its name, and its push token
    /// if there is no new one. It is called before the identity is stored, so that no identity is missing here.
    func add(
        identity: String, of owner: UserKey, name: String, pushToken: String? = nil, tag: String? = nil, at now: Moment
    ) async throws {
        let token = pushToken.flatMap { $0.isEmpty ? nil : $0 }
        let entry = Entry(name: Self.shown(name), pushToken: token, tag: tag.flatMap(Self.hash))
        let (device, user) = (table.key(Self.prefix(owner) + identity), users.key(owner.text))
        let mailbox = mailboxes.key(of: owner)
        try await store.transaction([device, user] + (mailbox.map { [$0] } ?? []), at: now, .ordered) { items in
            try Table<Entry>.change(&items[device]) {
                if $0 == nil { $0 = .init(entry) } else if let token { $0?.value.pushToken = token }
            }
            try Table<Bool>.change(&items[user]) { $0 = .init(true) }
            if let mailbox { try Mailboxes.add(owner.userID, to: &items[mailbox]) }
        }
    }

    /// Returns the user of the server that a user id means: the one with exactly this id, or else the one of which it is
    /// another spelling. Nil if there is none.
    package func user(meant userID: String, at now: Moment) async throws -> String? {
        if try await users.contains(userID, at: now) { return userID }
        return try await mailboxes.user(spelled: userID, at: now)
    }

    /// Returns the user that the user id of a user of the server means, as ``user(meant:at:)``. If there is none, the user
    /// id is from now on the spelling of a new user, so that of two new spellings at the same time only one becomes a user.
    /// The back end of a project tells its users apart itself.
    func settled(_ user: UserKey, at now: Moment) async throws -> UserKey {
        guard user.project == nil, try await !users.contains(user.userID, at: now) else { return user }
        return UserKey(try await mailboxes.settle(user.userID, at: now))
    }

    /// Returns whether one of these devices has the tag, which its client has made and shows no other one.
    func hasTag(_ tag: String, _ devices: [(identity: String, user: UserKey)], at now: Moment) async throws -> Bool {
        guard let hash = Self.hash(tag) else { return false }
        for (identity, user) in devices {
            if try await table.read(Self.prefix(user) + identity, at: now)?.tag == hash { return true }
        }
        return false
    }

    private static func hash(_ tag: String) -> String? {
        tag.isEmpty ? nil : Hex.encode(SHA256.hash(Array(tag.utf8)))
    }

    /// Returns the identities of a user with the names of the devices, in the order of the identities.
    package func list(of user: UserKey, at now: Moment) async throws -> [(identity: String, name: String)] {
        let prefix = Self.prefix(user)
        return try await table.all(startingWith: prefix, at: now).map {
            (String($0.key.dropFirst(prefix.count)), $0.value.name)
        }
    }

    /// Returns the identities of a user that have push tokens, with these.
    func pushTokens(of user: UserKey, at now: Moment) async throws -> [(identity: String, token: String)] {
        let prefix = Self.prefix(user)
        return try await table.all(startingWith: prefix, at: now).compactMap { entry in
            entry.value.pushToken.map { (String(entry.key.dropFirst(prefix.count)), $0) }
        }
    }

    /// Returns the push token of an identity of a user. Nil if it has none.
    func pushToken(of identity: String, user: UserKey, at now: Moment) async throws -> String? {
        try await table.read(Self.prefix(user) + identity, at: now)?.pushToken
    }

    /// Returns the user whom an operator names, and who need not be registered: by the user id, or one of a project by
    /// ``UserKey/shown``. A user of the server who was registered with such a name before there was the project keeps it.
    package func user(named text: String, at now: Moment) async throws -> UserKey {
        let name = UserID.normal(text)
        guard let other = UserKey(shown: name), let project = other.project,
            try await !hasDevices(UserKey(name), at: now)
        else { return UserKey(name) }
        if try await users.contains(other.text, at: now) { return other }
        return try await Projects(in: store).find(project, at: now) == nil ? UserKey(name) : other
    }

    /// Returns the user whom an operator names, as ``user(named:at:)``; for another spelling of a user of the server that
    /// user.
    package func user(meantBy text: String, at now: Moment) async throws -> UserKey {
        let named = try await user(named: text, at: now)
        guard named.project == nil else { return named }
        return UserKey(try await user(meant: named.userID, at: now) ?? named.userID)
    }

    /// Whether the user has a device, or has had one.
    func hasDevices(_ user: UserKey, at now: Moment) async throws -> Bool {
        try await !table.all(startingWith: Self.prefix(user), at: now).isEmpty
    }

    /// Moves a device to another user, whose it is found to be. The index of users keeps the first one, who may have other
    /// devices; one without devices is not shown.
    func move(identity: String, from old: UserKey, to new: UserKey, at now: Moment) async throws {
        let (from, to) = (table.key(Self.prefix(old) + identity), table.key(Self.prefix(new) + identity))
        guard try await !table.contains(Self.prefix(new) + identity, at: now) else { return }
        let user = users.key(new.text)
        try await store.transaction([from, to, user], at: now, .ordered) { items in
            if items[from] != nil { (items[to], items[from]) = (items[from], nil) }
            try Table<Bool>.change(&items[user]) { $0 = .init(true) }
        }
    }

    /// Returns at most `limit` users (``UserKey/text``) that begin with `prefix` and come after `last` (nil: from the first
    /// one on), in the order of their bytes.
    package func userIDs(
        startingWith prefix: String, after last: String?, limit: Int, at now: Moment
    ) async throws -> [String] {
        var found: [String] = []
        var begin = last
        if last.map({ $0.utf8.lexicographicallyPrecedes(prefix.utf8) }) ?? !prefix.isEmpty {
            // The list begins after a key, so the prefix itself is asked for.
            if try await users.contains(prefix, at: now) { found = [prefix] }
            begin = prefix
        }
        let more = try await users.list(after: begin, limit: limit, at: now).map(\.key)
        return Array((found + more.prefix { $0.utf8.starts(with: prefix.utf8) }).prefix(limit))
    }

    /// Adds the identities that versions without these indexes have registered, once in the life of a store. A record
    /// that cannot be read is left out.
    package func addAll(at now: Moment) async throws {
        let done = Table<Bool>("packed", in: store)
        guard try await !done.contains("user", at: now) else { return }
        var last: String?
        repeat {
            let page = try await store.list("identity", after: last, limit: 500, at: now)
            for (key, item) in page {
                guard let record = try? IdentityRecord(stored: item.value), !record.userID.isEmpty else { continue }
                try await add(identity: key, of: record.user, name: "", at: now)
            }
            last = page.last?.key
        } while last != nil
        _ = try await done.create("user", true, at: now)
    }

    /// Completes the index of mailboxes. See ``Mailboxes/complete(with:at:)``.
    package func addMailboxes(at now: Moment) async throws { try await mailboxes.complete(with: users, at: now) }

    /// Returns the name without characters that cannot be seen or that change the direction of a text, and cut to its
    /// longest length.
    static func shown(_ name: String, longest: Int = maxName) -> String {
        let scalars = UserID.normal(name).unicodeScalars.filter {
            $0 == " " || UserID.hiddenCharacters(in: String($0)) == nil && !$0.properties.isWhitespace
        }
        return String(String.UnicodeScalarView(scalars)).beginning(longest)
    }

    private static func prefix(_ user: UserKey) -> String { Hex.encode(SHA256.hash(Array(user.text.utf8))) + " " }
}

extension AuthenticationService {
    /// Returns the devices of a user, the latest registered first.
    package func devices(of user: UserKey) async throws -> [Device] {
        let now = now
        var found: [Device] = []
        for (identity, name) in try await devices.list(of: user, at: now) {
            guard let record = try await identities.find(key: identity, at: now), record.user == user else {
                continue
            }
            let isBlocked = record.blocked || record.blockedUntil.map { $0 > now } ?? false
            found.append(
                Device(
                    identity: identity, name: name.isEmpty ? nil : name, registered: record.registered,
                    lastUsed: record.lastAttempt, isRevoked: record.hasEnded, isBlocked: isBlocked))
        }
        return found.sorted { $0.registered > $1.registered }
    }

    /// Returns the user of the server that a user id means: it is the id, or another spelling of it. The user id itself if
    /// there is none.
    package func user(meant userID: String) async throws -> String {
        try await devices.user(meant: UserID.normal(userID), at: now) ?? UserID.normal(userID)
    }

    /// Returns the user that a registration with this user id is for: the server's, or the one of the project whose back
    /// end verifies the user. Throws ``ServiceError/badUserID(_:)`` if it is of nobody yet, and nobody may register with it.
    func registrant(_ written: String, of project: String? = nil) async throws -> UserKey {
        let userID = try UserID.accepted(written, limits)
        let known =
            project == nil ? try await devices.user(meant: userID, at: now).map { UserKey($0) } : nil
        let user = known ?? UserKey(userID, of: project)
        try await requireOwnName(user)
        guard known == nil, let blanks = UserID.badBlanks(in: userID), try await !devices.hasDevices(user, at: now)
        else { return user }
        throw ServiceError.badUserID("must not hold \(blanks)")
    }

    /// Returns the devices that are not revoked of all users of the server whose mails come to one mailbox.
    func devices(ofMailbox userID: String) async throws -> [(identity: String, user: UserKey)] {
        let users = Set(try await devices.mailboxes.users(of: userID, at: now)).union([userID])
        var found: [(identity: String, user: UserKey)] = []
        for user in users.map({ UserKey($0) }) {
            found += try await devices(of: user).filter { !$0.isRevoked }.map { ($0.identity, user) }
        }
        return found
    }

    /// Revokes a device of a user, so that it can never log in again. `identity` is its ``Device/identity``. Returns the
    /// M-Pin ID. Nil if this user has no such device; then nothing is changed.
    package func removeDevice(_ identity: String, of user: UserKey) async throws -> MPinID? {
        let now = now
        guard let record = try await identities.find(key: identity, at: now), record.user == user,
            let id = MPinID(hex: record.mpinID), try await identities.revoke(id, at: now) != nil
        else { return nil }
        return id
    }
}

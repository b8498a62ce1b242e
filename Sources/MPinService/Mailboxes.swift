import MPinSecrets
package import MPinStore

/// An index of the server's users by their mailboxes: which users get mails in one, and of which user a user id is another
/// spelling. There is an item for all spellings of one user. Before there was this index, each spelling could be a user
/// of its own; these go on, and their item has them all.
package struct Mailboxes: Sendable {
    /// The users with one spelling.
    private struct Spelled: Codable, Storable {
        /// In the order in which they were added. There is one, unless they are older than the index.
        var users: [String]
    }

    /// How far the index is complete.
    private struct Completion: Codable, Storable {
        let first: Moment
        var isEnded = false
    }

    private static let completion = "mailbox"
    /// For so many seconds after the first one, each start of a server completes the index: a node of a version before
    /// may still run, which registers users without it.
    private static let upgradeSeconds = 7 * 86_400

    private let table: Table<Spelled>
    private let completions: Table<Completion>

    package init(in store: any Store) {
        table = Table("mailbox", in: store)
        completions = Table("index", in: store)
    }

    /// The item of a user. Nil for a user of a project, whose mailbox nobody has looked at.
    func key(of user: UserKey) -> ItemKey? { user.project == nil ? table.key(Self.key(user.userID)) : nil }

    static func add(_ userID: String, to item: inout StoredItem?) throws {
        try Table<Spelled>.change(&item) { entry in
            guard entry?.value.users.contains(userID) != true else { return }
            entry = .init(Spelled(users: (entry?.value.users ?? []) + [userID]))
        }
    }

    /// Returns the first user with this spelling. Nil if there is none.
    func user(spelled userID: String, at now: Moment) async throws -> String? {
        try await table.read(Self.key(userID), at: now)?.users.first
    }

    /// Returns the first user with this spelling, or else makes the user id the first one.
    func settle(_ userID: String, at now: Moment) async throws -> String {
        try await table.update(Self.key(userID), at: now, .ordered) { entry in
            if let first = entry?.value.users.first { return first }
            entry = .init(Spelled(users: [userID]))
            return userID
        }
    }

    /// Returns all users whose mails come to the mailbox of `userID`.
    func users(of userID: String, at now: Moment) async throws -> [String] {
        try await table.all(startingWith: Self.prefix(userID), at: now).flatMap(\.value.users)
    }

    /// Whether an item of the index has the user.
    package static func contains(_ userID: String, stored bytes: [UInt8]) -> Bool {
        (try? Spelled(stored: bytes))?.users.contains(userID) ?? false
    }

    /// Removes a user who is deleted. False if the index does not have the user.
    package func remove(_ userID: String, at now: Moment) async throws -> Bool {
        try await table.update(Self.key(userID), at: now, .durable) { entry in
            guard let spelled = entry?.value, spelled.users.contains(userID) else { return false }
            let others = spelled.users.filter { $0 != userID }
            if others.isEmpty { entry = nil } else { entry?.value.users = others }
            return true
        }
    }

    /// Passes the users that have a spelling in common to `pair`, page by page, for an operator to look at.
    package func pairs(at now: Moment, _ pair: ([String]) throws -> Void) async throws {
        var last: String?
        repeat {
            let page = try await table.list(after: last, limit: 500, at: now)
            for entry in page where entry.value.users.count > 1 { try pair(entry.value.users) }
            last = page.last?.key
        } while last != nil
    }

    /// Adds the users that versions without this index have registered. It does so at each start in the first days, and
    /// once more after them.
    func complete(with users: Table<Bool>, at now: Moment) async throws {
        let known = try await completions.read(Self.completion, at: now)
        guard known?.isEnded != true else { return }
        var last: String?
        repeat {
            let page = try await users.list(after: last, limit: 500, at: now).map(\.key)
            let keys = page.compactMap { user in key(of: UserKey(text: user)).map { (user, $0) } }
            if !keys.isEmpty {
                try await table.store.transaction(Array(Set(keys.map(\.1))), at: now, .ordered) { items in
                    for (user, key) in keys { try Self.add(user, to: &items[key]) }
                }
            }
            last = page.last
        } while last != nil
        try await completions.update(Self.completion, at: now, .durable) { entry in
            var completion = entry?.value ?? Completion(first: now)
            completion.isEnded = completion.first.adding(seconds: Self.upgradeSeconds) <= now
            entry = .init(completion)
        }
    }

    /// The key begins with the mailbox, so that all its users are found.
    private static func key(_ userID: String) -> String { prefix(userID) + hash(UserID.spelling(userID)) }

    private static func prefix(_ userID: String) -> String { hash(UserID.mailbox(userID)) + " " }

    private static func hash(_ text: String) -> String { Hex.encode(SHA256.hash(Array(text.utf8))) }
}

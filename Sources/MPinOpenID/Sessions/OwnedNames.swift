import MPinSecrets
import MPinStore

/// Names with an owner, such as the browser sessions of each user. The names of one owner can be listed without reading
/// those of all others.
struct OwnedNames: Sendable {
    private let table: Table<Bool>

    init(_ table: String, in store: any Store) { self.table = Table(table, in: store) }

    /// Returns the owner for a user. User ids can contain spaces, so it is the SHA-256 of the user id in hex.
    static func owner(ofUser userID: String) -> String { Hex.encode(SHA256.hash(Array(userID.utf8))) }

    /// Returns the key of the item that says that `owner` has `name`. Neither text contains a space.
    func key(_ name: String, of owner: String) -> ItemKey { table.key("\(owner) \(name)") }

    /// Adds, in a transaction, the name that `key` stands for.
    static func add(_ key: ItemKey, until end: Moment, in items: inout Items) throws {
        try Table<Bool>.change(&items[key]) { $0 = .init(true, expires: end) }
    }

    func names(of owner: String, at now: Moment) async throws -> [String] {
        let prefix = "\(owner) "
        return try await table.all(startingWith: prefix, at: now).map { String($0.key.dropFirst(prefix.count)) }
    }
}

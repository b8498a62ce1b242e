import MPinService
import MPinStore

extension UserAdministration {
    /// A user with all identities, in the order of their hashes.
    package struct User: Sendable {
        package let id: String
        package var devices: [Entry]
    }

    /// Some of the users that a search has found, in the order of their ids.
    package struct Page: Sendable {
        package let users: [User]
        /// The id after which the next page begins. Nil if this is the last page.
        package let next: String?
    }

    /// Returns at most `limit` users whose ids begin with `prefix` and come after the id `last`. Identities are stored
    /// by their hashes, so each search reads all of them.
    package func search(prefix: String, after last: String?, limit: Int) async throws -> Page {
        let (prefix, now) = (UserID.normal(prefix), clock())
        var found = FirstUsers(limit: limit)
        var key: String?
        while true {
            let page = try await records.list(after: key, limit: 500, at: now)
            for (key, record) in page where record.userID.utf8.starts(with: prefix.utf8) && !record.userID.isEmpty {
                guard last.map({ $0.utf8.lexicographicallyPrecedes(record.userID.utf8) }) ?? true else { continue }
                found.add(Entry(key, record, at: now))
            }
            guard let end = page.last else { return found.page }
            key = end.key
        }
    }
}

/// The first users in the order of their ids, of any number of users that come in any order. At most one more than
/// `limit` is in memory.
private struct FirstUsers {
    let limit: Int
    private var users: [UserAdministration.User] = []

    init(limit: Int) { self.limit = limit }

    mutating func add(_ entry: UserAdministration.Entry) {
        let place = users.partitioningIndex { !$0.id.utf8.lexicographicallyPrecedes(entry.user.utf8) }
        if place < users.count, users[place].id == entry.user {
            users[place].devices.append(entry)
        } else {
            users.insert(.init(id: entry.user, devices: [entry]), at: place)
            if users.count > limit + 1 { users.removeLast() }
        }
    }

    var page: UserAdministration.Page {
        let first = Array(users.prefix(limit))
        return .init(users: first, next: users.count > limit ? first.last?.id : nil)
    }
}

extension Array {
    /// The index of the first element for which `belongs` is true, in an array in which it is false for all elements
    /// before that one.
    fileprivate func partitioningIndex(_ belongs: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongs(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

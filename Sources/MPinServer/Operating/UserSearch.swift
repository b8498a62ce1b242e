import MPinService
import MPinStore

extension UserAdministration {
    /// A user with all identities, in the order of their hashes.
    package struct User: Sendable {
        package let id: String
        package let devices: [Entry]
    }

    /// Some of the users that a search has found, in the order of their ids.
    package struct Page: Sendable {
        package let users: [User]
        /// The id after which the next page begins. Nil if this is the last page.
        package let next: String?
    }

    /// Returns at most `limit` users whose ids begin with `prefix` and come after the id `last`.
    package func search(prefix: String, after last: String?, limit: Int) async throws -> Page {
        let (prefix, now) = (UserID.normal(prefix), clock())
        let devices = try await devices(at: now)
        var (users, end): ([User], String?) = ([], last)
        while users.count <= limit {
            let ids = try await devices.userIDs(startingWith: prefix, after: end, limit: limit + 1, at: now)
            for id in ids {
                // A user id of the index may have no identity (any more).
                let entries = try await find(user: id)
                if !entries.isEmpty { users.append(User(id: id, devices: entries)) }
            }
            end = ids.last
            guard ids.count > limit else { break }
        }
        let page = Array(users.prefix(limit))
        return Page(users: page, next: users.count > limit ? page.last?.id : nil)
    }
}

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
        let now = clock()
        let (devices, prefix) = (try await devices(at: now), try await keyPrefix(prefix, at: now))
        var (users, end): ([User], String?) = ([], nil)
        if let last { end = try await devices.user(named: last, at: now).text }
        while users.count <= limit {
            let ids = try await devices.userIDs(startingWith: prefix, after: end, limit: limit + 1, at: now)
            for id in ids {
                // A user id of the index may have no identity (any more).
                let user = UserKey(text: id).shown
                let entries = try await find(user: user)
                if !entries.isEmpty { users.append(User(id: user, devices: entries)) }
            }
            end = ids.last
            guard ids.count > limit else { break }
        }
        let page = Array(users.prefix(limit))
        return Page(users: page, next: users.count > limit ? page.last?.id : nil)
    }

    /// The beginning of ``UserKey/text`` for that of a name: after the id of a project and a slash come its users.
    private func keyPrefix(_ written: String, at now: Moment) async throws -> String {
        let prefix = UserID.normal(written)
        guard let user = UserKey(shown: prefix), let project = user.project,
            try await Projects(in: store).find(project, at: now) != nil
        else { return prefix }
        return user.text
    }
}

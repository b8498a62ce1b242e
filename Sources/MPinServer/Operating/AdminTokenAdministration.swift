import MPinService
package import MPinStore

/// The commands of `mpind admin token`. They change the tokens in the database, also while a server uses it.
package struct AdminTokenAdministration: Sendable {
    /// A token as operators see it, without its hash.
    package struct Entry: Sendable, Encodable {
        package let name: String
        package let scopes: [String]
        package let created: String
        package let expires: String
        package let isExpired: Bool

        init(_ token: AdminToken, at now: Moment) {
            name = token.name
            scopes = token.scopes
            created = token.created.iso
            expires = token.expires.iso
            isExpired = !token.isLive(at: now)
        }
    }

    /// A token with its text, which is shown only this once.
    package struct NewToken: Sendable, Encodable {
        package let name: String
        package let scopes: [String]
        package let expires: String
        package let token: String
    }

    private let tokens: AdminTokens
    private let audit: Audit
    private let clock: Clock

    package init(database: ServiceDatabase, audit: Audit, clock: @escaping Clock = Moment.now) async throws {
        tokens = AdminTokens(in: try await database.open())
        self.audit = audit
        self.clock = clock
    }

    package func add(_ name: String, scopes: Set<AdminScope>, days: Int) async throws -> NewToken {
        let (token, text) = try await tokens.add(name, scopes: scopes, days: days, at: clock())
        let (scopes, expires) = (token.scopes, token.expires.iso)
        audit.record(
            .command(
                "admin token add", [("name", name), ("scopes", scopes.joined(separator: " ")), ("expires", expires)]))
        return NewToken(name: name, scopes: scopes, expires: expires, token: text)
    }

    package func list() async throws -> [Entry] {
        audit.record(.command("admin token list"))
        let now = clock()
        return try await tokens.list(at: now).map { Entry($0, at: now) }
    }

    package func remove(_ name: String) async throws {
        try await tokens.remove(name, at: clock())
        audit.record(.command("admin token remove", [("name", name)]))
    }
}

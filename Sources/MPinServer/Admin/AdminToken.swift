import MPinSecrets
package import MPinStore

/// What the store keeps of a token for the admin API: its SHA-256, its scopes and its times.
package struct AdminToken: Sendable, Equatable, Codable, Storable {
    /// 1 to 64 characters of `A-Z a-z 0-9 . _ ~ -`. It names the token in the audit log.
    package let name: String
    /// SHA-256 of the token's text, in hex. The text itself is not stored.
    let hash: String
    /// The names of the scopes. One that this version does not know allows nothing.
    package let scopes: [String]
    package let created: Moment
    package let expires: Moment

    init(
        _ name: String, hash: String, scopes: Set<AdminScope>, created: Moment, expires: Moment
    ) {
        self.name = name
        self.hash = hash
        self.scopes = AdminScope.allCases.filter(scopes.contains).map(\.rawValue)
        self.created = created
        self.expires = expires
    }

    /// Whether the token may do what `scope` allows.
    package func allows(_ scope: AdminScope) -> Bool {
        scopes.compactMap { AdminScope(rawValue: $0) }.contains { $0.includes(scope) }
    }

    package func isLive(at now: Moment) -> Bool { expires > now }
}

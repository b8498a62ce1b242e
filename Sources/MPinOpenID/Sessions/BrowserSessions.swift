package import MPinStore

/// A browser whose user has logged in here: it opens the next client without a PIN.
package struct BrowserSession: Sendable, Equatable, Codable, Storable {
    /// `sid`: what clients know it by, 43 characters.
    package let id: String
    package let login: UserLogin
    /// However often it is used.
    fileprivate let ends: Moment
}

/// The sessions of browsers. A browser has 32 random bytes in a cookie, and the store their hash.
package struct BrowserSessions: Sendable {
    /// In seconds.
    package static let lifetime = 10 * 3600
    package static let idle = 3600

    private let table: Table<BrowserSession>

    package init(in store: any Store) { table = Table("oidc_session", in: store) }

    /// Begins a session under a name that no browser had before.
    package func begin(_ login: UserLogin, at now: Moment) async throws -> (OpaqueToken, BrowserSession) {
        let (cookie, id) = (try OpaqueToken.random(), try OpaqueToken.random().text)
        let session = BrowserSession(id: id, login: login, ends: now.adding(seconds: Self.lifetime))
        try await table.update(cookie.key, at: now) { $0 = .init(session, expires: Self.expires(session, at: now)) }
        return (cookie, session)
    }

    package func session(_ cookie: OpaqueToken, at now: Moment) async throws -> BrowserSession? {
        try await table.read(cookie.key, at: now)
    }

    /// A client was opened with it: its idle time begins anew.
    package func touch(_ cookie: OpaqueToken, at now: Moment) async throws {
        try await table.update(cookie.key, at: now) { entry in
            guard let session = entry?.value else { return }
            entry?.expires = Self.expires(session, at: now)
        }
    }

    package func end(_ cookie: OpaqueToken, at now: Moment) async throws { try await table.delete(cookie.key, at: now) }

    private static func expires(_ session: BrowserSession, at now: Moment) -> Moment {
        min(session.ends, now.adding(seconds: idle))
    }
}

package import MPinStore

/// A browser session: the browser's user has logged in here, so the next client can log the user in without a PIN.
package struct BrowserSession: Sendable, Equatable, Codable, Storable {
    /// The session's name in tokens (claim `sid`): 43 characters. It is not in the cookie, so clients do not learn the
    /// cookie.
    package let id: String
    package let login: UserLogin
    /// When the session ends, even if it is used.
    fileprivate let ends: Moment
}

/// The browser sessions. A browser has 32 random bytes in a cookie; the store has only their hash.
package struct BrowserSessions: Sendable {
    /// For how many seconds a session lasts, even if it is used.
    package static let lifetime = 10 * 3600
    /// For how many seconds a session lasts without being used.
    package static let idle = 3600

    private let table: Table<BrowserSession>

    package init(in store: any Store) { table = Table("oidc_session", in: store) }

    /// Begins a session with a new random cookie. The cookie that the browser had before is not used again, because
    /// somebody else may have put it there.
    package func begin(_ login: UserLogin, at now: Moment) async throws -> (OpaqueToken, BrowserSession) {
        let (cookie, id) = (try OpaqueToken.random(), try OpaqueToken.random().text)
        let session = BrowserSession(id: id, login: login, ends: now.adding(seconds: Self.lifetime))
        try await table.update(cookie.key, at: now) { $0 = .init(session, expires: Self.expires(session, at: now)) }
        return (cookie, session)
    }

    package func session(_ cookie: OpaqueToken, at now: Moment) async throws -> BrowserSession? {
        try await table.read(cookie.key, at: now)
    }

    /// Extends the session, because a client was opened with it: its idle time begins anew.
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

import MPinStore

/// The session of one browser at one protected host. It lasts no longer than the browser's session at the provider.
struct HostSession: Codable, Storable {
    let clientID: String
    /// The ``BrowserSession/id`` of the session at the provider.
    let browserSession: String
    /// When the session at the provider was last extended because of a request to the host.
    fileprivate var touched: Moment

    /// Whether it is time to extend the session at the provider. It is extended at most once in a minute, because pages
    /// consist of many requests.
    func isDue(at now: Moment) -> Bool { touched.adding(seconds: 60) <= now }
}

/// The sessions at protected hosts. A browser has 32 random bytes in a cookie of the host; the store has only their
/// hash.
struct HostSessions: Sendable {
    private let table: Table<HostSession>

    init(in store: any Store) { table = Table("forward_auth_session", in: store) }

    func begin(browserSession id: String, of client: Client, at now: Moment) async throws -> OpaqueToken {
        let cookie = try OpaqueToken.random()
        let session = HostSession(clientID: client.id, browserSession: id, touched: now)
        try await table.update(cookie.key, at: now) {
            $0 = .init(session, expires: now.adding(seconds: BrowserSessions.lifetime))
        }
        return cookie
    }

    /// Returns the session with this cookie. Nil if there is none, or if it is a session at another host.
    func session(_ cookie: OpaqueToken, of client: Client, at now: Moment) async throws -> HostSession? {
        let session = try await table.read(cookie.key, at: now)
        return session?.clientID == client.id ? session : nil
    }

    /// Notes that the session at the provider was extended.
    func touch(_ cookie: OpaqueToken, at now: Moment) async throws {
        try await table.update(cookie.key, at: now, .volatile) { $0?.value.touched = now }
    }
}

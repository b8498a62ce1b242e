import MPinStore

/// The logins that have begun at protected hosts. Each belongs to one browser tab and is valid only with the cookie of
/// that tab, so nobody can log a browser in to another account by a link.
struct HostLogins: Sendable {
    private struct Login: Codable, Storable {
        let clientID: String
        /// The ``OpaqueToken/key`` of the tab's cookie.
        let browser: String
        let path: ReturnPath
    }

    private let table: Table<Login>

    init(in store: any Store) { table = Table("forward_auth_login", in: store) }

    func begin(
        _ state: OpaqueToken, in browser: OpaqueToken, at client: Client, returningTo path: ReturnPath, _ now: Moment
    ) async throws {
        let login = Login(clientID: client.id, browser: browser.key, path: path)
        try await table.update(state.key, at: now, .volatile) {
            $0 = .init(login, expires: now.adding(seconds: LoginTransactions.seconds))
        }
    }

    /// Ends a login, and returns where the browser goes. Nil if there is no such login at this client, or it has begun
    /// with another cookie; then the login does not end. Of several callers only one gets the path.
    func end(
        _ state: OpaqueToken, in browser: OpaqueToken, at client: Client, _ now: Moment
    ) async throws -> ReturnPath? {
        guard let login = try await table.read(state.key, at: now), login.clientID == client.id,
            login.browser == browser.key
        else { return nil }
        return try await table.take(state.key, at: now)?.path
    }
}

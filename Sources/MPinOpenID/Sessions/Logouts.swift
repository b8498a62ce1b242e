package import MPinStore

/// The ends of browser sessions: what they revoke, and which clients must be told. An operator's command needs only the
/// store for them; the server that runs with it tells the clients.
package struct Logouts: Sendable {
    private let sessions: BrowserSessions
    private let grants: Grants
    private let notices: LogoutNotices
    private let store: any Store

    package init(in store: any Store) {
        self.store = store
        sessions = BrowserSessions(in: store)
        grants = Grants(in: store)
        notices = LogoutNotices(in: store)
    }

    /// Ends a session: revokes its tokens, but for those with the scope `offline_access` (OpenID Connect Back-Channel
    /// Logout section 2.7). Returns whom to tell. Nil if there is no such session.
    package func end(_ id: String, at now: Moment) async throws -> LogoutNotice? {
        guard let session = try await sessions.find(id, at: now) else { return nil }
        let (key, place, sessionKey) = (try OpaqueToken.random().text, notices, sessions.key(id))
        let notice = try await store.transaction([sessionKey, place.key(key)], at: now, .durable) { items in
            // The session is gone at once, and only then are its grants listed: after that, no code can add one.
            let clients = try Table<BrowserSession>.change(&items[sessionKey]) { entry in
                defer { entry = nil }
                return entry?.value.clients
            }
            return try Table<LogoutNotice>.change(&items[place.key(key)]) { entry -> LogoutNotice? in
                if let clients {
                    let notice = LogoutNotice(session.login, key: key, sessionID: id, clients: clients, at: now)
                    entry = LogoutNotices.entry(notice, at: now)
                }
                return entry?.value
            }
        }
        if notice != nil { try await grants.revoke(ofSession: id, at: now) }
        return notice
    }

    /// Ends all sessions of a user, or those whose login `isMeant` accepts. `isEverywhere`: also revokes the tokens that
    /// outlive the sessions.
    package func end(
        ofUser userID: String, isEverywhere: Bool, at now: Moment,
        where isMeant: @escaping @Sendable (UserLogin) -> Bool = { _ in true }
    ) async throws -> [LogoutNotice] {
        var ended: [LogoutNotice] = []
        for session in try await sessions.sessions(of: userID, at: now) where isMeant(session.login) {
            if let notice = try await end(session.id, at: now) { ended.append(notice) }
        }
        guard isEverywhere else { return ended }
        let clients = try await grants.revoke(ofUser: userID, at: now) { isMeant($0.login) }
        guard !clients.isEmpty else { return ended }
        let login = UserLogin(userID: userID, mpinID: "", time: now)
        let notice = LogoutNotice(
            login, key: try OpaqueToken.random().text, sessionID: nil, clients: clients, at: now)
        try await notices.add(notice, at: now)
        return ended + [notice]
    }

    /// Returns the keys of the notices that it is time to send.
    package func due(at now: Moment) async throws -> [String] { try await notices.due(at: now) }

    /// Reserves the next try of a notice for the caller. Nil if it is not time for one, or all clients know.
    package func begin(_ key: String, at now: Moment) async throws -> LogoutNotice? {
        guard let notice = try await notices.begin(key, at: now) else { return nil }
        // If the server that ended the session has crashed, it may not have revoked everything.
        if let id = notice.sessionID { try await grants.revoke(ofSession: id, at: now) }
        return notice
    }

    /// Notes which clients were told in the present try.
    package func settle(_ notice: LogoutNotice, told: Set<String>, at now: Moment) async throws {
        try await notices.settle(notice.key, told: told, at: now)
    }
}

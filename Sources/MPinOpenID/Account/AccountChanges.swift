/// What users do on the account page.
extension OpenIDProvider {
    /// Returns the sessions of a user that open clients, the last used one first.
    package func liveSessions(of userID: String) async throws -> [BrowserSession] {
        let now = now
        return try await sessions.sessions(of: userID, at: now).filter { $0.isLive(at: now) }
            .sorted { $0.used > $1.used }
    }

    /// Ends a session of this user. Returns whom to tell. Nil if this user has no such session.
    package func endSession(_ id: String, of userID: String) async throws -> LogoutNotice? {
        guard try await sessions.find(id, at: now)?.login.userID == userID else { return nil }
        return try await endSession(id, by: .user)
    }

    /// Ends all sessions of the user of `session`, but for this one. Returns whom to tell.
    package func endSessions(otherThan session: BrowserSession) async throws -> [LogoutNotice] {
        var notices: [LogoutNotice] = []
        for other in try await sessions.sessions(of: session.login.userID, at: now) where other.id != session.id {
            if let notice = try await endSession(other.id, by: .user) { notices.append(notice) }
        }
        return notices
    }

    /// Ends what a device that was removed has logged in: its sessions, and the tokens that outlive them. `mpinID`: the
    /// device's M-Pin ID in hex. Returns whom to tell.
    package func endLogins(of mpinID: String, of userID: String) async throws -> [LogoutNotice] {
        let notices = try await logouts.end(ofUser: userID, isEverywhere: true, at: now) { $0.mpinID == mpinID }
        for notice in notices { observer(.loggedOut(notice, by: .user)) }
        return notices
    }

    /// Withdraws the user's consent to a client, and revokes the client's refresh tokens for this user. Returns false if
    /// there is no consent.
    package func withdrawConsent(to clientID: String, by userID: String) async throws -> Bool {
        guard try await consents.withdraw(clientID: clientID, by: userID, at: now) else { return false }
        _ = try await grants.revoke(ofUser: userID, at: now) { $0.clientID == clientID }
        return true
    }
}

/// Who has ended a session.
package enum LogoutCause: String, Sendable {
    /// A client, in the name of the user.
    case client
    /// The user, on a page of the provider.
    case user
    /// The phone that had logged the browser in.
    case phone
    /// Another user, who has logged in with the same browser.
    case login
    case anOperator = "operator"
}

/// The beginnings and ends of browser sessions.
extension OpenIDProvider {
    /// Begins the session of a user who has entered a PIN to log in to a client (nil: to the account page), and returns
    /// the browser's new cookie and the session. Nil if the phone has already ended the session. If somebody else was
    /// logged in with this browser, that session ends, and its clients are told in the background.
    package func beginSession(
        _ progress: LoginProgress, _ login: UserLogin, for clientID: String?, replacing old: SessionCookie?
    ) async throws -> (SessionCookie, BrowserSession)? {
        guard
            let begun = try await sessions.begin(
                login, for: clientID, replacing: old, phoneKey: progress.phoneKey, at: now)
        else { return nil }
        if let old, old.id != begun.1.id, try await sessions.remembered(old, at: now) != nil {
            _ = try await endSession(old.id, by: .login)
        }
        return begun
    }

    /// Ends a session and revokes its tokens. Returns whom to tell. Nil if there is no such session.
    package func endSession(_ id: String, by cause: LogoutCause) async throws -> LogoutNotice? {
        guard let notice = try await logouts.end(id, at: now) else { return nil }
        observer(.loggedOut(notice, by: cause))
        return notice
    }

    /// Ends all sessions of a user, and revokes all tokens, also those that outlive sessions. Returns whom to tell.
    package func endEverything(of userID: String, by cause: LogoutCause) async throws -> [LogoutNotice] {
        let notices = try await logouts.end(ofUser: userID, isEverywhere: true, at: now)
        for notice in notices { observer(.loggedOut(notice, by: cause)) }
        return notices
    }

    /// Ends the session that the phone with this key has begun; if it has not begun yet, it never will. Returns whom to
    /// tell. Nil if there is no such session.
    package func endSession(phoneKey: String) async throws -> LogoutNotice? {
        guard let id = try await sessions.take(phoneKey: phoneKey, at: now) else { return nil }
        return try await endSession(id, by: .phone)
    }

    /// Returns the logout token for a client that a notice names, with the URL to post it to. Nil if the client has no
    /// such URL, so that it need not be told.
    package func logoutToken(
        _ notice: LogoutNotice, for clientID: String
    ) async throws -> (uri: RedirectURI, token: String)? {
        guard let client = try await client(clientID), let uri = client.backchannelLogoutURI else { return nil }
        return (uri, try maker.logoutToken(notice, for: client, at: now))
    }

    /// Reports whether a client has accepted a logout token.
    package func report(_ notice: LogoutNotice, to clientID: String, isTold: Bool) {
        observer(.clientTold(clientID: clientID, notice, isTold))
    }
}

import MPinHTTP
package import MPinSDK
import MPinSecrets
import MPinWire

extension AppSession {
    /// Ends the session here, and has the provider revoke its tokens. If the provider cannot be reached, it is told
    /// later: with the next login, renewal or logout. `everywhere` also ends the session that the login has begun at
    /// the provider: after a login in a browser, its page for logouts is opened.
    package func logout(everywhere: Bool = false) throws(SDKError) {
        try recorded { () throws(SDKError) in try end(nil, everywhere: everywhere) }
    }

    /// Logs the session with that id out; nil: whichever is stored.
    func end(_ id: String?, everywhere: Bool) throws(SDKError) {
        let ended: SessionRecord? = try store.update(within: nil) { content in
            guard let session = content.session, id == nil || session.id == id else { return nil }
            content.endSession()
            return session
        }
        guard let ended else { return }
        tell(.signedOut, ended.provider)
        try alone { caller throws(SDKError) in
            revokeEndedSessions(caller)
            if everywhere { try endAtProvider(ended, caller) }
        }
    }

    private func endAtProvider(_ ended: SessionRecord, _ caller: Caller) throws(SDKError) {
        let provider = try provider(ended.provider)
        if provider.login == .pin {
            // Without a backend, this process has not logged in.
            guard let user = try? sdk.user(ended.userID), user.canLogout else { return }
            return try sdk.logout(user)
        }
        let endpoint = try endpoints(of: provider, caller).endSession
        guard !endpoint.isEmpty, let token = ended.idToken else { return }
        let query = percentEncodedQuery([("id_token_hint", token.plainText), ("client_id", provider.clientID)])
        guard let open = callbacks.openBrowser, open(endpoint + (endpoint.contains("?") ? "&" : "?") + query) else {
            throw SDKError(.interactionNotAllowed, "logged out here, but no browser can be opened")
        }
    }

    /// Has the provider revoke the refresh token, and with it all tokens of the login, and ends the session. If the
    /// provider cannot be reached or refuses, the session stays.
    package func revoke() throws(SDKError) {
        try recorded { () throws(SDKError) in
            guard let session = try store.content().session else { return }
            if let token = session.refreshToken {
                do throws(SDKError) {
                    try alone { caller throws(SDKError) in
                        try revoke(token, of: try provider(session.provider), caller)
                    }
                } catch {
                    throw SDKError(.revokeFailed, error.text, httpStatus: error.httpStatus, server: error.server)
                }
            }
            try remove(session)
        }
    }

    /// Ends the session here and tells nobody.
    package func clear() throws(SDKError) {
        try recorded { () throws(SDKError) in
            if let session = try store.content().session { try remove(session) }
        }
    }

    private func remove(_ session: SessionRecord) throws(SDKError) {
        try store.update(within: nil) { content in
            if content.session?.id == session.id { content.session = nil }
        }
        tell(.signedOut, session.provider)
    }

    /// Tells providers of the sessions that have ended here. Who cannot be reached is told next time.
    func revokeEndedSessions(_ caller: Caller) {
        guard let waiting = try? store.content().unrevoked, !waiting.isEmpty else { return }
        for entry in waiting {
            guard let provider = try? provider(entry.provider) else { continue }
            do throws(SDKError) { try revoke(entry.token, of: provider, caller) } catch {
                // A provider that answers will not answer otherwise later.
                guard (400..<500).contains(error.httpStatus ?? 0), error.status != .tooManyRequests else { continue }
            }
            try? store.update(within: nil) { content in
                content.unrevoked.removeAll { $0.token == entry.token && $0.provider == entry.provider }
            }
        }
    }

    /// RFC 7009. A provider without this endpoint has nothing to be told.
    private func revoke(_ token: SecretText, of provider: Provider, _ caller: Caller) throws(SDKError) {
        let endpoints = try endpoints(of: provider, caller)
        guard !endpoints.revocation.isEmpty else { return }
        var form = Form()
        form.add("token", token)
        form.add("token_type_hint", "refresh_token")
        let headers = addClient(provider, endpoints, to: &form)
        _ = try caller.post(.revocation, endpoints.revocation, form, headers)
    }
}

/// The reason why a request to log out is refused. The browser shows a page and is not sent back to the client.
package enum LogoutFault: Error, Sendable, Equatable {
    /// The parameters cannot be read, or one is sent twice, or `state` is too long.
    case unreadable
    /// There is no such client, or it is disabled.
    case unknownClient
    /// `id_token_hint` is not an ID token of ours, or `client_id` is another client than its audience.
    case foreignHint
    /// The client has not registered the `post_logout_redirect_uri`. It is written to the log.
    case foreignURI(String)
}

/// What must happen in the browser when it comes with a request to log out.
package enum LogoutStep: Sendable, Equatable {
    /// The client has proved that it means this session, so it is ended without a question.
    case end(BrowserSession)
    /// Nobody is logged in, so there is nothing to end.
    case nothing
    /// The person at the browser says whether to log out, because anybody can send a browser here.
    case question(BrowserSession)
}

/// A client's request to log the user out (OpenID Connect RP-Initiated Logout 1.0 section 2).
package struct LogoutRequest: Sendable {
    /// The client that the request names, by `client_id` or the hint. Nil if it names none.
    package let client: Client?
    let hint: TokenMaker.Hint?
    /// Where the browser goes after the logout, if the client is known. It is a registered URI of the client.
    let redirectURI: RedirectURI?
    package let state: String?

    /// Whether the client has sent an ID token, so that the browser may go back to it without a question.
    package var hasHint: Bool { hint != nil }

    /// The URL that leads back to the client, with `state`. Nil if the request has none, or names no client.
    package var location: String? {
        guard let client, let redirectURI else { return nil }
        guard let state else { return redirectURI.text }
        return ReturnAddress(clientID: client.id, redirectURI: redirectURI, state: state).location([("state", state)])
    }

    /// Where the browser goes after the logout, as the request had it.
    package var requestedURI: String? { redirectURI?.text }
}

extension OpenIDProvider {
    /// Reads a request to log out. Throws ``LogoutFault``, or the store's error.
    package func readLogout(_ parameters: RequestParameters) async throws -> LogoutRequest {
        let names = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"]
        guard !names.contains(where: parameters.isRepeated),
            (parameters["state"]?.utf8.count ?? 0) <= AuthorizationRequest.maxStateBytes
        else { throw LogoutFault.unreadable }
        let hint = try parameters["id_token_hint"].map { token throws(LogoutFault) in
            guard let hint = maker.hint(token) else { throw .foreignHint }
            return hint
        }
        let id = parameters["client_id"]
        guard hint == nil || id == nil || hint?.clientID == id else { throw LogoutFault.foreignHint }
        let found = try await client(named: hint?.clientID ?? id)
        let requested = parameters["post_logout_redirect_uri"]
        let uri = try requested.flatMap { text throws(LogoutFault) -> RedirectURI? in
            guard let found else { return nil }
            guard let uri = found.postLogoutURI(text) else { throw .foreignURI(text) }
            return uri
        }
        return LogoutRequest(client: found, hint: hint, redirectURI: uri, state: parameters["state"])
    }

    private func client(named id: String?) async throws -> Client? {
        guard let id else { return nil }
        guard let found = try await client(id), !found.isDisabled else { throw LogoutFault.unknownClient }
        return found
    }

    /// Returns what must happen in the browser with this cookie. The hint of another session, or of another user, proves
    /// nothing about the person at the browser; then the person is asked.
    package func step(_ request: LogoutRequest, _ cookie: SessionCookie?) async throws -> LogoutStep {
        guard let cookie, let session = try await sessions.remembered(cookie, at: now) else { return .nothing }
        if let client = request.client, let hint = request.hint {
            let subject = subjects.subject(of: session.login.userID, for: client)
            let isMeant = hint.sessionID.map { $0 == session.id } ?? (hint.subject == subject)
            if isMeant { return .end(session) }
        }
        return session.isLive(at: now) ? .question(session) : .nothing
    }
}

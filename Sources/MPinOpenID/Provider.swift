package import MPinStore

/// The rules of an OpenID provider: who may ask for a login, what must happen in the browser, and which tokens come of it.
/// No HTTP, no HTML.
package struct OpenIDProvider: Sendable {
    /// The registered client of that id, disabled or not.
    package typealias ClientLookup = @Sendable (_ id: String) async throws -> Client?
    /// Whether somebody who has logged in may still have tokens.
    package typealias Permission = @Sendable (UserLogin) async throws -> Bool

    package let issuer: String
    package let keys: SigningKeys
    package let client: ClientLookup
    package let sessions: BrowserSessions
    package let logins: LoginTransactions
    let consents: Consents
    let codes: Codes
    let grants: Grants
    package let subjects: Subjects
    package let permission: Permission
    let observer: OpenIDObserver
    let clock: Clock

    /// `durable` keeps what must last, `shortLived` what is good for a few minutes. `issuer`: whose tokens they are, as
    /// every client knows it.
    package init(
        issuer: String, durable: any Store, shortLived: any Store, keys: SigningKeys, client: @escaping ClientLookup,
        permission: @escaping Permission, observer: @escaping OpenIDObserver, clock: @escaping Clock
    ) async throws {
        self.issuer = issuer
        self.keys = keys
        self.client = client
        self.permission = permission
        self.observer = observer
        self.clock = clock
        sessions = BrowserSessions(in: durable)
        logins = LoginTransactions(in: shortLived)
        consents = Consents(in: durable)
        codes = Codes(in: shortLived)
        grants = Grants(in: durable)
        subjects = try await Subjects(in: durable)
    }

    package var now: Moment { clock() }
    var maker: TokenMaker { TokenMaker(issuer: issuer, keys: keys, subjects: subjects) }
}

/// What the provider has done, for logs and counters.
package enum OpenIDEvent: Sendable, Equatable {
    /// Tokens for a code, or for a refresh token.
    case granted(clientID: String, grant: Client.Grant, UserLogin)
    case refused(clientID: String, TokenFault.Code)
    /// A code or a refresh token was used a second time, and all that came of it is revoked.
    case reused(clientID: String, grant: Client.Grant, UserLogin?)
}

package typealias OpenIDObserver = @Sendable (OpenIDEvent) -> Void

/// From a client's request to the answer that a browser takes back.
extension OpenIDProvider {
    /// Reads a request, and finds who asks. Throws where the clients cannot be looked up.
    package func read(
        _ parameters: RequestParameters
    ) async throws -> (reading: AuthorizationRequest.Reading, client: Client?) {
        var found: Client?
        if let id = parameters["client_id"] { found = try await client(id) }
        let reading = AuthorizationRequest.read(parameters, of: found)
        guard case .accepted(var request) = reading, let found, let hint = request.idTokenHint else {
            return (reading, found)
        }
        guard let subject = maker.subject(ofHint: hint, for: found) else {
            let fault = AuthorizationFault(.invalidRequest, "id_token_hint is no ID token for this client")
            return (.returned(fault, to: request.address), found)
        }
        request.expect(subject)
        return (.accepted(request), found)
    }

    /// The browser's session, unless its user may no longer log in.
    package func session(_ cookie: OpaqueToken?) async throws -> BrowserSession? {
        guard let cookie, let session = try await sessions.session(cookie, at: now) else { return nil }
        return try await permission(session.login) ? session : nil
    }

    /// What the browser must do next.
    package func step(
        _ request: AuthorizationRequest, of client: Client, _ progress: LoginProgress
    ) async throws -> AuthorizationStep {
        var isAllowed = client.isFirstParty
        if !isAllowed, let login = progress.login {
            isAllowed = try await consents.cover(request.scopes, of: client, by: login.userID, at: now)
        }
        return request.step(
            progress, isExpected: { request.expects(subjects.subject(of: $0.userID, for: client)) },
            isAllowed: isAllowed, at: now)
    }

    /// Notes what a user allows a client.
    package func allow(_ request: AuthorizationRequest, of client: Client, by login: UserLogin) async throws {
        try await consents.allow(request.scopes, of: client, by: login.userID, at: now)
    }

    /// What the browser takes back to the client after ``AuthorizationStep/answer(_:)``: a code, the state, and who answers.
    package func answer(
        _ request: AuthorizationRequest, _ login: UserLogin, sessionID: String?
    ) async throws -> [(String, String)] {
        let authorization = Authorization(
            clientID: request.address.clientID, login: login, sessionID: sessionID, scopes: request.scopes,
            claims: request.claims, nonce: request.nonce)
        let code = try await codes.issue(
            authorization, redirectURI: request.address.redirectURI.text, pkce: request.pkce, at: now)
        return request.address.answer([("code", code.text)], issuer: issuer)
    }
}

package import MPinStore

/// The rules of an OpenID provider: which client may ask for a login, what must happen in the browser, and which tokens
/// the client gets. It contains no HTTP and no HTML.
package struct OpenIDProvider: Sendable {
    /// Returns the registered client with this id, also if it is disabled. Nil if there is none.
    package typealias ClientLookup = @Sendable (_ id: String) async throws -> Client?
    /// Returns whether a user who has logged in may still get tokens. It is false after the operator has revoked the
    /// user.
    package typealias Permission = @Sendable (UserLogin) async throws -> Bool

    /// Returns the ids of the projects that name the client with this id.
    package typealias Owners = @Sendable (_ clientID: String) async throws -> [String]

    package let issuer: String
    /// The languages of the login page, such as `en`.
    let languages: [String]
    package let keys: SigningKeys
    package let client: ClientLookup
    package let sessions: BrowserSessions
    package let logouts: Logouts
    package let logins: LoginTransactions
    package let consents: Consents
    package let profiles: Profiles
    let codes: Codes
    let devices: DeviceCodes
    let grants: Grants
    package let subjects: Subjects
    package let permission: Permission
    let owners: Owners
    let observer: OpenIDObserver
    let clock: Clock

    /// `issuer` is the URL that names the provider in every token and answer. `durable` stores what must last,
    /// `shortLived` what is needed for some minutes only. `kept` are the users of projects who have the names that they had
    /// before users of projects had name spaces.
    package init(
        issuer: String, languages: [String] = [], durable: any Store, shortLived: any Store, keys: SigningKeys,
        client: @escaping ClientLookup,
        permission: @escaping Permission, owners: @escaping Owners = { _ in [] }, kept: Set<UserKey> = [],
        observer: @escaping OpenIDObserver, clock: @escaping Clock
    ) async throws {
        self.issuer = issuer
        self.languages = languages
        self.keys = keys
        self.client = client
        self.permission = permission
        self.owners = owners
        self.observer = observer
        self.clock = clock
        sessions = BrowserSessions(in: durable)
        logouts = Logouts(in: durable)
        logins = LoginTransactions(in: shortLived)
        consents = Consents(in: durable)
        profiles = Profiles(in: durable)
        codes = Codes(in: shortLived)
        devices = DeviceCodes(in: shortLived)
        grants = Grants(in: durable)
        subjects = try await Subjects(in: durable, kept: kept)
    }

    package var now: Moment { clock() }
    var maker: TokenMaker { TokenMaker(issuer: issuer, keys: keys, subjects: subjects) }
}

/// What the provider has done, for the audit log and the counters.
package enum OpenIDEvent: Sendable, Equatable {
    /// Tokens were issued, for a code or for a refresh token (see `grant`).
    case granted(clientID: String, grant: Client.Grant, UserLogin)
    case refused(clientID: String, TokenFault.Code)
    /// A user has logged in who is none of those who may use the client.
    case noAccess(clientID: String, UserLogin)
    /// A client has revoked its tokens.
    case revoked(clientID: String, UserLogin)
    /// A code or an old refresh token was used again, so all tokens of its grant are revoked.
    case reused(clientID: String, grant: Client.Grant, UserLogin?)
    /// A browser session was ended; or, if the notice names no session, those tokens of a user that outlive sessions
    /// were revoked.
    case loggedOut(LogoutNotice, by: LogoutCause)
    /// A client has accepted a logout token (true), or was given up after several tries (false).
    case clientTold(clientID: String, LogoutNotice, Bool)
}

package typealias OpenIDObserver = @Sendable (OpenIDEvent) -> Void

/// From a client's authorization request to the answer that the browser takes back.
extension OpenIDProvider {
    /// Reads an authorization request, and finds the client that made it. Throws if the clients cannot be read from the
    /// store.
    package func read(
        _ parameters: RequestParameters
    ) async throws -> (reading: AuthorizationRequest.Reading, client: Client?) {
        var found: Client?
        if let id = parameters["client_id"] { found = try await client(id) }
        let reading = AuthorizationRequest.read(parameters, of: found, languages: languages)
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

    /// Returns the session that belongs to the browser's cookie. Nil if there is none, or if its user may no longer log
    /// in.
    package func session(_ cookie: SessionCookie?) async throws -> BrowserSession? {
        guard let cookie, let session = try await sessions.session(cookie, at: now) else { return nil }
        return try await permission(session.login) ? session : nil
    }

    /// Returns what must happen next in the browser. A device always needs the consent of the person, who may have been
    /// sent the code by somebody else (RFC 8628 section 5.4).
    package func step(
        _ request: AuthorizationRequest, of client: Client, _ progress: LoginProgress
    ) async throws -> AuthorizationStep {
        var isAdmitted = true
        if let login = progress.login { isAdmitted = try await admits(login, to: client) }
        var isAllowed = client.isFirstParty && request.device == nil
        if !isAllowed, request.device == nil, let login = progress.login {
            isAllowed = try await consents.cover(request.scopesToAllow(client), of: client, by: login.userID, at: now)
        }
        return request.step(
            progress, isExpected: { request.expects(subjects.subject(of: $0.userID, for: client)) },
            isAdmitted: isAdmitted, isAllowed: isAllowed, silentSeconds: silentSeconds(request, client), at: now)
    }

    /// How long after a PIN an app gets answers without a page. Every program of the machine can ask in the name of a public
    /// client and listen at a loopback address or take an app's scheme, so that the user must have been there just now.
    private func silentSeconds(_ request: AuthorizationRequest, _ client: Client) -> Int? {
        let uri = request.address.redirectURI
        return client.isPublic && (uri.isLoopbackAddress || uri.hasAppScheme) ? Self.silentSeconds : nil
    }

    private static let silentSeconds = 300

    /// Stores that the user allows the client what the request needs the consent to.
    package func allow(_ request: AuthorizationRequest, of client: Client, by login: UserLogin) async throws {
        try await consents.allow(request.scopesToAllow(client), of: client, by: login.userID, at: now)
    }

    /// Returns the parameters that the browser takes back to the client after ``AuthorizationStep/answer(_:)``: a new
    /// code, `state`, and the issuer. For a device there is no code: it is allowed what it has asked for. The account
    /// page needs no answer.
    package func answer(
        _ request: AuthorizationRequest, _ login: UserLogin, sessionID: String?
    ) async throws -> [(String, String)] {
        if request.isForAccount { return [] }
        if let device = request.device { return try await allow(device, request, login) }
        let authorization = Authorization(
            clientID: request.address.clientID, login: login, sessionID: sessionID, scopes: request.scopes,
            claims: request.claims, nonce: request.nonce)
        let code = try await codes.issue(
            authorization, redirectURI: request.address.redirectURI.text, pkce: request.pkce, at: now)
        return request.address.answer([("code", code.text)], issuer: issuer)
    }
}

import MPinSecrets
package import MPinStore
import MPinWire

/// The rules of forward authentication: a reverse proxy in front of a website asks this server, for each request, who
/// sends it. So the website needs no code for logins. Such a website is a protected host. It is a client of the
/// provider, but this server itself redeems its codes and keeps its sessions.
package struct ForwardAuth: Sendable {
    /// Paths at each protected host, which its proxy passes on to this server.
    package enum Path {
        /// The proxy asks here who sends a request.
        package static let verify = "/auth/verify"
        /// The browser is sent here to log in.
        package static let start = "/auth/start"
        /// The redirect URI of the protected host.
        package static let callback = "/auth/callback"
    }

    private let provider: OpenIDProvider
    private let hosts: ProtectedHosts
    private let logins: HostLogins
    private let sessions: HostSessions

    package init(
        _ provider: OpenIDProvider, _ registry: ClientRegistry, durable: any Store, shortLived: any Store
    ) {
        self.provider = provider
        hosts = ProtectedHosts(registry)
        logins = HostLogins(in: shortLived)
        sessions = HostSessions(in: durable)
    }

    /// Returns the client that protects the website at `origin`. Nil if there is none, or if it is disabled.
    package func client(_ origin: WebOrigin) async throws -> Client? {
        try await hosts.client(origin, at: provider.now)
    }

    /// Returns the user whose browser has this cookie of a protected host. Nil if the session of the host has ended.
    /// That is also the case if the browser's session at the provider has ended, or its user may no longer log in or
    /// use this host.
    package func user(_ cookie: OpaqueToken, at client: Client) async throws -> ForwardedUser? {
        let now = provider.now
        guard let session = try await sessions.session(cookie, of: client, at: now),
            let browser = try await provider.sessions.live(session.browserSession, at: now),
            try await provider.permission(browser.login), try await provider.isKnown(browser.login, at: client)
        else { return nil }
        let profile = try await provider.profiles.profile(of: browser.login.userID, at: now)
        guard client.admits(profile) else { return nil }
        if session.isDue(at: now) {
            _ = try await provider.sessions.open(client.id, with: session.browserSession, at: now)
            try await sessions.touch(cookie, at: now)
        }
        return ForwardedUser(profile)
    }

    /// A login that has begun at a protected host.
    package struct Begun: Sendable {
        /// The parameter `state` of the authorization request. The browser keeps a cookie for each of its logins.
        package let state: OpaqueToken
        /// The value of that cookie.
        package let browser: OpaqueToken
        /// The URL of the authorization request.
        package let location: String
    }

    /// Begins a login at a protected host. `path` is where the browser goes after it.
    ///
    /// The value of the browser's cookie is also the code verifier (RFC 7636), so a code can be redeemed only with the
    /// cookie of the browser that has begun the login.
    package func begin(at client: Client, returningTo path: ReturnPath) async throws -> Begun {
        let (state, browser) = (try OpaqueToken.random(), try OpaqueToken.random())
        try await logins.begin(state, in: browser, at: client, returningTo: path, provider.now)
        let challenge = Base64URL.encode(SHA256.hash(Array(browser.text.utf8)))
        let query = RequestParameters.query([
            ("client_id", client.id), ("redirect_uri", client.redirectURIs.first?.text ?? ""),
            ("response_type", "code"), ("scope", "openid"), ("state", state.text), ("code_challenge", challenge),
            ("code_challenge_method", "S256"),
        ])
        return Begun(
            state: state, browser: browser, location: provider.base + OpenIDProvider.Path.authorize + "?" + query)
    }

    /// The end of a login at a protected host.
    package enum Outcome: Sendable {
        /// The cookie of the new session, and where the browser goes.
        case loggedIn(OpaqueToken, ReturnPath)
        /// The provider has answered with an error, or its answer is not valid any more.
        case refused(ReturnPath)
        /// This browser has begun no such login at this host, or it was ended before.
        case unknown
    }

    /// Ends a login with the provider's answer, which the browser has brought to the redirect URI. `browser` is the
    /// value of the login's cookie. A new session gets a new cookie.
    package func finish(
        _ answer: RequestParameters, state: OpaqueToken, browser: OpaqueToken, at client: Client
    ) async throws -> Outcome {
        let now = provider.now
        // Only one provider is asked, and an answer of another one must not be taken for its own (RFC 9207).
        guard !answer.repeatsAny, answer["iss"] == provider.issuer,
            let path = try await logins.end(state, in: browser, at: client, now)
        else { return .unknown }
        guard let code = answer["code"].flatMap({ OpaqueToken($0) }) else { return .refused(path) }
        let claim = Codes.Claim(
            code: code, clientID: client.id, redirectURI: client.redirectURIs.first?.text ?? "",
            verifier: browser.text)
        guard
            case .granted(let authorization) = try await provider.codes.spend(
                claim, for: OpaqueToken.random().key, at: now),
            let id = authorization.sessionID,
            let own = try await provider.sessions.live(id, at: now),
            try await provider.isPermitted(own.login, at: client)
        else { return .refused(path) }
        let cookie = try await sessions.begin(browserSession: id, of: client, at: now)
        provider.observer(.granted(clientID: client.id, grant: .authorizationCode, own.login))
        return .loggedIn(cookie, path)
    }
}

/// What a protected host is told about the user of a request.
package struct ForwardedUser: Sendable, Equatable {
    /// The user id; for a user of a project ``UserKey/shown``.
    package let id: String
    package let name: String
    /// Nil if no mail address is known.
    package let email: String?
    package let groups: [String]

    init(_ profile: Profile) {
        id = profile.user.shown
        name = profile.name ?? id
        email = profile.email
        groups = profile.groups
    }
}

/// Where a browser goes at a protected host after a login: a path with its query, to which the host's origin is added.
/// So no text can lead to another host.
package struct ReturnPath: Sendable, Equatable, Codable {
    private static let maxBytes = 2048

    package let text: String

    /// The start page.
    package static let start = ReturnPath(text: "/")

    private init(text: String) { self.text = text }

    /// Returns the path in `text`. It is the start page if `text` is missing, longer than 2048 bytes, does not begin
    /// with a slash, or has a character that no URI has.
    package init(_ text: String?) {
        guard let text, text.hasPrefix("/"), text.utf8.count <= Self.maxBytes,
            text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\\") })
        else {
            self = .start
            return
        }
        self.text = text
    }
}

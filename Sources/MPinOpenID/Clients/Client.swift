package import MPinStore

/// A program whose users log in at this provider, as the operator has registered it. OpenID Connect Core section 2
/// calls it a relying party.
package struct Client: Sendable, Equatable {
    /// How the client proves its identity at the token endpoint (RFC 6749 section 2.3.1).
    package enum AuthMethod: String, Sendable, Codable, CaseIterable {
        /// For a public client: a program that cannot keep a secret, such as an app on a phone.
        case none
        case basic = "client_secret_basic"
        case post = "client_secret_post"
    }

    /// What the client may exchange for tokens (`grant_type` of a token request).
    package enum Grant: String, Sendable, Codable, CaseIterable {
        case authorizationCode = "authorization_code"
        case refreshToken = "refresh_token"
        /// The code of a device without a browser (RFC 8628).
        case deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
        /// An access token for a narrower one (RFC 8693).
        case tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
    }

    /// Which name of a user the client gets in the claim `sub`.
    package enum Subject: String, Sendable, Codable, CaseIterable {
        /// The same name at all clients with this setting.
        case `public`
        /// A different name in each ``Client/sector``, so that clients of different sectors cannot compare their users.
        case pairwise
        /// The user id, as MIRACL's clients expect.
        case userID = "user-id"
    }

    /// What the client gets in the claim `amr`.
    package enum AMRStyle: String, Sendable, Codable, CaseIterable {
        /// The factors of the login: `mfa`, `pin`, `hwk` (RFC 8176).
        case factors
        /// The one word `token`, as MIRACL's platform says.
        case token
    }

    /// The lifetimes of the client's tokens, in seconds.
    package struct Lifetimes: Sendable, Equatable, Codable {
        package var accessToken = 900
        package var idToken = 900
        /// How long a refresh token lives without being used.
        package var refreshIdle = 30 * 86_400
        /// How long refresh tokens can be renewed after the login.
        package var refreshMax = 180 * 86_400

        package init() {}
    }

    /// 1 to 64 characters of `A-Z a-z 0-9 . _ ~ -`.
    package let id: String
    /// The name on the login page.
    package var name: String
    /// The https URL of the logo on the login page. Nil if there is none.
    package var logo: String?
    package var authMethod = AuthMethod.basic
    /// At most two secrets, the newest first. Empty for a public client.
    package var secrets: [ClientSecret] = []
    package var redirectURIs: [RedirectURI] = []
    package var postLogoutURIs: [RedirectURI] = []
    /// Where the client is told of a logout: an `https` URL, or `http` on this machine.
    package var backchannelLogoutURI: RedirectURI?
    package var grants: Set<Grant> = [.authorizationCode]
    /// The scopes that the client may ask for.
    package var scopes = Client.defaultScopes
    /// The audiences (`aud`) of the client's access tokens. If there are none, the audience is the issuer.
    package var audiences: [String] = []
    /// The audiences that the client itself is, if it is a service that gets access tokens (a resource server): it may
    /// ask about tokens of other clients whose `aud` names one of them.
    package var resources: [String] = []
    /// The origins of the client's pages that call the provider from scripts (CORS).
    package var origins: [WebOrigin] = []
    package var subject = Subject.public
    /// Clients with the same sector get the same pairwise `sub` of a user (OpenID Connect Core section 8.1). Once set,
    /// it stays when redirect URIs change; otherwise the client would take its users for new ones.
    package var sector: String?
    package var lifetimes = Lifetimes()
    /// Whether a client with a secret must use PKCE. Public clients must in any case.
    package var requiresPKCE = false
    /// Whether the operator owns the client, so that its users are not asked for consent.
    package var isFirstParty = false
    package var isDisabled = false
    /// The user ids that may use the client. If there are neither users nor groups here, everybody may.
    package var allowedUsers: [String] = []
    /// The groups whose members may use the client, too.
    package var allowedGroups: [String] = []
    /// The origin of the website that a reverse proxy protects by forward authentication (``ForwardAuth``). Nil for
    /// every other client.
    package var protectedOrigin: WebOrigin?
    package var amr = AMRStyle.factors
    /// Whether the claims of the scopes `profile` and `email` are in the ID token, and not only at userinfo.
    package var claimsInIDToken = false
    /// Whether the client gets refresh tokens without the scope `offline_access`. It is meant for the operator's own
    /// apps.
    package var refreshesWithoutOfflineAccess = false
    package var created: Moment

    package static let defaultScopes = ["openid", "profile", "email"]

    package init(id: String, name: String, created: Moment) {
        self.id = id
        self.name = name
        self.created = created
    }

    package var isPublic: Bool { authMethod == .none }
    package var mustUsePKCE: Bool { isPublic || requiresPKCE }

    /// Returns the redirect URI for the answer to a request with `requested`. It must equal a registered one; only a
    /// public client with a URI on a loopback address may use another port. Nil if the browser must not be sent there.
    package func redirectURI(_ requested: String) -> RedirectURI? {
        Self.registered(requested, in: redirectURIs, anyPort: isPublic)
    }

    /// Returns where the browser may go after a logout, by the rules of `redirectURI(_:)`.
    package func postLogoutURI(_ requested: String) -> RedirectURI? {
        Self.registered(requested, in: postLogoutURIs, anyPort: isPublic)
    }

    private static func registered(_ requested: String, in uris: [RedirectURI], anyPort: Bool) -> RedirectURI? {
        if let same = uris.first(where: { $0.text == requested }) { return same }
        guard let uri = try? RedirectURI(requested) else { return nil }
        return uris.contains { $0.admits(uri, anyPort: anyPort) } ? uri : nil
    }

    /// Returns the sector that the client has if the operator sets none: the one host of its https redirect URIs, or
    /// its id if it has no https redirect URI. Nil if there are several hosts; then the operator must set ``sector``.
    package var sectorOfURIs: String? {
        let hosts = Set(redirectURIs.filter { $0.scheme == "https" }.map(\.host))
        return hosts.count > 1 ? nil : hosts.first ?? id
    }
}

package import MPinStore

/// A program whose users log in here, as the operator has registered it (OpenID Connect Core section 2: a relying party).
package struct Client: Sendable, Equatable {
    /// How it says at the token endpoint who it is (RFC 6749 section 2.3.1).
    package enum AuthMethod: String, Sendable, Codable, CaseIterable {
        /// A public client: a program that cannot keep a secret.
        case none
        case basic = "client_secret_basic"
        case post = "client_secret_post"
    }

    /// What it may hand in for tokens.
    package enum Grant: String, Sendable, Codable, CaseIterable {
        case authorizationCode = "authorization_code"
        case refreshToken = "refresh_token"
    }

    /// What `sub` is for it.
    package enum Subject: String, Sendable, Codable, CaseIterable {
        /// The same for all clients.
        case `public`
        /// Another one for each ``Client/sector``.
        case pairwise
        /// The user id, as MIRACL's clients expect.
        case userID = "user-id"
    }

    /// What `amr` tells it.
    package enum AMRStyle: String, Sendable, Codable, CaseIterable {
        /// What happened: `mfa`, `pin`, `hwk` (RFC 8176).
        case factors
        /// MIRACL's one word `token`.
        case token
    }

    /// In seconds.
    package struct Lifetimes: Sendable, Equatable, Codable {
        package var accessToken = 900
        package var idToken = 900
        /// Of a refresh token that is not used.
        package var refreshIdle = 30 * 86_400
        /// From the login on, however often it is used.
        package var refreshMax = 180 * 86_400

        package init() {}
    }

    /// 1 to 64 characters of `A-Z a-z 0-9 . _ ~ -`.
    package let id: String
    /// For the login page.
    package var name: String
    /// An https URL.
    package var logo: String?
    package var authMethod = AuthMethod.basic
    /// At most two, the newest first; none where it is public.
    package var secrets: [ClientSecret] = []
    package var redirectURIs: [RedirectURI] = []
    package var postLogoutURIs: [RedirectURI] = []
    /// `https`, or `http` on this machine.
    package var backchannelLogoutURI: RedirectURI?
    package var grants: Set<Grant> = [.authorizationCode]
    /// Those that it may ask for.
    package var scopes = Client.defaultScopes
    /// What its access tokens are for; none: the provider itself.
    package var audiences: [String] = []
    /// Of its pages that call from the browser.
    package var origins: [WebOrigin] = []
    package var subject = Subject.public
    /// Whose pairwise subjects it shares (Core section 8.1); fixed once it has one, or its users would become others.
    package var sector: String?
    package var lifetimes = Lifetimes()
    /// Whether a confidential one must use PKCE, too; public ones always must.
    package var requiresPKCE = false
    /// The operator's own: nobody is asked for consent.
    package var isFirstParty = false
    package var isDisabled = false
    package var amr = AMRStyle.factors
    /// Whether the claims of `profile` and `email` are in the ID token, too.
    package var claimsInIDToken = false
    /// Whether it gets a refresh token without the scope `offline_access`: for the operator's own apps.
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

    /// The URI to answer at where `requested` is registered: the same text, or of a public client on this machine the same
    /// with another port. nil: the browser must not be sent there.
    package func redirectURI(_ requested: String) -> RedirectURI? {
        Self.registered(requested, in: redirectURIs, anyPort: isPublic)
    }

    /// The same for a browser that has logged out.
    package func postLogoutURI(_ requested: String) -> RedirectURI? {
        Self.registered(requested, in: postLogoutURIs, anyPort: isPublic)
    }

    private static func registered(_ requested: String, in uris: [RedirectURI], anyPort: Bool) -> RedirectURI? {
        guard let uri = try? RedirectURI(requested) else { return nil }
        return uris.contains { $0.admits(uri, anyPort: anyPort) } ? uri : nil
    }

    /// The one host that its users are sent back to, or its id where it has no website: see ``sector``. nil: several hosts,
    /// so the operator must say.
    package var sectorOfURIs: String? {
        let hosts = Set(redirectURIs.filter { $0.scheme == "https" }.map(\.host))
        return hosts.count > 1 ? nil : hosts.first ?? id
    }
}

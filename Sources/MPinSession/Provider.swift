import MPinHTTP
import MPinSDK
package import MPinWire

/// A provider at which the users of an app log in, as the app describes it.
public struct Provider: Sendable {
    /// How a user logs in.
    public enum Login: Int32, Sendable {
        /// In the app, with the PIN of a user of the client core. The provider is `mpind`, or a MIRACL platform.
        case pin = 0
        /// In the system's browser (RFC 8252).
        case browser = 1
        /// In the browser of another device, by a short code (RFC 8628).
        case deviceCode = 2
    }

    /// The name by which the app knows the provider.
    public var name: String
    /// How a user logs in.
    public var login: Login
    /// The id of the app, as the provider has registered it.
    public var clientID: String
    /// The secret of the client, if the provider has given the app one; nil for a public client.
    package var clientSecret: SecretText?
    /// The issuer of an OpenID provider, whose endpoints are in its discovery document; nil: ``endpoints`` names them.
    public var issuer: String?
    /// The endpoints of a provider without OpenID Connect.
    public var endpoints = Endpoints()
    /// An http URI of this machine gets the port of a listener unless it names one; of any other the app passes what it
    /// has received to ``AppSession/resume(_:)``.
    public var redirectURI = "http://127.0.0.1/callback"
    /// The scopes to ask for, separated by spaces.
    public var scope = "openid profile email offline_access"
    /// Names of claims at userinfo, for providers with names of their own: `["sub": "id"]`.
    public var claimNames: [String: String] = [:]
    /// The origins, `https://host`, of the APIs that may get the access token.
    public var origins: [String] = []
    /// Whether a 401 of an API renews the token. If not, it ends the session.
    public var renewsOn401 = true

    /// Makes the description of a provider; the other members can be set afterwards.
    public init(
        name: String, login: Login, clientID: String, issuer: String? = nil, origins: [String] = []
    ) {
        self.name = name
        self.login = login
        self.clientID = clientID
        self.issuer = issuer
        self.origins = origins
    }

    /// Sets the secret of the client, if the provider has given the app one. A string cannot be wiped.
    public mutating func setClientSecret(_ secret: String) { clientSecret = SecretText(secret) }

    /// Throws unless the description is complete and the origins are such.
    func check() throws(SDKError) {
        guard !name.isEmpty, !clientID.isEmpty else { throw malformed("a provider needs a name and a client id") }
        guard issuer != nil || !endpoints.token.isEmpty else {
            throw malformed("provider \(name) has neither an issuer nor a token endpoint")
        }
        for origin in origins where HTTPRequest.origin(of: origin) == nil {
            throw malformed("provider \(name): an origin is no URL")
        }
    }

    private func malformed(_ text: String) -> SDKError { SDKError(.invalidArgument, text) }

    /// Whether an API at `url` may get the access token.
    func trusts(_ url: String) -> Bool {
        guard let origin = HTTPRequest.origin(of: url) else { return false }
        return origins.contains { HTTPRequest.origin(of: $0) == origin }
    }
}

/// Where a provider answers. An endpoint that it does not have is empty.
public struct Endpoints: Sendable, Equatable {
    /// Where browsers log in.
    public var authorization = ""
    /// Where codes and refresh tokens are exchanged for tokens.
    public var token = ""
    /// Where the user's claims are.
    public var userinfo = ""
    /// Where the keys are by which ID tokens are verified.
    public var keys = ""
    /// Where tokens are revoked (RFC 7009).
    public var revocation = ""
    /// Where browsers log out.
    public var endSession = ""
    /// Where devices without a browser get a code (RFC 8628).
    public var device = ""

    /// Whether the secret of a client belongs in the form of a request, and not in the header Authorization.
    public var wantsSecretInForm = false

    /// Makes endpoints that are all empty.
    public init() {}

    /// Reads a discovery document (OpenID Connect Discovery section 3). Throws if it is not that of `issuer`.
    init(discovery: JSONValue, issuer: String) throws(SDKError) {
        func text(_ name: String) -> String {
            guard case .string(let text)? = discovery[name] else { return "" }
            return text
        }
        guard text("issuer") == issuer else {
            throw SDKError(.responseParseError, "discovery: the document names another issuer")
        }
        authorization = text("authorization_endpoint")
        token = text("token_endpoint")
        userinfo = text("userinfo_endpoint")
        keys = text("jwks_uri")
        revocation = text("revocation_endpoint")
        endSession = text("end_session_endpoint")
        device = text("device_authorization_endpoint")
        // Without this member, the header is what the provider supports.
        if case .array(let methods)? = discovery["token_endpoint_auth_methods_supported"] {
            wantsSecretInForm = !methods.contains(.string("client_secret_basic"))
        }
        guard !token.isEmpty, !keys.isEmpty else {
            throw SDKError(.responseParseError, "discovery: no token_endpoint or no jwks_uri")
        }
    }
}

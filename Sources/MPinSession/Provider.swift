import MPinHTTP
import MPinSDK
package import MPinWire

/// A provider at which the users of an app log in, as the app describes it.
package struct Provider: Sendable {
    /// How a user logs in.
    package enum Login: Int32, Sendable {
        /// In the app, with the PIN of a user of the client core. The provider is `mpind`, or a MIRACL platform.
        case pin = 0
        /// In the system's browser (RFC 8252).
        case browser = 1
        /// In the browser of another device, by a short code (RFC 8628).
        case deviceCode = 2
    }

    /// The name by which the app knows the provider.
    package var name: String
    package var login: Login
    package var clientID: String
    /// The secret of the client, if the provider has given the app one; nil for a public client.
    package var clientSecret: SecretText?
    /// The issuer of an OpenID provider, whose endpoints are in its discovery document; nil: ``endpoints`` names them.
    package var issuer: String?
    /// The endpoints of a provider without OpenID Connect.
    package var endpoints = Endpoints()
    /// A loopback URI gets the port of a listener; of any other the app passes what it has received to
    /// ``AppSession/resume(_:)``.
    package var redirectURI = "http://127.0.0.1/callback"
    package var scope = "openid profile email offline_access"
    /// Names of claims at userinfo, for providers with names of their own: `["sub": "id"]`.
    package var claimNames: [String: String] = [:]
    /// The origins, `https://host`, of the APIs that may get the access token.
    package var origins: [String] = []
    /// Whether a 401 of an API renews the token. If not, it ends the session.
    package var renewsOn401 = true

    package init(name: String, login: Login, clientID: String) {
        self.name = name
        self.login = login
        self.clientID = clientID
    }

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
package struct Endpoints: Sendable, Equatable {
    package var authorization = ""
    package var token = ""
    package var userinfo = ""
    package var keys = ""
    package var revocation = ""
    package var endSession = ""
    package var device = ""

    package init() {}

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
        guard !token.isEmpty, !keys.isEmpty else {
            throw SDKError(.responseParseError, "discovery: no token_endpoint or no jwks_uri")
        }
    }
}

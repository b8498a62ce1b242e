/// Logins by the OpenID provider: a website and the browser of its user. They open a login, wait until a phone has
/// logged the browser in, and get the tokens and the claims of the user. Only one thread may use it.
///
/// The client is public. It must be registered with the redirect URI ``redirectURI``, and users must not be asked for
/// their consent.
final class OpenIDLogin {
    /// Nobody listens there, because no browser follows the redirect.
    private static let redirectURI = "http://127.0.0.1/callback"
    /// The PKCE pair of RFC 7636, appendix B.
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    /// The paths of the provider. Its issuer must be the base URL of the server.
    private enum Path {
        static let authorize = "/authorize"
        static let access = "/authorize/access"
        static let token = "/oidc/token"
        static let userinfo = "/oidc/userinfo"
    }

    private let clientID: String
    private let browser: Connection
    private let phone: Phone

    init(_ endpoint: Endpoint, clientID: String) throws {
        self.clientID = clientID
        browser = Connection(endpoint)
        phone = try Phone(endpoint)
    }

    private var request: String {
        "\(Path.authorize)?response_type=code&scope=openid&client_id=\(clientID)&state=s&nonce=n"
            + "&redirect_uri=\(Self.redirectURI)&code_challenge=\(Self.challenge)&code_challenge_method=S256"
    }

    /// Loads the login page, with its QR code, and does not log in.
    func loadPage() throws { try browser.send("GET", request).require("authorize") }

    /// Logs in, as the page of a website that shows the QR code itself. (This program cannot read the QR code of the
    /// login page, which is a picture.)
    func login(_ identity: Identity) throws {
        let session = try browser.send("POST", request, body: "{}").decoded(Session.self, "session")
        let question = "{\"webOTT\":\"\(session.webOTT)\",\"wait\":30,\"status\":\"new\"}"
        try browser.begin("POST", Path.access, body: question)
        try phone.login(identity, code: session.accessId)
        var access = try browser.finish().decoded(Access.self, "access")
        while access.redirectURL.isEmpty, access.status != "expired" {
            access = try browser.send("POST", Path.access, body: question).decoded(Access.self, "access")
        }
        guard
            let code = access.redirectURL.split(whereSeparator: { "?&".contains($0) }).first(where: {
                $0.hasPrefix("code=")
            })
        else { throw Connection.Failure(description: "no code in the answer: \(access.status)") }
        try finish(String(code))
    }

    /// Redeems the code, given as `code=...`, for tokens, and asks for the claims of the user.
    private func finish(_ code: String) throws {
        let form =
            "grant_type=authorization_code&\(code)&client_id=\(clientID)&redirect_uri=\(Self.redirectURI)"
            + "&code_verifier=\(Self.verifier)"
        let tokens = try browser.send("POST", Path.token, body: form, as: .form).decoded(Tokens.self, "token")
        try browser.send("GET", Path.userinfo, bearer: tokens.access_token).require("userinfo")
    }

    private struct Session: Decodable {
        let webOTT: String
        let accessId: String
    }

    private struct Access: Decodable {
        let status: String
        let redirectURL: String
    }

    private struct Tokens: Decodable {
        let access_token: String
        let id_token: String
    }
}

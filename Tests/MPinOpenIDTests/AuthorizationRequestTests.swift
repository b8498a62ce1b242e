import MPinOpenID
import MPinSecrets
import MPinStore
import XCTest

/// What an authorization request may say, by the rows of the checklist.
final class AuthorizationRequestTests: XCTestCase {
    private static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    private static let uri = "https://app.example/cb"

    private static func client(_ change: (inout Client) throws -> Void = { _ in }) throws -> Client {
        var client = Client(id: "app", name: "App", created: .now())
        client.redirectURIs = [try RedirectURI(uri)]
        client.scopes = ["openid", "profile", "email", "offline_access"]
        client.grants = [.authorizationCode, .refreshToken]
        try change(&client)
        return client
    }

    /// The usual request, with members changed, added (`+name`) or, by nil, left out.
    private static func query(_ changes: [String: String?] = [:], more: String = "") -> String {
        var members: [String: String] = [
            "client_id": "app", "redirect_uri": uri, "response_type": "code", "scope": "openid", "state": "s",
            "code_challenge": challenge, "code_challenge_method": "S256",
        ]
        for (name, value) in changes { members[name] = value }
        return RequestParameters.query(members.sorted { $0.key < $1.key }) + more
    }

    private static func read(
        _ changes: [String: String?] = [:], more: String = "", _ client: Client? = nil
    ) throws -> AuthorizationRequest.Reading {
        let parameters = try XCTUnwrap(RequestParameters(query(changes, more: more)))
        return AuthorizationRequest.read(parameters, of: try client ?? Self.client())
    }

    private func accepted(
        _ changes: [String: String?] = [:], more: String = "", _ client: Client? = nil, line: UInt = #line
    ) throws -> AuthorizationRequest {
        guard case .accepted(let request) = try Self.read(changes, more: more, client) else {
            XCTFail("refused: \(changes)", line: line)
            throw XCTSkip()
        }
        return request
    }

    private func fault(
        _ changes: [String: String?], more: String = "", _ client: Client? = nil, line: UInt = #line
    ) throws -> AuthorizationFault.Code? {
        guard case .returned(let fault, let address) = try Self.read(changes, more: more, client) else {
            XCTFail("not told: \(changes)\(more)", line: line)
            return nil
        }
        XCTAssertEqual(address.redirectURI.text, Self.uri, line: line)
        return fault.code
    }

    private func page(
        _ changes: [String: String?], more: String = "", _ client: Client? = nil, line: UInt = #line
    ) throws -> PageFault? {
        guard case .refused(let fault) = try Self.read(changes, more: more, client) else {
            XCTFail("no page: \(changes)\(more)", line: line)
            return nil
        }
        return fault
    }

    /// Row 7.
    func testRow7ClientsThatMayNotAsk() throws {
        XCTAssertEqual(try page(["client_id": nil]), .noClient)
        let parameters = try XCTUnwrap(RequestParameters(Self.query()))
        XCTAssertEqual(AuthorizationRequest.read(parameters, of: nil), .refused(.unknownClient))
        XCTAssertEqual(try page([:], Self.client { $0.isDisabled = true }), .unknownClient)
    }

    /// Row 8, whose near misses are C's table, and row 9.
    func testRows8And9RedirectURIs() throws {
        XCTAssertEqual(try page(["redirect_uri": nil]), .noRedirectURI)
        for wrong in [Self.uri + "/", Self.uri + "?x=1", "https://APP.example/cb", "https://app.example:444/cb"] {
            XCTAssertEqual(try page(["redirect_uri": wrong]), .foreignRedirectURI(wrong))
        }
        let native = try Self.client {
            $0.authMethod = .none
            $0.redirectURIs = [try RedirectURI("http://127.0.0.1/cb")]
        }
        let request = try accepted(["redirect_uri": "http://127.0.0.1:40404/cb"], native)
        XCTAssertEqual(request.address.redirectURI.text, "http://127.0.0.1:40404/cb")
        let wrong = "http://127.0.0.1:40404/other"
        XCTAssertEqual(try page(["redirect_uri": wrong], native), .foreignRedirectURI(wrong))
    }

    /// Row 11.
    func testRow11NothingIsSentTwice() throws {
        XCTAssertEqual(try fault([:], more: "&state=t"), .invalidRequest)
        XCTAssertEqual(try fault([:], more: "&unknown=1&unknown=2"), .invalidRequest)
        XCTAssertEqual(try page([:], more: "&client_id=app"), .noClient)
        XCTAssertEqual(try page([:], more: "&redirect_uri=https%3A%2F%2Fapp.example%2Fcb"), .noRedirectURI)
    }

    /// Row 12, and of row 30 what is not used.
    func testRows12And30UnknownParametersAreIgnored() throws {
        let request = try accepted(
            ["extra": "foobar", "lang": "de", "display": "popup", "acr_values": "1 2", "claims_locales": "se"])
        XCTAssertEqual(request, try accepted())
        XCTAssertEqual(try accepted(["ui_locales": "fr-CA fr de"]).locales, ["fr-CA", "fr", "de"])
        XCTAssertEqual(try accepted(["login_hint": "nobody@example.com"]).loginHint, "nobody@example.com")
    }

    /// Rows 13 and 14.
    func testRows13And14ResponseTypeAndMode() throws {
        XCTAssertEqual(try fault(["response_type": nil]), .invalidRequest)
        for type in ["token", "id_token", "code token", "none", "CODE"] {
            XCTAssertEqual(try fault(["response_type": type]), .unsupportedResponseType)
        }
        XCTAssertEqual(try accepted(["response_mode": "form_post"]).address.mode, .formPost)
        XCTAssertEqual(try accepted(["response_mode": "query"]).address.mode, .query)
        for mode in ["fragment", "jwt", "web_message"] {
            XCTAssertEqual(try fault(["response_mode": mode]), .invalidRequest)
        }
    }

    /// Rows 15 and 16.
    func testRows15And16Scopes() throws {
        XCTAssertEqual(try fault(["scope": "email"]), .invalidScope)
        XCTAssertEqual(try fault(["scope": nil]), .invalidScope)
        XCTAssertEqual(try fault(["scope": "openid \"x\""]), .invalidScope)
        XCTAssertEqual(try accepted(["scope": "email  wild openid email"]).scopes, ["email", "openid"])
        XCTAssertEqual(try accepted(["scope": "offline_access openid"]).scopes, ["offline_access", "openid"])
        let narrow = try Self.client { $0.scopes = ["openid"] }
        XCTAssertEqual(try accepted(["scope": "openid email offline_access"], narrow).scopes, ["openid"])
        let once = try Self.client { $0.grants = [.authorizationCode] }
        XCTAssertEqual(try accepted(["scope": "openid offline_access"], once).scopes, ["openid"])
    }

    /// Row 17.
    func testRow17TheFlowMustBeAllowed() throws {
        XCTAssertEqual(try fault([:], Self.client { $0.grants = [.refreshToken] }), .unauthorizedClient)
    }

    /// Rows 20 and 21: state comes back byte by byte, and the issuer is in every answer.
    func testRows20And21StateAndIssuer() throws {
        let odd = "a b+c%&=#\u{e9}\u{1F600}\"'<>\\"
        let request = try accepted(["state": odd])
        let answer = request.address.answer([("code", "c")], issuer: "https://id.example")
        let location = request.address.location(answer)
        let parameters = try XCTUnwrap(RequestParameters(String(location.dropFirst(Self.uri.count + 1))))
        XCTAssertTrue(location.hasPrefix(Self.uri + "?"))
        XCTAssertEqual(parameters["state"], odd)
        XCTAssertEqual(parameters["iss"], "https://id.example")
        let fault = request.address.answer(AuthorizationFault(.accessDenied, "no"), issuer: "https://id.example")
        XCTAssertEqual(fault.first?.1, "access_denied")
        XCTAssertEqual(fault.suffix(2).map(\.0), ["state", "iss"])
        let none = try accepted(["state": nil]).address.answer([], issuer: "i")
        XCTAssertEqual(none.map(\.0), ["iss"])
        XCTAssertEqual(try accepted(["state": String(repeating: "x", count: 2048)]).address.state?.count, 2048)
        XCTAssertEqual(try page(["state": String(repeating: "x", count: 2049)]), .tooLongState)
    }

    /// A registered URI with a query keeps it.
    func testAnswersGoBehindAQuery() throws {
        let client = try Self.client { $0.redirectURIs = [try RedirectURI("https://app.example/cb?a=1")] }
        let request = try accepted(["redirect_uri": "https://app.example/cb?a=1"], client)
        XCTAssertEqual(request.address.location([("code", "c")]), "https://app.example/cb?a=1&code=c")
    }

    /// Row 26.
    func testRow26Prompts() throws {
        XCTAssertEqual(try accepted(["prompt": "login consent"]).prompts, [.login, .consent])
        for wrong in ["none login", "create", "login none", "NONE"] {
            XCTAssertEqual(try fault(["prompt": wrong]), .invalidRequest)
        }
    }

    /// Row 29.
    func testRow29MaximumAge() throws {
        XCTAssertEqual(try accepted(["max_age": "10000"]).maxAge, 10000)
        XCTAssertEqual(try accepted(["max_age": "0"]).maxAge, 0)
        for wrong in ["-1", "x", "1.5", "+1", "99999999999", "1e3"] {
            XCTAssertEqual(try fault(["max_age": wrong]), .invalidRequest)
        }
    }

    /// Row 32.
    func testRow32Claims() throws {
        let text = #"{"userinfo":{"name":{"essential":true},"email":null},"id_token":{"auth_time":{"essential":true}}}"#
        let claims = try accepted(["claims": text]).claims
        XCTAssertEqual(claims.userinfo, ["email", "name"])
        XCTAssertEqual(claims.idToken, ["auth_time"])
        for wrong in [
            "[]", "x", "{", "1", "null", "\"a\"", #"{"userinfo":[]}"#, #"{"id_token":"x"}"#,
            #"{"userinfo":{"name":1}}"#, #"{"userinfo":{},"userinfo":{}}"#,
        ] {
            XCTAssertEqual(try fault(["claims": wrong]), .invalidRequest, wrong)
        }
        let unmet = #"{"id_token":{"acr":{"essential":true,"values":["urn:x","urn:y"]}}}"#
        XCTAssertEqual(try fault(["claims": unmet]), .unmetRequirements)
        let voluntary = #"{"id_token":{"acr":{"values":["urn:x"]}}}"#
        XCTAssertNil(try accepted(["claims": voluntary]).claims.acr)
        let met = #"{"id_token":{"acr":{"essential":true,"value":"\#(UserLogin.acr)"}}}"#
        XCTAssertEqual(try accepted(["claims": met]).claims.acr, [UserLogin.acr])
    }

    /// Row 33.
    func testRow33RequestObjects() throws {
        XCTAssertEqual(try fault(["request": "eyJhbGciOiJub25lIn0.e30."]), .requestNotSupported)
        XCTAssertEqual(try fault(["request_uri": "https://app.example/r"]), .requestURINotSupported)
        XCTAssertEqual(try fault(["registration": "{}"]), .registrationNotSupported)
    }

    /// Row 34.
    func testRow34PKCE() throws {
        let open = try Self.client { $0.authMethod = .none }
        let without: [String: String?] = ["code_challenge": String?.none, "code_challenge_method": String?.none]
        XCTAssertNil(try accepted(without).pkce)
        XCTAssertEqual(try fault(without, open), .invalidRequest)
        XCTAssertEqual(try fault(without, Self.client { $0.requiresPKCE = true }), .invalidRequest)
        XCTAssertEqual(try accepted([:], open).pkce?.challenge, Self.challenge)
        for (challenge, method) in [
            (Self.challenge, "plain"), (Self.challenge, nil), (nil, "S256"), ("short", "S256"),
            (Self.challenge + "A", "S256"), (String(Self.challenge.dropLast()) + "+", "S256"),
        ] {
            let changes: [String: String?] = ["code_challenge": challenge, "code_challenge_method": method]
            XCTAssertEqual(try fault(changes), .invalidRequest, "\(challenge ?? "-") \(method ?? "-")")
        }
    }

    /// Row 35: RFC 7636 appendix B, and verifiers that are none.
    func testRow35Verifiers() throws {
        let pkce = try XCTUnwrap(PKCE(challenge: Self.challenge))
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        XCTAssertTrue(pkce.admits(verifier))
        for wrong in [
            verifier + "A", String(verifier.dropLast()), verifier.uppercased(), "", verifier + "=", Self.challenge,
        ] {
            XCTAssertFalse(pkce.admits(wrong))
        }
    }

    /// Row 35: what is no verifier stays none, even where its hash is right.
    func testRow35ShortVerifiers() throws {
        for text in [
            "short", String(repeating: "x", count: 42), String(repeating: "x", count: 129),
            "x" + String(repeating: " ", count: 50),
        ] {
            let challenge = Base64URL.encode(SHA256.hash(Array(text.utf8)))
            XCTAssertEqual(PKCE(challenge: challenge)?.admits(text), false)
        }
        let longest = String(repeating: "x", count: 128)
        XCTAssertEqual(PKCE(challenge: Base64URL.encode(SHA256.hash(Array(longest.utf8))))?.admits(longest), true)
    }

    /// What no form is.
    func testUnreadableParameters() {
        XCTAssertNil(RequestParameters("a=%ff"))
        XCTAssertNil(RequestParameters("a=%4"))
        XCTAssertNil(RequestParameters("a=%zz"))
        XCTAssertNil(RequestParameters(String(repeating: "a=1&", count: 101)))
        XCTAssertEqual(RequestParameters("a=+%2B&b&&c==")?["a"], " +")
        XCTAssertEqual(RequestParameters("c==")?["c"], "=")
        XCTAssertNil(RequestParameters("b")?["b"])
    }
}

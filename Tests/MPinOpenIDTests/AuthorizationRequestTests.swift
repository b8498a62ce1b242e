import MPinOpenID
import MPinSecrets
import MPinStore
import XCTest

/// Tests the reading of authorization requests: which are accepted, which end in an error page, and which errors the
/// client gets. Row numbers are those of the checklist by which the provider was built; each comment says what its row
/// demands.
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

    /// Returns the query of a valid request with `changes`: a text sets or adds a member, nil removes it. `more` is
    /// appended, for members that are sent twice.
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
            return try XCTUnwrap(nil, "refused: \(changes)", line: line)
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

    /// Row 7: a request without a client id, or with that of an unknown or disabled client, ends in an error page.
    func testRow7ClientsThatMayNotAsk() throws {
        XCTAssertEqual(try page(["client_id": nil]), .noClient)
        let parameters = try XCTUnwrap(RequestParameters(Self.query()))
        XCTAssertEqual(AuthorizationRequest.read(parameters, of: nil), .refused(.unknownClient))
        XCTAssertEqual(try page([:], Self.client { $0.isDisabled = true }), .unknownClient)
    }

    /// Row 8: a redirect URI that differs from the registered one ends in an error page (`RedirectURITests` has more of
    /// them). Row 9: a public client may use any port of a loopback address.
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

    /// Row 11: a parameter that is sent twice is an error, also if it is unknown.
    func testRow11NothingIsSentTwice() throws {
        XCTAssertEqual(try fault([:], more: "&state=t"), .invalidRequest)
        XCTAssertEqual(try fault([:], more: "&unknown=1&unknown=2"), .invalidRequest)
        XCTAssertEqual(try page([:], more: "&client_id=app"), .noClient)
        XCTAssertEqual(try page([:], more: "&redirect_uri=https%3A%2F%2Fapp.example%2Fcb"), .noRedirectURI)
    }

    /// Row 12: unknown parameters are ignored. Row 30: so are the known ones that have no effect, such as `display`.
    func testRows12And30UnknownParametersAreIgnored() throws {
        let request = try accepted(
            ["extra": "foobar", "lang": "de", "display": "popup", "acr_values": "1 2", "claims_locales": "se"])
        XCTAssertEqual(request, try accepted())
    }

    /// `ui_locales` comes to one language, however many it names.
    func testALoginKeepsOneLanguage() throws {
        for (text, kept) in [
            ("fr-CA fr de", ["fr"]), ("xx zz-ZZ DE-at en", ["de"]), ("xx", []),
            (String(repeating: "a ", count: 32_000) + "en", ["en"]), (String(repeating: "a", count: 64_000), []),
        ] {
            let parameters = try XCTUnwrap(RequestParameters(Self.query(["ui_locales": text])))
            let reading = AuthorizationRequest.read(parameters, of: try Self.client(), languages: ["en", "de", "fr"])
            guard case .accepted(let request) = reading else { return XCTFail("\(reading)") }
            XCTAssertEqual(request.locales, kept)
            XCTAssertLessThan(try request.stored().count, 1000)
        }
    }

    /// What a request keeps of `claims` is bounded: 64 names at both places together, of 255 bytes each.
    func testARequestNamesAtMost64Claims() throws {
        func claims(_ userinfo: Int, _ idToken: Int, name: String = "c") throws -> String {
            let (first, second) = (
                (0..<userinfo).map { "\"\(name)\($0)\":null" }, (0..<idToken).map { "\"\(name)\($0)\":null" }
            )
            return "{\"userinfo\":{\(first.joined(separator: ","))},\"id_token\":{\(second.joined(separator: ","))}}"
        }
        XCTAssertEqual(try accepted(["claims": claims(32, 32)]).claims.userinfo.count, 32)
        for text in [
            try claims(65, 0), try claims(0, 65), try claims(33, 32), try claims(8000, 0),
            try claims(1, 0, name: String(repeating: "x", count: 255)),
            #"{"id_token":{"sub":{"value":"\#(String(repeating: "x", count: 256))"}}}"#,
        ] { XCTAssertEqual(try fault(["claims": text]), .invalidRequest) }
        let values = (0..<8000).map { "\"urn:\($0)\"" }.joined(separator: ",") + ",\"\(UserLogin.acr)\""
        let acr = try accepted(["claims": #"{"id_token":{"acr":{"essential":true,"values":[\#(values)]}}}"#]).claims.acr
        XCTAssertEqual(acr, [UserLogin.acr])
    }

    /// Row 30: `login_hint` is the user id that the phone proposes. It makes no request fail, whatever it is.
    func testRow30TheLoginHint() throws {
        XCTAssertEqual(try accepted(["login_hint": "alice@example.com"]).loginHint, "alice@example.com")
        XCTAssertEqual(try accepted(["prerollid": "alice@example.com"]).loginHint, "alice@example.com")
        XCTAssertEqual(try accepted(["login_hint": "alice", "prerollid": "bob"]).loginHint, "alice")
        for hint in ["", String(repeating: "x", count: 257), String(repeating: "x", count: 5000)] {
            XCTAssertNil(try accepted(["login_hint": hint]).loginHint)
        }
    }

    /// Row 13: the only response type is `code`. Row 14: the response modes are `query` and `form_post`.
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

    /// Row 15: the scope `openid` is required. Row 16: scopes that the client may not have are left out.
    func testRows15And16Scopes() throws {
        XCTAssertEqual(try fault(["scope": "email"]), .invalidScope)
        XCTAssertEqual(try fault(["scope": nil]), .invalidScope)
        XCTAssertEqual(try fault(["scope": "openid \"x\""]), .invalidScope)
        XCTAssertEqual(try fault(["scope": "openid \\x"]), .invalidScope)
        XCTAssertEqual(try accepted(["scope": "email  wild openid email"]).scopes, ["email", "openid"])
        XCTAssertEqual(try accepted(["scope": "offline_access openid"]).scopes, ["offline_access", "openid"])
        let narrow = try Self.client { $0.scopes = ["openid"] }
        XCTAssertEqual(try accepted(["scope": "openid email offline_access"], narrow).scopes, ["openid"])
        let once = try Self.client { $0.grants = [.authorizationCode] }
        XCTAssertEqual(try accepted(["scope": "openid offline_access"], once).scopes, ["openid"])
    }

    /// Row 17: a client without the grant `authorization_code` gets an error.
    func testRow17TheFlowMustBeAllowed() throws {
        XCTAssertEqual(try fault([:], Self.client { $0.grants = [.refreshToken] }), .unauthorizedClient)
    }

    /// Row 20: `state` comes back unchanged, byte by byte. Row 21: every answer contains the issuer.
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

    /// A nonce is stored with the code, so its length is limited.
    func testTheLengthOfANonce() throws {
        XCTAssertEqual(try accepted(["nonce": String(repeating: "x", count: 2048)]).nonce?.count, 2048)
        XCTAssertEqual(try fault(["nonce": String(repeating: "x", count: 2049)]), .invalidRequest)
    }

    /// If the registered redirect URI has a query, the answer is appended to that query.
    func testAnswersGoBehindAQuery() throws {
        let client = try Self.client { $0.redirectURIs = [try RedirectURI("https://app.example/cb?a=1")] }
        let request = try accepted(["redirect_uri": "https://app.example/cb?a=1"], client)
        XCTAssertEqual(request.address.location([("code", "c")]), "https://app.example/cb?a=1&code=c")
    }

    /// Row 26: unknown values of `prompt` are an error, and so is `none` together with another one.
    func testRow26Prompts() throws {
        XCTAssertEqual(try accepted(["prompt": "login consent"]).prompts, [.login, .consent])
        for wrong in ["none login", "create", "login none", "NONE"] {
            XCTAssertEqual(try fault(["prompt": wrong]), .invalidRequest)
        }
    }

    /// Row 29: `max_age` must be a decimal number of seconds.
    func testRow29MaximumAge() throws {
        XCTAssertEqual(try accepted(["max_age": "10000"]).maxAge, 10000)
        XCTAssertEqual(try accepted(["max_age": "0"]).maxAge, 0)
        for wrong in ["-1", "x", "1.5", "+1", "99999999999", "1e3"] {
            XCTAssertEqual(try fault(["max_age": wrong]), .invalidRequest)
        }
    }

    /// Row 32: the parameter `claims` names claims for userinfo and for the ID token. Malformed JSON is an error.
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

    /// Row 33: request objects, request URIs and registration in a request are refused.
    func testRow33RequestObjects() throws {
        XCTAssertEqual(try fault(["request": "eyJhbGciOiJub25lIn0.e30."]), .requestNotSupported)
        XCTAssertEqual(try fault(["request_uri": "https://app.example/r"]), .requestURINotSupported)
        XCTAssertEqual(try fault(["registration": "{}"]), .registrationNotSupported)
    }

    /// Row 34: PKCE with S256 only; required for public clients, and for others if they are registered so.
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

    /// Row 35: the verifier of RFC 7636 appendix B is accepted, and changed ones are not.
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

    /// Row 35: a verifier of a wrong length or with wrong characters is refused, even if its hash is the challenge.
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

    /// Text that is not a valid form gives nil: malformed escapes, bytes that are not UTF-8, too many members.
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

import MPinOpenID
import MPinWire
import XCTest

/// Tests token exchange (RFC 8693): an app gets a narrower token for a small app inside it.
final class TokenExchangeTests: XCTestCase {
    private func provider() async throws -> ProviderUnderTest {
        try await ProviderUnderTest {
            $0.grants.insert(.tokenExchange)
            $0.audiences = [ProviderUnderTest.api, "https://mini.example", ProviderUnderTest.issuer]
        }
    }

    private func begin(_ test: ProviderUnderTest) async throws -> TokenAnswer {
        try await test.redeem(try await test.code(scope: "openid email profile offline_access"))
    }

    /// The new token has the scopes and the audience that were asked for, of the same user. There is no refresh token
    /// and no ID token with it.
    func testANarrowerToken() async throws {
        let test = try await provider()
        let whole = try await begin(test)
        let narrow = try await test.exchange(
            whole.accessToken, [("scope", "openid email"), ("audience", "https://mini.example")])
        XCTAssertNil(narrow.refreshToken)
        XCTAssertNil(narrow.idToken)
        XCTAssertEqual(
            narrow.json,
            .object([
                "access_token": .string(narrow.accessToken), "token_type": .string("Bearer"),
                "expires_in": .int(900), "scope": .string("openid email"),
                "issued_token_type": .string(ProviderUnderTest.accessTokenType),
            ]))
        let (old, new) = (try decoded(whole.accessToken).claims, try decoded(narrow.accessToken).claims)
        XCTAssertEqual(new["aud"], .string("https://mini.example"))
        XCTAssertEqual(new["scope"], .string("openid email"))
        XCTAssertEqual(new["act"], .object(["sub": .string("app")]))
        for name in ["sub", "iss", "client_id", "auth_time", "acr", "gid"] { XCTAssertEqual(new[name], old[name]) }
        XCTAssertNotEqual(new["jti"], old["jti"])
        let fault = try await test.bearerFault(narrow.accessToken)
        XCTAssertEqual(fault, .invalidToken, "it is for another service")
        XCTAssertTrue(
            test.events.all.withLock { events in
                events.contains { if case .granted("app", .tokenExchange, _) = $0 { true } else { false } }
            })
    }

    /// Without parameters the new token has all scopes but `offline_access`, which stands for refresh tokens, and the
    /// client's audiences.
    func testWhatANewTokenHasIfNobodyAsks() async throws {
        let test = try await provider()
        let narrow = try await test.exchange(try await begin(test).accessToken)
        XCTAssertEqual(narrow.scopes, ["openid", "email", "profile"])
        XCTAssertEqual(
            try decoded(narrow.accessToken).claims["aud"],
            .array([ProviderUnderTest.api, "https://mini.example", ProviderUnderTest.issuer].map { .string($0) }))
    }

    /// The new token ends when the old one does, even if it was issued late.
    func testTheNewTokenLivesNoLonger() async throws {
        let test = try await provider()
        let whole = try await begin(test)
        try test.change("app") { $0.lifetimes.accessToken = 600 }
        let young = try await test.exchange(whole.accessToken)
        XCTAssertEqual(young.lifetime, 600)
        test.pass(seconds: 700)
        let late = try await test.exchange(whole.accessToken)
        XCTAssertEqual(late.lifetime, 200)
        XCTAssertEqual(
            try decoded(late.accessToken).claims["exp"], try decoded(whole.accessToken).claims["exp"])
        test.pass(seconds: 199)
        let alive = try await test.bearerFault(late.accessToken)
        XCTAssertNil(alive)
        test.pass(seconds: 1)
        let dead = try await test.bearerFault(late.accessToken)
        XCTAssertEqual(dead, .invalidToken)
        let over = try await test.fault { try await test.exchange(whole.accessToken) }
        XCTAssertEqual(over, .invalidRequest)
    }

    /// More scopes than the old token has are refused, also if the user has granted them, and so are audiences that are
    /// not registered for the client.
    func testNothingWider() async throws {
        let test = try await provider()
        let whole = try await begin(test)
        let narrow = try await test.refresh(try XCTUnwrap(whole.refreshToken), scope: "openid email")
        let cases: [([(String, String)], TokenFault.Code)] = [
            ([("scope", "openid profile")], .invalidScope), ([("scope", "openid offline_access")], .invalidScope),
            ([("scope", "openid admin")], .invalidScope), ([("audience", "https://evil.example")], .invalidTarget),
            ([("resource", "https://evil.example")], .invalidTarget),
            ([("audience", ProviderUnderTest.api), ("resource", ProviderUnderTest.api)], .invalidTarget),
        ]
        for (more, code) in cases {
            let fault = try await test.fault { try await test.exchange(narrow.accessToken, more) }
            XCTAssertEqual(fault, code, "\(more)")
        }
        // A scope that the operator has taken from the client since then is not handed on.
        try test.change("app") { $0.scopes = ["openid", "profile", "offline_access"] }
        let rest = try await test.exchange(narrow.accessToken)
        XCTAssertEqual(rest.scopes, ["openid"])
    }

    /// Malformed requests, and tokens that cannot be exchanged.
    func testWhatIsNotExchanged() async throws {
        let test = try await provider()
        let whole = try await begin(test)
        let exchanged = try await test.exchange(whole.accessToken)
        let type = "urn:ietf:params:oauth:token-type:"
        let cases: [(String?, [(String, String)])] = [
            (exchanged.accessToken, []), (whole.idToken, []), (whole.refreshToken, []), ("x", []),
            (whole.accessToken, [("subject_token_type", type + "jwt")]),
            (whole.idToken, [("subject_token_type", type + "id_token")]),
            (whole.refreshToken, [("subject_token_type", type + "refresh_token")]),
            (whole.accessToken, [("requested_token_type", type + "refresh_token")]),
            (whole.accessToken, [("requested_token_type", type + "id_token")]),
            (whole.accessToken, [("actor_token", whole.accessToken)]), (whole.accessToken, [("subject_token", "")]),
        ]
        for (token, more) in cases {
            let fault = try await test.fault { try await test.exchange(token, more) }
            XCTAssertEqual(fault, .invalidRequest, "\(more)")
        }
        let phone = try await test.redeem(try await test.code(of: "phone"), by: "phone")
        let foreign = try await test.fault { try await test.exchange(phone.accessToken) }
        XCTAssertEqual(foreign, .invalidRequest)
        try test.change("phone") { $0.grants = [.authorizationCode] }
        let notAllowed = try await test.fault { try await test.exchange(phone.accessToken, by: "phone") }
        XCTAssertEqual(notAllowed, .unauthorizedClient)
    }

    /// A service can exchange a token that was sent to it, for a service that it calls itself. The new token is the
    /// service's, and ends with the app's grant, and when the app is disabled.
    func testAServiceExchangesATokenThatItWasSent() async throws {
        let test = try await provider()
        let whole = try await begin(test)
        try test.change("api") {
            $0.audiences = ["https://deep.example"]
            $0.subject = .pairwise
        }
        let further = try await test.exchange(whole.accessToken, by: "api")
        let claims = try decoded(further.accessToken).claims
        XCTAssertEqual(claims["aud"], .string("https://deep.example"))
        XCTAssertEqual(claims["client_id"], .string("api"))
        XCTAssertNotEqual(claims["sub"], try decoded(whole.accessToken).claims["sub"])
        let again = try await test.fault { try await test.exchange(further.accessToken, by: "api") }
        XCTAssertEqual(again, .invalidRequest)
        try test.change("app") { $0.isDisabled = true }
        let disabled = try await test.isActive(further.accessToken, by: "api")
        try test.change("app") { $0.isDisabled = false }
        let enabled = try await test.isActive(further.accessToken, by: "api")
        try await test.revoke(whole.accessToken)
        let revoked = try await test.isActive(further.accessToken, by: "api")
        XCTAssertEqual([disabled, enabled, revoked], [false, true, false])
        try test.change("api") { $0.resources = ["https://elsewhere.example"] }
        let next = try await begin(test)
        let elsewhere = try await test.fault { try await test.exchange(next.accessToken, by: "api") }
        XCTAssertEqual(elsewhere, .invalidRequest)
    }

    /// A revoked user or grant gives no new tokens.
    func testNothingFromARevokedToken() async throws {
        let test = try await provider()
        let whole = try await begin(test)
        test.events.revoked.withLock { _ = $0.insert("alice@example.com") }
        let user = try await test.fault { try await test.exchange(whole.accessToken) }
        test.events.revoked.withLock { $0 = [] }
        try await test.revoke(whole.refreshToken)
        let grant = try await test.fault { try await test.exchange(whole.accessToken) }
        XCTAssertEqual([user, grant], [.invalidRequest, .invalidRequest])
    }
}

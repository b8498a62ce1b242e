import MPinOpenID
import MPinStore
import MPinWire
import XCTest

/// Tests that a client gets by the parameter `claims` no more than its user has allowed, and an exchanged token no more
/// than its scopes stand for.
final class ClaimsConsentTests: XCTestCase {
    private let alice = "alice@example.com"
    private let wish =
        "{\"userinfo\":{\"email\":null,\"name\":null,\"groups\":null,\"shoe_size\":null},\"id_token\":{\"picture\":{}}}"

    /// A client of somebody else.
    private func foreign() async throws -> ProviderUnderTest { try await ProviderUnderTest { $0.isFirstParty = false } }

    private func request(_ test: ProviderUnderTest, _ more: [(String, String)]) async throws -> AuthorizationRequest {
        let members = [
            ("client_id", "app"), ("redirect_uri", ProviderUnderTest.uri), ("response_type", "code"),
            ("scope", "openid"),
        ]
        let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(members + more)))
        guard case .accepted(let request) = try await test.provider.read(parameters).reading else {
            throw ProviderUnderTest.Failure(text: "refused")
        }
        return request
    }

    private func step(_ test: ProviderUnderTest, _ request: AuthorizationRequest) async throws -> AuthorizationStep {
        let login = UserLogin(userID: alice, mpinID: "00", time: test.now)
        let progress = LoginProgress(fresh: login, isByNumber: false)
        return try await test.provider.step(request, of: try test.client(), progress)
    }

    private func consented(_ test: ProviderUnderTest) async throws -> [String] {
        try await test.provider.consents.list(of: alice, at: test.now).flatMap(\.scopes)
    }

    /// Whoever has allowed `openid` is asked again when the client wants claims of other scopes, and is not asked for the
    /// same a second time. A scope that the client may not have is not asked for, and a claim that nobody knows is none.
    func testClaimsNeedTheConsentToTheirScopes() async throws {
        let test = try await foreign()
        let login = UserLogin(userID: alice, mpinID: "00", time: test.now)
        let plain = try await request(test, [])
        try await test.provider.allow(plain, of: try test.client(), by: login)
        let known = try await step(test, plain)
        let wanting = try await request(test, [("claims", wish)])
        let asked = try await step(test, wanting)
        XCTAssertEqual([known, asked], [.answer(login), .consent(login)])
        try await test.provider.allow(wanting, of: try test.client(), by: login)
        let scopes = try await consented(test)
        XCTAssertEqual(scopes, ["email", "openid", "profile"])
        let again = try await step(test, wanting)
        XCTAssertEqual(again, .answer(login))
        let silent = try await request(test, [("claims", wish), ("prompt", "none")])
        let silence = try await step(test, silent)
        XCTAssertEqual(silence, .answer(login))
        try test.change("app") { $0.scopes.append("groups") }
        let groups = try await step(test, silent)
        guard case .refusal(let fault) = groups else { return XCTFail("\(groups)") }
        XCTAssertEqual(fault.code, .consentRequired)
    }

    /// A grant of an earlier version has claims that its user was not asked about: they are left out, and the login goes
    /// on. It is the same when the operator gives the client further scopes later.
    func testClaimsWithoutAConsentAreLeftOut() async throws {
        let test = try await foreign()
        let plain = try await request(test, [])
        let (_, session) = try await test.begin()
        try await test.provider.allow(plain, of: try test.client(), by: session.login)
        let code = try await unasked(test, session)
        let answer = try await test.redeem(code)
        let claims = try await test.provider.userinfo(answer.accessToken)
        XCTAssertEqual(names(claims), ["sub"])
        XCTAssertNil(try decoded(answer.idToken).claims["picture"])
        try await test.provider.consents.allow(["openid", "email"], of: try test.client(), by: alice, at: test.now)
        let more = try await test.provider.userinfo(answer.accessToken)
        XCTAssertEqual(names(more), ["email", "sub"])
        try test.change("app") { $0.scopes.append("groups") }
        let same = try await test.provider.userinfo(answer.accessToken)
        XCTAssertEqual(names(same), ["email", "sub"])
    }

    /// Returns a code for a request with claims, as if the user had not been asked about them.
    private func unasked(_ test: ProviderUnderTest, _ session: BrowserSession) async throws -> String {
        let more = [
            ("claims", wish), ("code_challenge", ProviderUnderTest.challenge), ("code_challenge_method", "S256"),
        ]
        let wanting = try await request(test, more)
        _ = try await test.provider.sessions.open("app", with: session.id, at: test.now)
        let answer = try await test.provider.answer(wanting, session.login, sessionID: session.id)
        return try XCTUnwrap(answer.first { $0.0 == "code" }?.1)
    }

    private func names(_ claims: JSONValue) -> [String] {
        guard case .object(let members) = claims else { return [] }
        return members.keys.sorted()
    }

    /// The operator's own clients get what they ask for, as before.
    func testTheOperatorsOwnClientsNeedNoConsent() async throws {
        let test = try await ProviderUnderTest()
        let answer = try await test.redeem(try await test.code(alice, [("claims", wish)]))
        let claims = try await test.provider.userinfo(answer.accessToken)
        XCTAssertEqual(names(claims), ["email", "name", "sub"])
    }

    /// An exchanged token can do less: claims that only the first token's request has named stay with that one. A token
    /// that was renewed with fewer scopes has no claims of those that it has not.
    func testANarrowerTokenHasNoClaimsOfItsOwn() async throws {
        let test = try await ProviderUnderTest { $0.grants.insert(.tokenExchange) }
        let named = "{\"userinfo\":{\"name\":null,\"email\":null}}"
        let whole = try await test.redeem(
            try await test.code(alice, scope: "openid email offline_access", [("claims", named)]))
        let all = try await test.provider.userinfo(whole.accessToken)
        XCTAssertEqual(names(all), ["email", "email_verified", "name", "sub"])
        for (scope, expected) in [("openid", ["sub"]), ("openid email", ["email", "email_verified", "sub"])] {
            let narrow = try await test.exchange(whole.accessToken, [("scope", scope)])
            let claims = try await test.provider.userinfo(narrow.accessToken)
            XCTAssertEqual(names(claims), expected)
        }
        let renewed = try await test.refresh(try XCTUnwrap(whole.refreshToken), scope: "openid")
        let rest = try await test.provider.userinfo(renewed.accessToken)
        XCTAssertEqual(names(rest), ["name", "sub"])
    }

    /// An exchanged token opens userinfo only if the provider is one of its audiences. A login's own token opens it,
    /// whatever its audiences are.
    func testUserinfoIsForTokensThatAreForTheProvider() async throws {
        let mini = "https://mini.example"
        let test = try await ProviderUnderTest {
            $0.grants.insert(.tokenExchange)
            $0.audiences = [mini, ProviderUnderTest.issuer]
        }
        let whole = try await test.redeem(try await test.code(alice, scope: "openid email"))
        let cases: [([(String, String)], BearerFault?)] = [
            ([], nil), ([("audience", ProviderUnderTest.issuer)], nil), ([("audience", mini)], .invalidToken),
            ([("resource", mini)], .invalidToken), ([("audience", mini), ("scope", "openid")], .invalidToken),
        ]
        for (more, expected) in cases {
            let token = try await test.exchange(whole.accessToken, more).accessToken
            let fault = try await test.bearerFault(token)
            XCTAssertEqual(fault, expected, "\(more)")
        }
        try test.change("app") { $0.audiences = [mini] }
        let elsewhere = try await test.redeem(try await test.code(alice, scope: "openid email"))
        let own = try await test.bearerFault(elsewhere.accessToken)
        XCTAssertNil(own)
        let exchanged = try await test.exchange(elsewhere.accessToken)
        let narrow = try await test.bearerFault(exchanged.accessToken)
        XCTAssertEqual(narrow, .invalidToken)
    }
}

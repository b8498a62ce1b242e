import MPinOpenID
import MPinWire
import XCTest

/// Tests refresh tokens. Row numbers are those of the checklist by which the provider was built; each comment says what
/// its row demands.
final class RefreshTests: XCTestCase {
    private func begin(_ test: ProviderUnderTest, scope: String = "openid email offline_access") async throws -> String
    {
        let answer = try await test.redeem(try await test.code(scope: scope, pkce: true, [("nonce", "n")]))
        return try XCTUnwrap(answer.refreshToken)
    }

    private func next(_ test: ProviderUnderTest, _ token: String) async throws -> String {
        let answer = try await test.refresh(token)
        return try XCTUnwrap(answer.refreshToken)
    }

    /// Row 56: a client gets a refresh token only with the scope `offline_access`, or if the operator has switched that
    /// off, and never without the grant `refresh_token`.
    func testRow56OnlyWhoAskedForIt() async throws {
        let test = try await ProviderUnderTest()
        let without = try await test.redeem(try await test.code())
        XCTAssertNil(without.refreshToken)
        try test.change("app") { $0.refreshesWithoutOfflineAccess = true }
        let own = try await test.redeem(try await test.code())
        XCTAssertNotNil(own.refreshToken)
        try test.change("app") { $0.grants = [.authorizationCode] }
        let once = try await test.redeem(try await test.code())
        XCTAssertNil(once.refreshToken)
    }

    /// Row 57: each use gives a new refresh token, and only the client that it was issued to can use it.
    func testRow57EachUseGivesAnother() async throws {
        let test = try await ProviderUnderTest()
        let first = try await begin(test)
        let foreign = try await test.fault { try await test.refresh(first, by: "phone") }
        XCTAssertEqual(foreign, .invalidGrant)
        var token = first
        for _ in 0..<5 {
            test.pass(seconds: 100)
            let newer = try await next(test, token)
            XCTAssertNotEqual(newer, token)
            token = newer
        }
        for wrong in ["x", "", token + "x", String(token.dropLast(2)), "\(token).\(token)"] {
            let fault = try await test.fault { try await test.refresh(wrong) }
            XCTAssertEqual(fault, wrong.isEmpty ? .invalidRequest : .invalidGrant, wrong)
        }
    }

    /// Row 58: within 30 s a used token is accepted again, because answers get lost and two tabs refresh at once.
    func testRow58Overlap() async throws {
        let test = try await ProviderUnderTest()
        let first = try await begin(test)
        async let one = test.refresh(first).refreshToken
        async let two = test.refresh(first).refreshToken
        let tokens = try await [one, two].compactMap(\.self)
        XCTAssertEqual(Set(tokens).count, 2)
        let left = try XCTUnwrap(tokens.first)
        test.pass(seconds: 29)
        let third = try await next(test, first)
        let child = try await next(test, third)
        // `left` and `third` came from the same token. `third` was used, and for 30 s `left` can be used, too.
        let sibling = try await next(test, left)
        let last = try await next(test, child)
        XCTAssertNotEqual(sibling, last)
        // `first` is two uses back, so it is refused, and the whole family is revoked.
        let old = try await test.fault { try await test.refresh(first) }
        XCTAssertEqual(old, .invalidGrant)
        let dead = try await test.fault { try await test.refresh(last) }
        XCTAssertEqual(dead, .invalidGrant)
    }

    /// Row 58: in those 30 s a client gets at most 16 tokens for one. Whoever asks for more has copied it.
    func testRow58NoMoreThanSixteen() async throws {
        let test = try await ProviderUnderTest()
        let first = try await begin(test)
        var tokens: [String] = []
        for _ in 0..<16 { tokens.append(try await next(test, first)) }
        XCTAssertEqual(Set(tokens).count, 16)
        for token in [first, tokens[0]] {
            let fault = try await test.fault { try await test.refresh(token) }
            XCTAssertEqual(fault, .invalidGrant)
        }
    }

    /// Row 59: a token that is used again after 30 s must have been copied, so the whole family is revoked.
    func testRow59ReuseEndsTheFamily() async throws {
        let test = try await ProviderUnderTest()
        let first = try await begin(test)
        let answer = try await test.refresh(first)
        let second = try XCTUnwrap(answer.refreshToken)
        test.pass(seconds: 30)
        let reuse = try await test.fault { try await test.refresh(first) }
        XCTAssertEqual(reuse, .invalidGrant)
        let owner = try await test.fault { try await test.refresh(second) }
        XCTAssertEqual(owner, .invalidGrant)
        let access = try await test.bearerFault(answer.accessToken)
        XCTAssertEqual(access, .invalidToken)
        XCTAssertTrue(
            test.events.all.withLock { events in
                events.contains { if case .reused("app", .refreshToken, _?) = $0 { true } else { false } }
            })
    }

    /// Row 59: each login has its own family, so revoking one leaves the other valid.
    func testRow59FamiliesAreApart() async throws {
        let test = try await ProviderUnderTest()
        let (one, two) = (try await begin(test), try await begin(test))
        _ = try await next(test, one)
        test.pass(seconds: 31)
        _ = try await test.fault { try await test.refresh(one) }
        _ = try await next(test, two)
    }

    /// Row 59: a family ends after 30 days without use, and after 180 days in any case.
    func testRow59Ends() async throws {
        let test = try await ProviderUnderTest()
        let day = 86_400
        let idle = try await begin(test)
        var token = try await begin(test)
        for _ in 0..<6 {
            test.pass(seconds: 29 * day)
            token = try await next(test, token)
        }
        let late = try await test.fault { try await test.refresh(idle) }
        XCTAssertEqual(late, .invalidGrant)
        test.pass(seconds: 6 * day - 1)
        token = try await next(test, token)
        test.pass(seconds: 1)
        let over = try await test.fault { try await test.refresh(token) }
        XCTAssertEqual(over, .invalidGrant)
    }

    /// Row 60: a refresh request may ask for fewer scopes, but not for more. Its ID token has the old `auth_time` and
    /// no nonce.
    func testRow60ScopesAndTheIDToken() async throws {
        let test = try await ProviderUnderTest()
        let login = UserLogin(userID: "alice@example.com", mpinID: "00", time: test.now)
        let start = login.time.epochSeconds
        let first = try await begin(test)
        let wider = try await test.fault { try await test.refresh(first, scope: "openid profile") }
        XCTAssertEqual(wider, .invalidScope)
        test.pass(seconds: 50)
        let narrow = try await test.refresh(first, scope: "openid")
        XCTAssertEqual(narrow.scopes, ["openid"])
        let claims = try decoded(narrow.idToken).claims
        XCTAssertNil(claims["nonce"])
        XCTAssertEqual(claims["auth_time"], .int(start))
        XCTAssertEqual(claims["iat"], .int(start + 50))
        // The scopes that the last request left out are still granted.
        let whole = try await test.refresh(try XCTUnwrap(narrow.refreshToken))
        XCTAssertEqual(whole.scopes, ["openid", "email", "offline_access"])
        let events = test.events.all.withLock { $0 }
        XCTAssertEqual(events.filter { $0 == .granted(clientID: "app", grant: .refreshToken, login) }.count, 2)
    }

    /// A revoked user gets no tokens. The refused refresh token is not used up: it works again when the user is no
    /// longer revoked.
    func testARevokedUserGetsNothing() async throws {
        let test = try await ProviderUnderTest()
        let token = try await begin(test)
        let code = try await test.code()
        test.events.revoked.withLock { _ = $0.insert("alice@example.com") }
        let refresh = try await test.fault { try await test.refresh(token) }
        let redeem = try await test.fault { try await test.redeem(code) }
        XCTAssertEqual([refresh, redeem], [.invalidGrant, .invalidGrant])
        test.events.revoked.withLock { $0 = [] }
        // After 30 s a token that was used is not accepted any more.
        test.pass(seconds: 31)
        _ = try await next(test, token)
    }
}

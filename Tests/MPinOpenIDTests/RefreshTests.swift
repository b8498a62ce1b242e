import MPinOpenID
import MPinWire
import XCTest

/// Refresh tokens: rows 56 to 60.
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

    /// Row 56.
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

    /// Row 57.
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

    /// Row 58: answers get lost, and tabs refresh at once.
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
        // Its siblings are as good for a moment as the one that was used.
        let sibling = try await next(test, left)
        let last = try await next(test, child)
        XCTAssertNotEqual(sibling, last)
        // But what lies two uses back is not.
        let old = try await test.fault { try await test.refresh(first) }
        XCTAssertEqual(old, .invalidGrant)
        let dead = try await test.fault { try await test.refresh(last) }
        XCTAssertEqual(dead, .invalidGrant)
    }

    /// Row 59: somebody has a copy.
    func testRow59ReuseEndsTheFamily() async throws {
        let test = try await ProviderUnderTest()
        let first = try await begin(test)
        let answer = try await test.refresh(first)
        let second = try XCTUnwrap(answer.refreshToken)
        test.pass(seconds: 31)
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

    /// Row 59: a login of another device is another family.
    func testRow59FamiliesAreApart() async throws {
        let test = try await ProviderUnderTest()
        let (one, two) = (try await begin(test), try await begin(test))
        _ = try await next(test, one)
        test.pass(seconds: 31)
        _ = try await test.fault { try await test.refresh(one) }
        _ = try await next(test, two)
    }

    /// Row 59: idle and absolute ends.
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

    /// Row 60.
    func testRow60ScopesAndTheIDToken() async throws {
        let test = try await ProviderUnderTest()
        let start = test.now.epochSeconds
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
        // What was left out once is still granted.
        let whole = try await test.refresh(try XCTUnwrap(narrow.refreshToken))
        XCTAssertEqual(whole.scopes, ["openid", "email", "offline_access"])
    }

    /// Who may no longer log in gets nothing, and nothing of theirs is spent.
    func testARevokedUserGetsNothing() async throws {
        let test = try await ProviderUnderTest()
        let token = try await begin(test)
        let code = try await test.code()
        test.events.revoked.withLock { _ = $0.insert("alice@example.com") }
        let refresh = try await test.fault { try await test.refresh(token) }
        let redeem = try await test.fault { try await test.redeem(code) }
        XCTAssertEqual([refresh, redeem], [.invalidGrant, .invalidGrant])
        test.events.revoked.withLock { $0 = [] }
        _ = try await next(test, token)
    }
}

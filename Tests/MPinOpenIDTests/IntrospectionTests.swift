import MPinOpenID
import MPinWire
import XCTest

/// Tests the introspection endpoint. Row 62 of the checklist by which the provider was built demands: only clients whose
/// tokens or resources are concerned get an answer; all other tokens are `{"active":false}`, and nothing else.
final class IntrospectionTests: XCTestCase {
    private func provider() async throws -> ProviderUnderTest {
        try await ProviderUnderTest { $0.audiences = [ProviderUnderTest.api, "https://other.example"] }
    }

    /// The client of a token, and a service that is one of its audiences, learn what the token says.
    func testRow62AnAccessToken() async throws {
        let test = try await provider()
        let answer = try await test.redeem(try await test.code(scope: "openid email"))
        let claims = try decoded(answer.accessToken).claims
        var members = claims
        members["gid"] = nil
        members["active"] = .bool(true)
        members["token_type"] = .string("Bearer")
        for id in ["app", "api"] {
            let found = try await test.introspect(answer.accessToken, by: id)
            XCTAssertEqual(found, .object(members), id)
        }
        XCTAssertEqual(claims["scope"], .string("openid email"))
        XCTAssertEqual(claims["client_id"], .string("app"))
        XCTAssertEqual(claims["exp"], .int(test.now.epochSeconds + 900))
    }

    /// A token that is expired or revoked is not active, nor one whose user or client has lost the right to it.
    func testRow62TokensThatHaveEnded() async throws {
        let test = try await provider()
        let answer = try await test.redeem(try await test.code())
        func isActive() async throws -> Bool { try await test.isActive(answer.accessToken, by: "api") }
        test.events.revoked.withLock { _ = $0.insert("alice@example.com") }
        let ofRevokedUser = try await isActive()
        test.events.revoked.withLock { $0 = [] }
        try test.change("app") { $0.isDisabled = true }
        let ofDisabledClient = try await isActive()
        try test.change("app") { $0.isDisabled = false }
        test.pass(seconds: 899)
        let young = try await isActive()
        test.pass(seconds: 1)
        let old = try await isActive()
        XCTAssertEqual([ofRevokedUser, ofDisabledClient, young, old], [false, false, true, false])
        let next = try await test.redeem(try await test.code())
        let before = try await test.isActive(next.accessToken, by: "api")
        try await test.revoke(next.accessToken)
        let after = try await test.isActive(next.accessToken, by: "api")
        XCTAssertEqual([before, after], [true, false])
    }

    /// Tokens of others are not active: the asking client must be the token's own, or one of its audiences.
    func testRow62TokensOfOthers() async throws {
        let test = try await provider()
        let answer = try await test.redeem(try await test.code(of: "phone"), by: "phone")
        for id in ["app", "api"] {
            let foreign = try await test.isActive(answer.accessToken, by: id)
            XCTAssertFalse(foreign, id)
        }
        let own = try await test.redeem(try await test.code())
        try test.change("api") { $0.resources = ["https://api.example/"] }
        let elsewhere = try await test.isActive(own.accessToken, by: "api")
        XCTAssertFalse(elsewhere)
    }

    /// Nobody may ask without a secret.
    func testRow62StrangersAreRefused() async throws {
        let test = try await provider()
        let answer = try await test.redeem(try await test.code(of: "phone"), by: "phone")
        let anyone = try await test.fault { try await test.introspect(answer.accessToken, by: "phone") }
        let wrong = try await test.fault { try await test.introspect(answer.accessToken, secret: "wrong") }
        let nothing = try await test.fault { try await test.introspect("") }
        XCTAssertEqual([anyone, wrong, nothing], [.invalidClient, .invalidClient, .invalidRequest])
    }

    /// A refresh token is active as long as the token endpoint accepts it, and only its own client learns that.
    func testRow62RefreshTokens() async throws {
        let test = try await provider()
        let answer = try await test.redeem(try await test.code(scope: "openid email offline_access"))
        let first = try XCTUnwrap(answer.refreshToken)
        let found = try await test.introspect(first)
        XCTAssertEqual(
            found,
            .object([
                "active": .bool(true), "iss": .string(ProviderUnderTest.issuer), "client_id": .string("app"),
                "scope": .string("openid email offline_access"),
                "sub": try XCTUnwrap(decoded(answer.accessToken).claims["sub"]),
            ]))
        let service = try await test.isActive(first, by: "api")
        XCTAssertFalse(service)
        let second = try await test.refresh(first)
        let overlap = try await test.isActive(first)
        test.pass(seconds: 31)
        let used = try await test.isActive(first)
        let current = try await test.isActive(second.refreshToken)
        XCTAssertEqual([overlap, used, current], [true, false, true])
        test.pass(seconds: 31 * 86_400)
        let idle = try await test.isActive(second.refreshToken)
        XCTAssertFalse(idle)
    }
}

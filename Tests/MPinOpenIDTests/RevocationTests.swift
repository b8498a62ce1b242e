import MPinOpenID
import XCTest

/// Tests the revocation endpoint. Row 61 of the checklist by which the provider was built demands: the client proves its
/// identity; an unknown token is no error; a refresh token ends its family; a token of another client is refused.
final class RevocationTests: XCTestCase {
    private func begin(_ test: ProviderUnderTest) async throws -> TokenAnswer {
        try await test.redeem(try await test.code(scope: "openid email offline_access"))
    }

    private func revocations(_ test: ProviderUnderTest) -> Int {
        test.events.all.withLock { events in
            events.count { if case .revoked("app", _) = $0 { true } else { false } }
        }
    }

    func testRow61ARefreshTokenEndsItsFamily() async throws {
        let test = try await ProviderUnderTest()
        let first = try await begin(test)
        let second = try await test.refresh(try XCTUnwrap(first.refreshToken))
        let other = try await begin(test)
        try await test.revoke(second.refreshToken)
        for answer in [first, second] {
            let bearer = try await test.bearerFault(answer.accessToken)
            XCTAssertEqual(bearer, .invalidToken)
            let refresh = try await test.fault { try await test.refresh(try XCTUnwrap(answer.refreshToken)) }
            XCTAssertEqual(refresh, .invalidGrant)
        }
        // Another login of the same user at the same client goes on.
        let untouched = try await test.bearerFault(other.accessToken)
        XCTAssertNil(untouched)
        // The second time there is nothing to revoke, which is no error.
        try await test.revoke(second.refreshToken)
        XCTAssertEqual(revocations(test), 1)
    }

    /// A client that has lost the answer to a refresh has only the used token, and can end the family with it.
    func testRow61AUsedRefreshTokenEndsItsFamily() async throws {
        let test = try await ProviderUnderTest()
        let first = try await begin(test)
        let second = try await test.refresh(try XCTUnwrap(first.refreshToken))
        test.pass(seconds: 100)
        try await test.revoke(first.refreshToken)
        let dead = try await test.fault { try await test.refresh(try XCTUnwrap(second.refreshToken)) }
        XCTAssertEqual(dead, .invalidGrant)
    }

    func testRow61AnAccessTokenEndsItsGrant() async throws {
        let test = try await ProviderUnderTest()
        let answer = try await begin(test)
        try await test.revoke(answer.accessToken)
        let bearer = try await test.bearerFault(answer.accessToken)
        XCTAssertEqual(bearer, .invalidToken)
        let refresh = try await test.fault { try await test.refresh(try XCTUnwrap(answer.refreshToken)) }
        XCTAssertEqual(refresh, .invalidGrant)
        XCTAssertEqual(revocations(test), 1)
    }

    /// A small app that has got a narrower token can end that token, and not the login of the app.
    func testRow61AnExchangedTokenEndsAlone() async throws {
        let test = try await ProviderUnderTest { $0.grants.insert(.tokenExchange) }
        let answer = try await begin(test)
        let (one, two) = (
            try await test.exchange(answer.accessToken), try await test.exchange(answer.accessToken)
        )
        try await test.revoke(one.accessToken)
        let ended = try await test.bearerFault(one.accessToken)
        XCTAssertEqual(ended, .invalidToken)
        for alive in [two.accessToken, answer.accessToken] {
            let fault = try await test.bearerFault(alive)
            XCTAssertNil(fault)
        }
        // It stays revoked for as long as it would have lived.
        test.pass(seconds: 899)
        let later = [try await test.bearerFault(one.accessToken), try await test.bearerFault(two.accessToken)]
        XCTAssertEqual(later, [.invalidToken, nil])
        try await test.revoke(answer.refreshToken)
        let all = try await test.bearerFault(two.accessToken)
        XCTAssertEqual(all, .invalidToken)
    }

    func testRow61TokensThatAreNobodys() async throws {
        let test = try await ProviderUnderTest()
        let answer = try await begin(test)
        for unknown in ["x", "a.b.c", String(answer.accessToken.dropLast(4)), "\(answer.refreshToken ?? "")x"] {
            try await test.revoke(unknown)
        }
        test.pass(seconds: 900)
        try await test.revoke(answer.accessToken)
        XCTAssertEqual(revocations(test), 0)
        _ = try await test.refresh(try XCTUnwrap(answer.refreshToken))
    }

    func testRow61TokensOfOthers() async throws {
        let test = try await ProviderUnderTest { $0.audiences = [ProviderUnderTest.api] }
        let answer = try await begin(test)
        for id in ["phone", "api"] {
            for token in [answer.accessToken, answer.refreshToken] {
                let fault = try await test.fault { try await test.revoke(token, by: id) }
                XCTAssertEqual(fault, .invalidRequest, id)
            }
        }
        let stranger = try await test.fault { try await test.revoke(answer.refreshToken, secret: "wrong") }
        XCTAssertEqual(stranger, .invalidClient)
        let nothing = try await test.fault { try await test.revoke("") }
        XCTAssertEqual(nothing, .invalidRequest)
        let alive = try await test.bearerFault(answer.accessToken)
        XCTAssertNil(alive)
        XCTAssertEqual(revocations(test), 0)
    }
}

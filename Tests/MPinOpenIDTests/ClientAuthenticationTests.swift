import MPinOpenID
import XCTest

/// Tests how clients prove their identity at the token endpoint, and which grants they may use. Row numbers are those
/// of the checklist by which the provider was built; each comment says what its row demands.
final class ClientAuthenticationTests: XCTestCase {
    private func fault(
        _ test: ProviderUnderTest, header: String? = nil, _ members: [(String, String)]
    ) async throws -> TokenFault.Code? {
        let parameters = try XCTUnwrap(RequestParameters(RequestParameters.query(members)))
        return try await test.fault { try await test.provider.token(parameters, header: header) }
    }

    /// Row 41: each client must use the method that it is registered for. Row 42: two methods at once are an error. Row
    /// 43: an unknown client gets the same error as one with a wrong secret.
    func testRows41To43WaysToSayWhoItIs() async throws {
        let test = try await ProviderUnderTest()
        let grant = [("grant_type", "authorization_code"), ("code", "x"), ("redirect_uri", ProviderUnderTest.uri)]
        let secret = ProviderUnderTest.secret
        let basic = ProviderUnderTest.basic("app", secret)
        // The credentials are right, so the error is about the code.
        let right = try await fault(test, header: basic, grant)
        XCTAssertEqual(right, .invalidGrant)
        let lower = try await fault(test, header: "basic " + basic.dropFirst(6), grant + [("client_id", "app")])
        XCTAssertEqual(lower, .invalidGrant)
        let refused: [(String?, [(String, String)], TokenFault.Code)] = [
            (nil, [], .invalidClient), (nil, [("client_id", "app")], .invalidClient),
            (nil, [("client_id", "app"), ("client_secret", secret)], .invalidClient),
            (basic, [("client_secret", secret)], .invalidRequest), (basic, [("client_id", "phone")], .invalidRequest),
            (ProviderUnderTest.basic("app", secret + "x"), [], .invalidClient),
            (ProviderUnderTest.basic("nobody", secret), [], .invalidClient),
            (ProviderUnderTest.basic("phone", ""), [], .invalidClient),
            ("Bearer x", [], .invalidClient), ("Basic !", [], .invalidClient), ("Basic YXBw", [], .invalidClient),
            (nil, [("client_id", "phone"), ("client_secret", "x")], .invalidClient),
        ]
        for (header, members, code) in refused {
            let fault = try await fault(test, header: header, grant + members)
            XCTAssertEqual(fault, code, "\(header ?? "-") \(members)")
        }
        let open = try await fault(test, grant + [("client_id", "phone")])
        XCTAssertEqual(open, .invalidGrant)
        try test.change("app") { $0.authMethod = .post }
        let posted = try await fault(test, grant + [("client_id", "app"), ("client_secret", secret)])
        XCTAssertEqual(posted, .invalidGrant)
        let other = try await fault(test, header: basic, grant)
        XCTAssertEqual(other, .invalidClient)
        try test.change("app") { $0.isDisabled = true }
        let disabled = try await fault(test, grant + [("client_id", "app"), ("client_secret", secret)])
        XCTAssertEqual(disabled, .invalidClient)
    }

    /// Which errors are counted and written to the audit log: guesses, and what somebody may not have. A device that
    /// waits for its user, or whose time is over, is none of these.
    func testWhichErrorsAreRefusals() {
        let refusals: [TokenFault.Code] = [
            .invalidClient, .invalidGrant, .unauthorizedClient, .invalidScope, .invalidTarget, .accessDenied,
        ]
        let others: [TokenFault.Code] = [
            .invalidRequest, .unsupportedGrantType, .authorizationPending, .slowDown, .expiredToken,
        ]
        for code in refusals { XCTAssertTrue(code.isRefusal, code.rawValue) }
        for code in others { XCTAssertFalse(code.isRefusal, code.rawValue) }
    }

    /// Row 44: unknown grant types, and those that the client may not use, are errors. So are parameters that are
    /// missing or sent twice.
    func testRow44Grants() async throws {
        let test = try await ProviderUnderTest { $0.grants = [.authorizationCode] }
        let basic = ProviderUnderTest.basic("app", ProviderUnderTest.secret)
        let grant = [("grant_type", "authorization_code"), ("code", "x"), ("redirect_uri", ProviderUnderTest.uri)]
        let cases: [([(String, String)], TokenFault.Code)] = [
            (grant, .invalidGrant), (Array(grant.dropFirst()), .invalidRequest),
            ([("grant_type", "password")], .unsupportedGrantType), ([], .invalidRequest),
            ([("grant_type", "refresh_token"), ("refresh_token", "x")], .unauthorizedClient),
            ([("grant_type", "authorization_code"), ("code", "x")], .invalidRequest),
            ([("grant_type", "authorization_code"), ("redirect_uri", "x")], .invalidRequest),
            (grant + [("x", "1"), ("x", "2")], .invalidRequest),
        ]
        for (members, code) in cases {
            let fault = try await fault(test, header: basic, members)
            XCTAssertEqual(fault, code, "\(members)")
        }
        XCTAssertTrue(test.events.all.withLock { $0.contains(.refused(clientID: "app", .unsupportedGrantType)) })
    }
}

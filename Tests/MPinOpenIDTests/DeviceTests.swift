import MPinOpenID
import MPinWire
import XCTest

/// Tests the logins of devices without a browser (RFC 8628). Row 74 of the checklist by which the provider was built
/// demands: a user code of at least 20 bits, a page that names the client, and at the token endpoint the errors
/// `authorization_pending`, `slow_down` and `expired_token`.
final class DeviceTests: XCTestCase {
    private func provider() async throws -> ProviderUnderTest {
        let test = try await ProviderUnderTest { $0.grants.insert(.deviceCode) }
        try test.change("phone") {
            $0.grants.insert(.deviceCode)
            $0.isFirstParty = true
        }
        return test
    }

    private func begin(
        _ test: ProviderUnderTest, by id: String = "phone", scope: String = "openid email offline_access"
    ) async throws -> DeviceAnswer {
        let (parameters, header) = try test.credentials([("scope", scope)], by: id)
        return try await test.provider.authorizeDevice(parameters, header: header)
    }

    private static func poll(
        _ test: ProviderUnderTest, _ code: String, by id: String = "phone"
    ) async throws -> TokenAnswer {
        try await test.token([("grant_type", Client.Grant.deviceCode.rawValue), ("device_code", code)], by: id)
    }

    private func fault(
        _ test: ProviderUnderTest, _ code: String, by id: String = "phone"
    ) async throws -> TokenFault.Code? {
        try await test.fault { try await Self.poll(test, code, by: id) }
    }

    /// Returns the request that a person finds by the code, after checking that consent is asked for.
    private func request(_ test: ProviderUnderTest, _ code: UserCode, _ user: String) async throws
        -> AuthorizationRequest
    {
        let read = try await test.provider.read(code)
        let (request, client) = try XCTUnwrap(read)
        let login = UserLogin(userID: user, mpinID: "00", time: test.now)
        var progress = LoginProgress(fresh: login, isByNumber: false)
        let asks = try await test.provider.step(request, of: client, progress)
        XCTAssertEqual(asks, .consent(login))
        progress.isConsented = true
        let answers = try await test.provider.step(request, of: client, progress)
        XCTAssertEqual(answers, .answer(login))
        return request
    }

    /// Allows the device what it asks for. Returns the error that the person is shown, or nil.
    private func allow(
        _ test: ProviderUnderTest, _ request: AuthorizationRequest, by user: String = "alice@example.com"
    ) async throws -> String? {
        let login = UserLogin(userID: user, mpinID: "00", time: test.now)
        try await test.provider.allow(request, of: try test.client("phone"), by: login)
        let answer = try await test.provider.answer(request, login, sessionID: "browser")
        XCTAssertNil(answer.first { $0.0 == "code" })
        return answer.first { $0.0 == "error" }?.1
    }

    /// The device waits, the person allows it, the device gets tokens. Consent is asked for although the client is the
    /// operator's own. The tokens do not belong to the session of the browser.
    func testRow74AWholeLogin() async throws {
        let test = try await provider()
        let device = try await begin(test)
        XCTAssertEqual(
            device.json,
            .object([
                "device_code": .string(device.deviceCode), "user_code": .string(device.userCode.text),
                "verification_uri": .string("https://id.example/device"),
                "verification_uri_complete": .string("https://id.example/device?user_code=\(device.userCode.text)"),
                "expires_in": .int(600), "interval": .int(5),
            ]))
        XCTAssertEqual(device.deviceCode.count, 43)
        let waiting = try await fault(test, device.deviceCode)
        XCTAssertEqual(waiting, .authorizationPending)
        let request = try await request(test, device.userCode, "alice@example.com")
        XCTAssertEqual(request.device?.userCode, device.userCode)
        test.pass(seconds: 30)
        let error = try await allow(test, request)
        XCTAssertNil(error)
        let used = try await test.provider.read(device.userCode)
        XCTAssertNil(used?.client.id)
        let answer = try await Self.poll(test, device.deviceCode)
        XCTAssertEqual(answer.scopes, ["openid", "email", "offline_access"])
        let claims = try decoded(answer.idToken).claims
        XCTAssertEqual(claims["aud"], .string("phone"))
        XCTAssertEqual(claims["auth_time"], .int(test.now.epochSeconds))
        XCTAssertNil(claims["sid"])
        let next = try await test.refresh(try XCTUnwrap(answer.refreshToken), by: "phone")
        XCTAssertNotNil(next.refreshToken)
        XCTAssertTrue(
            test.events.all.withLock { events in
                events.contains { if case .granted("phone", .deviceCode, _) = $0 { true } else { false } }
            })
    }

    /// Consent that was given before, for a login in the browser, does not count: the person must see that this is a
    /// device.
    func testRow74ConsentIsAskedForEachDevice() async throws {
        let test = try await provider()
        for _ in 0..<2 {
            let device = try await begin(test)
            _ = try await allow(test, try await request(test, device.userCode, "alice@example.com"))
        }
    }

    /// A poll that comes too early makes the interval 5 s longer. One second too early is tolerated.
    func testRow74ADeviceThatPollsTooFast() async throws {
        let test = try await provider()
        let device = try await begin(test)
        let begin = test.now
        let polls: [(after: Int, TokenFault.Code)] = [
            (0, .authorizationPending), (4, .authorizationPending), (5, .slowDown), (13, .slowDown),
            (27, .authorizationPending), (40, .slowDown),
        ]
        for (seconds, code) in polls {
            test.pass(seconds: begin.epochSeconds + seconds - test.now.epochSeconds)
            let fault = try await fault(test, device.deviceCode)
            XCTAssertEqual(fault, code, "after \(seconds) s")
        }
        // Once the person has decided, there is nothing to wait for.
        _ = try await allow(test, try await request(test, device.userCode, "alice@example.com"))
        _ = try await Self.poll(test, device.deviceCode)
    }

    /// The codes are valid for ten minutes.
    func testRow74Expiry() async throws {
        let test = try await provider()
        let device = try await begin(test)
        test.pass(seconds: 599)
        let request = try await request(test, device.userCode, "alice@example.com")
        test.pass(seconds: 1)
        let over = try await fault(test, device.deviceCode)
        XCTAssertEqual(over, .expiredToken)
        let page = try await test.provider.read(device.userCode)
        XCTAssertNil(page?.client.id)
        let late = try await allow(test, request)
        XCTAssertEqual(late, "access_denied")
        let still = try await fault(test, device.deviceCode)
        XCTAssertEqual(still, .expiredToken)
        test.pass(seconds: 3600)
        let forgotten = try await fault(test, device.deviceCode)
        XCTAssertEqual(forgotten, .invalidGrant)
    }

    func testRow74ThePersonDeclines() async throws {
        let test = try await provider()
        let device = try await begin(test)
        let request = try await request(test, device.userCode, "alice@example.com")
        try await test.provider.decline(request)
        for _ in 0..<2 {
            let fault = try await fault(test, device.deviceCode)
            XCTAssertEqual(fault, .accessDenied)
        }
        let page = try await test.provider.read(device.userCode)
        XCTAssertNil(page?.client.id)
        let changed = try await allow(test, request)
        XCTAssertEqual(changed, "access_denied")
    }

    /// If two people type the same code, the device is logged in for the one who decides first.
    func testRow74TheFirstDecisionCounts() async throws {
        let test = try await provider()
        let device = try await begin(test)
        let (one, two) = (
            try await request(test, device.userCode, "alice@example.com"),
            try await request(test, device.userCode, "mallory@example.com")
        )
        let first = try await allow(test, one)
        let second = try await allow(test, two, by: "mallory@example.com")
        try await test.provider.decline(two)
        XCTAssertEqual([first, second], [nil, "access_denied"])
        let answer = try await Self.poll(test, device.deviceCode)
        let claims = try await test.provider.userinfo(answer.accessToken)
        XCTAssertEqual(claims["email"], .string("alice@example.com"))
    }

    /// Of 50 requests with the same device code one gets tokens. They are already revoked, because 49 others tried.
    func testRow74OneUse() async throws {
        let test = try await provider()
        let device = try await begin(test)
        _ = try await allow(test, try await request(test, device.userCode, "alice@example.com"))
        let answers = try await withThrowingTaskGroup(of: TokenAnswer?.self) { group in
            for _ in 0..<50 { group.addTask { try? await Self.poll(test, device.deviceCode) } }
            return try await group.reduce(into: [TokenAnswer]()) { if let answer = $1 { $0.append(answer) } }
        }
        XCTAssertEqual(answers.count, 1)
        let fault = try await test.bearerFault(answers.first?.accessToken)
        XCTAssertEqual(fault, .invalidToken)
        XCTAssertTrue(
            test.events.all.withLock { events in
                events.contains { if case .reused("phone", .deviceCode, _) = $0 { true } else { false } }
            })
    }

    /// A code is bound to its client, which must be allowed to use device codes.
    func testRow74WhoMayAsk() async throws {
        let test = try await provider()
        let device = try await begin(test)
        _ = try await allow(test, try await request(test, device.userCode, "alice@example.com"))
        for wrong in [String(device.deviceCode.reversed()), "x", device.userCode.text] {
            let fault = try await fault(test, wrong)
            XCTAssertEqual(fault, .invalidGrant)
        }
        let foreign = try await fault(test, device.deviceCode, by: "app")
        let nothing = try await fault(test, "")
        let notAllowed = try await fault(test, device.deviceCode, by: "api")
        XCTAssertEqual([foreign, nothing, notAllowed], [.invalidGrant, .invalidRequest, .unauthorizedClient])
        _ = try await Self.poll(test, device.deviceCode)
        let service = try await test.fault { try await begin(test, by: "api") }
        let scope = try await test.fault { try await begin(test, scope: "email") }
        let none = try await test.fault { try await begin(test, scope: "") }
        XCTAssertEqual([service, scope, none], [.unauthorizedClient, .invalidScope, .invalidScope])
        let dropped = try await begin(test, scope: "openid admin")
        let request = try await request(test, dropped.userCode, "alice@example.com")
        XCTAssertEqual(request.scopes, ["openid"])
    }

    /// A client that is disabled, and a user who is revoked after the decision, get nothing.
    func testRow74RightsThatHaveEnded() async throws {
        let test = try await provider()
        let (one, two) = (try await begin(test), try await begin(test))
        _ = try await allow(test, try await request(test, one.userCode, "alice@example.com"))
        test.events.revoked.withLock { _ = $0.insert("alice@example.com") }
        let revoked = try await fault(test, one.deviceCode)
        XCTAssertEqual(revoked, .invalidGrant)
        try test.change("phone") { $0.isDisabled = true }
        let page = try await test.provider.read(two.userCode)
        XCTAssertNil(page?.client.id)
        let disabled = try await fault(test, two.deviceCode)
        XCTAssertEqual(disabled, .invalidClient)
    }

    /// A user code has eight of 20 letters, and is read as people type it.
    func testRow74UserCodes() async throws {
        let test = try await provider()
        var codes: Set<UserCode> = []
        for _ in 0..<200 { codes.insert(try await begin(test).userCode) }
        XCTAssertEqual(codes.count, 200)
        let letters = Set(codes.map(\.text).joined())
        XCTAssertEqual(letters, Set("BCDFGHJKLMNPQRSTVWXZ-"))
        let code = try XCTUnwrap(UserCode("BCDF-GHJK"))
        XCTAssertEqual(code.text, "BCDF-GHJK")
        for typed in ["bcdfghjk", "BCDFGHJK", " bcdf ghjk ", "b-c-d-f-g-h-j-k", "BcDf-GhJk"] {
            XCTAssertEqual(UserCode(typed), code, typed)
        }
        for typed in [
            "", "BCDF-GHJ", "BCDF-GHJKL", "ABCD-FGHJ", "BCDF-GHJ0", "BCDF_GHJK", "BCDF-GHJ\u{212a}", "ﬀCDFGHJK",
            String(repeating: "B", count: 1000),
        ] { XCTAssertNil(UserCode(typed), typed) }
    }
}

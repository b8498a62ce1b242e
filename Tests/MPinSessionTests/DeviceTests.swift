import LoopbackServer
import MPinHTTP
import MPinSDK
import MPinSession
import MPinWire
import XCTest

final class DeviceTests: SessionTestCase {
    private let shown = Locked<[DeviceCode]>([])

    /// A session at a provider of OAuth whose user is shown a code.
    private func showing(
        _ change: (inout Provider) -> Void = { _ in }, _ onCode: @escaping @Sendable () -> Void = {}
    ) throws -> AppSession {
        let shown = shown
        var callbacks = SessionCallbacks()
        callbacks.showCode = { code in
            shown.withLock { $0.append(code) }
            onCode()
        }
        let session = try open(nil, callbacks)
        var provider = plain
        change(&provider)
        try session.add(provider)
        return session
    }

    private func login(_ session: AppSession) -> SDKError? {
        failure { () throws(SDKError) in try session.login("plain") }
    }

    func testTheProviderIsAskedUntilTheUserHasTypedTheCode() throws {
        let session = try showing()
        server.reply(
            "/token", .json(400, ["error": "authorization_pending"]), .reset(), .json(400, ["error": "slow_down"]))
        let began = monotonicNanoseconds()
        XCTAssertNil(login(session))
        // Pauses of 1, 1, 1 and, after slow_down, 6 seconds.
        XCTAssertGreaterThanOrEqual(monotonicNanoseconds() - began, 9_000_000_000)
        XCTAssertEqual(try session.state(), .signedIn)
        XCTAssertEqual(try session.stored()?.accessToken, "access-1")
        XCTAssertEqual(shown.withLock { $0.map(\.userCode) }, ["AB-CD"])
        XCTAssertEqual(shown.withLock { $0.map(\.expiresIn) }, [60])
    }

    func testARefusalEndsTheLogin() throws {
        let session = try showing()
        for code in ["access_denied", "expired_token"] {
            server.reply("/token", .json(400, ["error": code]))
            XCTAssertEqual(login(session)?.status, .loginRefused)
        }
        server.reply("/token", .json(400, ["error": "invalid_client"]))
        XCTAssertEqual(login(session)?.status, .httpRequestError)
        XCTAssertEqual(try session.state(), .signedOut)
    }

    func testACodeThatNobodyTypesEnds() throws {
        let session = try showing()
        server.reply(
            "/device",
            .json(200, ["device_code": "d", "user_code": "A\u{1b}B", "verification_uri": "x", "expires_in": "1"]))
        XCTAssertEqual(login(session)?.status, .timedOut)
        // The text of a server may go to a terminal.
        XCTAssertEqual(shown.withLock { $0.map(\.userCode) }, ["A?B"])
        XCTAssertEqual(server.requests("/token").count, 0)
    }

    func testALoginCanBeCancelled() throws {
        let opened = Locked<AppSession?>(nil)
        let session = try showing({ _ in }) { opened.withLock { $0 }?.cancel() }
        opened.withLock { $0 = session }
        defer { opened.withLock { $0 = nil } }
        XCTAssertEqual(login(session)?.status, .canceled)
    }

    func testWithoutAnEndpointOrACallbackThereIsNoLogin() throws {
        XCTAssertEqual(login(try showing { $0.endpoints.device = "" })?.status, .invalidArgument)
        let session = try open()
        try session.add(plain)
        XCTAssertEqual(login(session)?.status, .interactionNotAllowed)
    }

    func testASecretIsInTheHeaderOrWhereTheProviderWantsIt() throws {
        let session = try showing { $0.setClientSecret("s:1%") }
        XCTAssertNil(login(session))
        // "app:s%3A1%25"
        let basic = server.requests("/device").map { $0.header("Authorization") }
        XCTAssertEqual(basic, ["Basic YXBwOnMlM0ExJTI1"])
        XCTAssertFalse(server.forms("/device")[0].contains("client"))
        let other = try showing {
            $0.setClientSecret("s:1%")
            $0.endpoints.wantsSecretInForm = true
        }
        XCTAssertNil(login(other))
        XCTAssertTrue(server.forms("/device")[1].hasPrefix("client_id=app&client_secret=s%3A1%25&"))
        XCTAssertNil(server.requests("/device")[1].header("Authorization"))
    }
}

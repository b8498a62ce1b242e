import Foundation
import LoopbackServer
import MPin
import MPinHTTP
import XCTest

/// The session of an app as Swift programs have it: events, tasks that are cancelled, requests to APIs.
final class SessionManagerTests: XCTestCase {
    private var folder = ""
    private var provider: OAuthServer!

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "mpin-manager-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        provider = try OAuthServer()
    }

    override func tearDownWithError() throws {
        provider.stop()
        try FileManager.default.removeItem(atPath: folder)
    }

    private func open(
        _ questions: SessionQuestions = SessionQuestions(showCode: { _ in })
    ) async throws -> SessionManager {
        let client = try await MPinClient(Configuration(storagePath: folder + "/store"))
        let session = try await SessionManager(client, questions)
        var plain = Provider(name: "plain", login: .deviceCode, clientID: "app", origins: [provider.url])
        plain.endpoints.token = provider.url + "/token"
        plain.endpoints.device = provider.url + "/device"
        try await session.add(plain)
        return session
    }

    /// A session whose access token must be renewed before it is used.
    private func loggedIn() async throws -> SessionManager {
        let session = try await open()
        try await session.login("plain")
        return session
    }

    func testEventsAreTheNewStatesInTheirOrder() async throws {
        let session = try await open()
        var events = session.events().makeAsyncIterator()
        try await session.login("plain")
        try await session.logout()
        for state in [SessionState.signingIn, .signedIn, .signedOut] {
            let event = await events.next()
            XCTAssertEqual(event?.state, state)
            XCTAssertEqual(event?.provider, "plain")
        }
    }

    func testEventsEndWithTheSession() async throws {
        func events() async throws -> AsyncStream<SessionEvent> { try await open().events() }
        for await event in try await events() { XCTFail("\(event)") }
    }

    func testFiftyTasksMakeOneRenewal() async throws {
        let session = try await loggedIn()
        let tokens = try await withThrowingTaskGroup(of: String.self) { tasks in
            for _ in 0..<50 { tasks.addTask { try await session.credentials().accessToken } }
            return try await tasks.reduce(into: Set<String>()) { $0.insert($1) }
        }
        XCTAssertEqual(tokens, ["access-2"])
        XCTAssertEqual(provider.issued, 2)
    }

    func testACancelledTaskEndsNoRenewal() async throws {
        let session = try await loggedIn()
        let isHeld = DispatchSemaphore(value: 0)
        let asked = provider.hold(isHeld)
        let first = Task { try await session.credentials().accessToken }
        for await _ in asked { break }
        let second = Task { try await session.credentials().accessToken }
        first.cancel()
        let outcome = await first.result
        XCTAssertThrowsError(try outcome.get()) { XCTAssertEqual(($0 as? MPinError)?.code, .canceled) }
        isHeld.signal()
        let token = try await second.value
        XCTAssertEqual(token, "access-2")
        XCTAssertEqual(provider.issued, 2)
    }

    func testACancelledTaskEndsItsLogin() async throws {
        provider.isTyped.withLock { $0 = false }
        let (shown, shows) = AsyncStream<DeviceCode>.makeStream()
        let session = try await open(SessionQuestions(showCode: { shows.yield($0) }))
        let login = Task { try await session.login("plain") }
        for await code in shown {
            XCTAssertEqual(code.userCode, "AB-CD")
            break
        }
        login.cancel()
        let outcome = await login.result
        XCTAssertThrowsError(try outcome.get()) { XCTAssertEqual(($0 as? MPinError)?.code, .canceled) }
        let state = try await session.state()
        XCTAssertEqual(state, .signedOut)
    }

    func testARefusedRequestIsSentOnceMore() async throws {
        let session = try await loggedIn()
        provider.refused.withLock { $0 = "Bearer access-2" }
        let answer = try await session.perform(APIRequest(.put, provider.url + "/api", body: [1, 2]))
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(answer.body, Array("Bearer access-3 [1, 2]".utf8))
    }

    func testDescriptionsShowNoToken() async throws {
        let session = try await loggedIn()
        let credentials = try await session.credentials()
        XCTAssertEqual([credentials.accessToken, credentials.refreshToken], ["access-2", "refresh-2"])
        let handed = try await session.handover()
        XCTAssertEqual(handed.accessToken, "narrow")
        for text in ["\(credentials)", "\([credentials])", String(reflecting: credentials), "\(handed)"] {
            XCTAssertFalse(text.contains("access-") || text.contains("refresh-") || text.contains("narrow"), text)
        }
    }
}

/// An OAuth provider with logins by device code, and an API. The first access token is valid for less than a minute.
private final class OAuthServer: Sendable {
    let isTyped = Locked(true)
    /// The header of the requests that the API refuses.
    let refused = Locked("")
    private let count = Locked(0)
    private let holding = Locked<(isHeld: DispatchSemaphore, asked: AsyncStream<Void>.Continuation)?>(nil)
    private let server = Locked<LoopbackServer?>(nil)

    init() throws {
        let server = try LoopbackServer { [weak self] in self?.answer($0) ?? .reset() }
        self.server.withLock { $0 = server }
    }

    var url: String { server.withLock { $0?.url ?? "" } }
    /// How many tokens were issued.
    var issued: Int { count.withLock { $0 } }

    func stop() { server.withLock { $0?.stop() } }

    /// The next answer with tokens waits for the semaphore. Returns the requests for it.
    func hold(_ isHeld: DispatchSemaphore) -> AsyncStream<Void> {
        let (asked, questions) = AsyncStream<Void>.makeStream()
        holding.withLock { $0 = (isHeld, questions) }
        return asked
    }

    private func answer(_ request: ReceivedRequest) -> Reply {
        switch request.path {
        case "/device":
            return .json(
                200,
                [
                    "device_code": "d", "user_code": "AB-CD", "verification_uri": "https://p.example", "expires_in": 60,
                    "interval": 1,
                ])
        case "/token": return tokens(String(decoding: request.body, as: UTF8.self))
        default:
            let header = request.header("Authorization") ?? ""
            return header == refused.withLock { $0 } ? .text(401, "") : .text(200, "\(header) \(request.body)")
        }
    }

    private func tokens(_ form: String) -> Reply {
        guard isTyped.withLock({ $0 }) else { return .json(400, ["error": "authorization_pending"]) }
        if form.contains("token-exchange") { return .json(200, ["access_token": "narrow", "token_type": "Bearer"]) }
        let held = holding.withLock { holding in
            defer { holding = nil }
            return holding
        }
        held?.asked.yield()
        held?.isHeld.wait()
        let number = count.withLock { count in
            count += 1
            return count
        }
        return .json(
            200,
            [
                "access_token": "access-\(number)", "refresh_token": "refresh-\(number)", "token_type": "Bearer",
                "expires_in": number == 1 ? 30 : 600,
            ])
    }
}

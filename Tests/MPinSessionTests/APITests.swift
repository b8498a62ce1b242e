import LoopbackServer
import MPinHTTP
import MPinSDK
import MPinSession
import MPinWire
import XCTest

final class APITests: SessionTestCase {
    private func bearers() -> [String?] { server.requests("/api").map { $0.header("Authorization") } }

    func testARequestGetsTheTokenAndNoOtherAuthorization() throws {
        let session = try loggedIn()
        let answer = try session.perform(request(.post, body: "two"))
        XCTAssertEqual(answer.status, 200)
        let sent = try XCTUnwrap(server.requests("/api").first)
        XCTAssertEqual(sent.headers.filter { $0.0.lowercased() == "authorization" }.map(\.1), ["Bearer access-1"])
        XCTAssertEqual(sent.header("X-Order"), "7")
        XCTAssertEqual(String(decoding: sent.body, as: UTF8.self), "two")
    }

    func testARefusedTokenIsRenewedOnceAndTheRequestSentOnceMore() throws {
        let session = try loggedIn()
        server.state.withLock { $0.refused = ["access-1"] }
        XCTAssertEqual(try session.perform(request(.put, body: "three")).status, 200)
        XCTAssertEqual(bearers(), ["Bearer access-1", "Bearer access-2"])
        XCTAssertEqual(server.requests("/api").map { String(decoding: $0.body, as: UTF8.self) }, ["three", "three"])
        server.state.withLock { $0.refused = ["access-2", "access-3"] }
        XCTAssertEqual(try session.perform(request()).status, 401)
        XCTAssertEqual(bearers().count, 4)
        XCTAssertEqual(try session.state(), .signedIn)
    }

    func testARedirectIsNotFollowed() throws {
        let session = try loggedIn()
        server.reply("/api", .answer(302, headers: [("Location", "\(server.url)/elsewhere")], body: []))
        XCTAssertEqual(try session.perform(request()).status, 302)
        XCTAssertEqual(server.requests("/elsewhere").count, 0)
    }

    func testNoTokenGoesToAnotherOriginOrWithoutTLS() throws {
        let session = try loggedIn()
        var provider = home
        provider.origins = ["http://api.example.com"]
        try session.add(provider)
        for url in [server.url + "/api", "http://api.example.com/", "nowhere"] {
            var request = request()
            request.url = url
            let error = failure { () throws(SDKError) in _ = try session.perform(request) }
            XCTAssertEqual(error?.status, .untrustedDomainError, url)
            XCTAssertEqual(session.lastError?.status, .untrustedDomainError)
        }
        XCTAssertEqual(bearers().count, 0)
    }

    func testAProviderThatRenewsNothingEndsTheSessionAt401() throws {
        _ = try loggedIn()
        let pages = Locked<[String]>([])
        var callbacks = SessionCallbacks()
        callbacks.openBrowser = { url in
            pages.withLock { $0.append(url) }
            return true
        }
        let session = try open(nil, callbacks)
        var provider = home
        provider.renewsOn401 = false
        try session.add(provider)
        server.state.withLock { $0.refused = ["access-1"] }
        XCTAssertEqual(failure { () throws(SDKError) in _ = try session.perform(request()) }?.status, .loginRequired)
        XCTAssertEqual(try session.state(), .signedOut)
        XCTAssertEqual(server.forms("/revoke"), ["token=refresh-1&token_type_hint=refresh_token&client_id=app"])
        XCTAssertEqual(bearers(), ["Bearer access-1"])
        // The user may stay logged in at the provider.
        XCTAssertEqual(pages.withLock { $0 }, [])
    }

    func testA401ForATokenOfAnEarlierLoginEndsNothing() throws {
        let session = try loggedIn()
        var provider = home
        provider.renewsOn401 = false
        try session.add(provider)
        // Another thread has logged in again since this one has sent its request.
        let old = try session.authorization(for: server.url)
        try session.login("home")
        let current = try session.authorization(for: server.url)
        XCTAssertNotEqual(old, current)
        XCTAssertEqual(try session.authorization(for: server.url, rejected: old), current)
        XCTAssertEqual(try session.state(), .signedIn)
    }

    func testA401EndsNoSessionThatAnotherProcessHasBegunMeanwhile() throws {
        let session = try loggedIn()
        let file = URL(fileURLWithPath: folder + "/store.session")
        let others = try Data(contentsOf: file)
        try session.login("home")
        var provider = home
        provider.renewsOn401 = false
        try session.add(provider)
        let refused = try session.authorization(for: server.url)
        // The other process writes after this one has sent its request.
        try others.write(to: file)
        XCTAssertEqual(try session.authorization(for: server.url, rejected: refused), "Bearer access-1")
        XCTAssertEqual(try session.state(), .signedIn)
        XCTAssertEqual(try open().stored()?.accessToken, "access-1")
    }

    func testARefusedValueThatIsNoBearerTokenIsRenewedLikeAnOldOne() throws {
        let session = try loggedIn()
        let value = try session.authorization(for: server.url, rejected: "x")
        XCTAssertEqual(value, "Bearer access-1")
        XCTAssertEqual(server.requests("/token").count, 1)
    }

    // MARK: Smaller apps

    func testAHandoverIsANarrowTokenAndTheProfile() throws {
        let session = try loggedIn()
        let made = try session.handover(audience: "https://mini.example", scope: "openid")
        XCTAssertEqual(made.accessToken, "narrow-2")
        XCTAssertEqual(made.profile.name, "Ann")
        XCTAssertEqual(Double(made.expiry), Double(try systemClock() / 1000 + 60), accuracy: 30)
        XCTAssertEqual(
            server.forms("/token").last,
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange&subject_token=access-1"
                + "&subject_token_type=urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token"
                + "&audience=https%3A%2F%2Fmini.example&scope=openid&client_id=app")
        XCTAssertEqual(try session.stored()?.accessToken, "access-1")
    }

    func testAHandoverThatTheProviderRefusesSaysSo() throws {
        let session = try loggedIn()
        server.reply("/token", .json(400, ["error": "invalid_target"]), .text(503, ""))
        let refused = failure { () throws(SDKError) in _ = try session.handover(audience: "x", scope: "") }
        XCTAssertEqual(refused?.status, .exchangeFailed)
        XCTAssertEqual(refused?.server.code, "invalid_target")
        let broken = failure { () throws(SDKError) in _ = try session.handover(audience: "x", scope: "") }
        XCTAssertEqual(broken?.status, .httpServerError)
        XCTAssertEqual(try session.state(), .signedIn)
    }
}

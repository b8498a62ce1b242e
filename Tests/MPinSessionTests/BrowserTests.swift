import Foundation
import LoopbackServer
import MPinHTTP
import MPinSDK
import MPinSession
import XCTest

final class BrowserTests: SessionTestCase {
    private func refusal(_ answer: @escaping @Sendable ([String: String]) -> String) throws -> SDKError? {
        let session = try browsing(nil, answer)
        let error = failure { () throws(SDKError) in try session.login("home") }
        XCTAssertEqual(try session.state(), .signedOut)
        return error
    }

    func testWhatTheProviderAnswersIsToldAndNothingElse() throws {
        let state: @Sendable ([String: String]) -> String = { "state=\($0["state"] ?? "")" }
        let denied = try refusal { state($0) + "&error=access_denied&error_description=Not+today%21%1B" }
        XCTAssertEqual(denied?.status, .loginRefused)
        XCTAssertEqual(denied?.text, "the provider has refused the login: access_denied: Not today!?")
        let wrong: [@Sendable ([String: String]) -> String] = [
            { state($0) + "&error=access_denied" }, { state($0) }, { state($0) + "&code=" },
            { state($0) + "&code=1&iss=https%3A%2F%2Fevil.example" }, { state($0) + "&code=1&code=2" },
            { state($0) + "&code=%4" }, { state($0) + "&code=%zz" }, { state($0) + "&code=%ff" }, { _ in "code=1" },
            { _ in "code=1&state=x" },
        ]
        for answer in wrong { XCTAssertEqual(try refusal(answer)?.status, .loginRefused) }
        XCTAssertEqual(server.requests("/token").count, 0)
    }

    func testTheRightAnswerLogsIn() throws {
        let issuer = server.url
        let session = try browsing(nil) { "iss=\(issuer)&code=a%2Bb+c&state=\($0["state"] ?? "")#x" }
        try session.login("home", userID: "ann@example.com")
        XCTAssertTrue(server.forms("/token")[0].contains("code=a%2Bb%20c&"))
        XCTAssertEqual(try session.profile().sub, "ann")
        XCTAssertEqual(try session.profile().name, "Ann")
        XCTAssertEqual(try session.lastProvider(), "home")
    }

    func testAURLWithoutAQueryIsNoAnswer() throws {
        var callbacks = SessionCallbacks()
        let opened = Locked<AppSession?>(nil)
        callbacks.openBrowser = { _ in
            _ = try? opened.withLock { $0 }?.resume("com.example.app:/callback")
            return true
        }
        let session = try open(nil, callbacks)
        opened.withLock { $0 = session }
        defer { opened.withLock { $0 = nil } }
        XCTAssertEqual(failure { () throws(SDKError) in try session.login("home") }?.status, .loginRefused)
    }

    func testABrowserThatDoesNotComeBackEndsTheLogin() throws {
        var callbacks = SessionCallbacks()
        callbacks.openBrowser = { _ in true }
        let session = try open(nil, callbacks, loginMilliseconds: 1)
        XCTAssertEqual(failure { () throws(SDKError) in try session.login("home") }?.status, .timedOut)
        var loopback = home
        loopback.redirectURI = "http://127.0.0.1/callback"
        try session.add(loopback)
        XCTAssertEqual(failure { () throws(SDKError) in try session.login("home") }?.status, .timedOut)
    }

    func testWithoutABrowserThereIsNoLogin() throws {
        var callbacks = SessionCallbacks()
        let session = try open()
        XCTAssertEqual(failure { () throws(SDKError) in try session.login("home") }?.status, .interactionNotAllowed)
        callbacks.openBrowser = { _ in false }
        let other = try open(nil, callbacks)
        XCTAssertEqual(failure { () throws(SDKError) in try other.login("home") }?.status, .interactionNotAllowed)
        var provider = plain
        provider.login = .browser
        provider.name = "home"
        try other.add(provider)
        XCTAssertEqual(failure { () throws(SDKError) in try other.login("home") }?.status, .invalidArgument)
    }

    /// A provider that gets a code twice takes it for stolen, and ends the session.
    func testACodeIsRedeemedOnce() throws {
        let session = try browsing()
        server.reply("/token", .reset())
        XCTAssertEqual(failure { () throws(SDKError) in try session.login("home") }?.status, .networkError)
        XCTAssertEqual(server.requests("/token").count, 1)
    }

    func testResumeNeedsALogin() throws {
        let session = try open()
        let error = failure { () throws(SDKError) in try session.resume("com.example.app:/callback?code=1") }
        XCTAssertEqual(error?.status, .flowError)
    }

    /// Other programs of the machine may open the port, too: many connections, other methods, other paths, nothing.
    func testTheLoopbackPortServesOnlyTheAnswer() throws {
        let (visits, server) = (Locked<[String]>([]), server!)
        var callbacks = SessionCallbacks()
        callbacks.openBrowser = { url in
            let items = URLComponents(string: url)?.queryItems ?? []
            let members = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
            server.state.withLock { $0.nonce = members["nonce"] ?? "" }
            let (place, state) = (URLComponents(string: members["redirect_uri"] ?? ""), members["state"] ?? "")
            Thread.detachNewThread {
                visitAll(UInt16(place?.port ?? 0), "/?code=1&state=\(state)", visits)
            }
            return true
        }
        let session = try open(nil, callbacks)
        var provider = home
        provider.redirectURI = "http://127.0.0.1"
        try session.add(provider)
        try session.login("home")
        XCTAssertEqual(try session.state(), .signedIn)
        let answers = visits.withLock { $0 }.map { String($0.prefix(12)) }
        XCTAssertEqual(answers, ["", ""] + [String](repeating: "HTTP/1.1 404", count: 3))
    }
}

/// Opens more connections than are served at once, then asks for what is not there, and at last for `target`. Notes the
/// answers but the last.
private func visitAll(_ port: UInt16, _ target: String, _ visits: Locked<[String]>) {
    let idle = (0..<33).map { _ in connect(port) }
    // The oldest one has been closed for the newest.
    let oldest = readAll(idle[0])
    let answers = [
        oldest, visit(port, "POST \(target) HTTP/1.1"), visit(port, "GET /favicon.ico HTTP/1.1"),
        visit(port, "GET \(target)x HTTP/1.1"), visit(port, "GET /other\(target.dropFirst()) HTTP/1.1"),
    ]
    visits.withLock { $0 = answers }
    visit(port, "GET \(target) HTTP/1.1")
    idle.dropFirst().forEach { close($0) }
}

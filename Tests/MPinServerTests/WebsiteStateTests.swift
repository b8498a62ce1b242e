import Foundation
import MPinServer
import MPinWire
import XCTest

/// Tests what the pages say after an error, and how the user can continue.
final class WebsiteStateTests: XCTestCase {
    private static let ownPage = ["Origin": "http://127.0.0.1"]

    private func server(_ delivery: MailDelivery? = .forceActivate) throws -> InProcess {
        try InProcess { $0.delivery = delivery }.keep(in: self)
    }

    /// Logs a browser in with a phone and this PIN. Returns the status that the phone gets.
    private func enter(_ pin: String, _ phone: TestClient.User, _ client: TestClient, _ wid: String) throws -> Int {
        try client.authenticateMobile(client.prove(phone, pin: pin, wid: wid)).status
    }

    func testAWrongPINIsShownToTheBrowserThatAsksAndToNoOther() throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let phone = try client.register("alice@example.com", pin: "1234")
        for browser in [try TestBrowser(code: server.backend), try TestBrowser(server.backend)] {
            XCTAssertEqual(try enter("4321", phone, client, browser.wid), 401)
            XCTAssertEqual(try browser.poll(), AccessResponse(status: "new"), "old pages see nothing new")
            let text = try server.backend.call("POST", "/rps/access", "{\"webOTT\":\"\(browser.webOTT)\"}").text
            XCTAssertFalse(text.contains("refusal"), text)
            let answer = try browser.poll(",\"refusals\":0,\"status\":\"new\",\"wait\":10")
            XCTAssertEqual([answer.refusals, answer.refusal], [1, 401])
            XCTAssertEqual(answer.status, "new")
            _ = try TestClient(backend: server.backend).login(phone, pin: "1234", permit: client.timePermit(phone))
        }
    }

    func testABrowserThatWaitsHearsOfAWrongPINAtOnce() throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let phone = try client.register("alice@example.com", pin: "1234")
        let browser = try TestBrowser(code: server.backend)
        let waiting = Later { try browser.poll(",\"refusals\":0,\"status\":\"new\",\"wait\":10") }
        XCTAssertEqual(try enter("4321", phone, client, browser.wid), 401)
        XCTAssertEqual(try waiting.get().refusals, 1)
        let report = "{\"status\":\"user\",\"wid\":\"\(browser.wid)\",\"userId\":\"alice@example.com\"}"
        XCTAssertEqual(try server.backend.call("POST", "/rps/codeStatus", report).status, 200)
        let answer = try browser.poll(",\"refusals\":1")
        XCTAssertEqual(answer.refusals, 1)
        XCTAssertNil(answer.refusal, "the phone has begun anew")
    }

    /// Access numbers have few digits, so anybody can find one that is in use. The page may show a refusal only if the
    /// phone's user has spent an attempt on it.
    func testARefusalThatCostNoAttemptIsNotShownAfterANumber() throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let phone = try client.register("mallory@example.com", pin: "1234")
        for _ in 0..<3 { _ = try client.login(phone, pin: "4321", permit: client.timePermit(phone)) }
        let (number, code) = (try TestBrowser(server.backend), try TestBrowser(code: server.backend))
        XCTAssertEqual(try enter("1234", phone, client, number.wid), 410)
        XCTAssertEqual(try number.poll(",\"refusals\":0").refusals, 0)
        XCTAssertEqual(try enter("1234", phone, client, code.wid), 410, "who has the code has seen the page")
        XCTAssertEqual(try code.poll(",\"refusals\":0").refusal, 410)
    }

    func testAUsedLinkSaysSoWhenItIsOpened() throws {
        let server = try server(nil)
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        let link = try server.backend.link(to: "alice@example.com")
        let fresh = try server.backend.call("GET", link)
        XCTAssertEqual(fresh.status, 200)
        XCTAssertTrue(fresh.text.contains("<time datetime=\"20"), fresh.text)
        XCTAssertTrue(fresh.text.contains("Confirm only if"))
        XCTAssertEqual(try server.backend.call("POST", link, "").status, 200)
        let confirmed = try server.backend.call("GET", link)
        XCTAssertEqual(confirmed.status, 200)
        XCTAssertTrue(confirmed.text.contains("You have used this link before"), confirmed.text)
        XCTAssertFalse(confirmed.text.contains("<form"))
        _ = try client.finishRegistration(registration, pin: "1234")
        for (method, body) in [("GET", nil), ("POST", ""), ("POST", "delete=1")] as [(String, String?)] {
            let used = try server.backend.call(method, link, body)
            XCTAssertEqual(used.status, 410)
            XCTAssertTrue(used.text.contains("This link was used"), used.text)
            XCTAssertTrue(used.text.contains("href=\"/login\""), "a way on")
        }
        server.advance(seconds: 310)
        XCTAssertTrue(try server.backend.call("GET", link).text.contains("This link was used"), "also later")
    }

    func testWhoHasTheMailDeletesTheRegistration() throws {
        let server = try server(nil)
        let client = TestClient(backend: server.backend)
        let registration = try client.startRegistration("alice@example.com")
        let link = try server.backend.link(to: "alice@example.com")
        let page = try server.backend.call("POST", link, "delete=1")
        XCTAssertEqual(page.status, 200)
        XCTAssertTrue(page.text.contains("alice@example.com"), page.text)
        XCTAssertEqual(try client.signature(registration).status, 400, "the registration is gone")
        XCTAssertEqual(try server.backend.call("GET", link).status, 410)
        XCTAssertEqual(try server.backend.call("POST", link, "").status, 410)
        let wrong = "{\"activateKey\":\"\(String(repeating: "0", count: 64))\"}"
        let next = try client.startRegistration("alice@example.com")
        let target = "/registration/" + next.mpinId
        XCTAssertEqual(try server.backend.callPrivate("POST", target, wrong).status, 403)
        XCTAssertEqual(try server.backend.call("POST", target, wrong).status, 404, "the private listener's alone")
        XCTAssertEqual(
            try server.backend.callPrivate("GET", target).text, "{\"state\":\"pending\",\"address\":\"127.0.0.1\"}")
    }

    /// Returns the cookie and the form token of the page that waits for the mail.
    private func form(_ server: InProcess) throws -> (cookie: [String: String], csrf: Substring) {
        let page = try server.backend.call("GET", "/signup/mail")
        let cookie = String(try XCTUnwrap(page.headers["set-cookie"]).prefix { $0 != ";" })
        let csrf = try XCTUnwrap(page.text.firstMatch(of: /name="csrf" value="([0-9a-f]{64})"/)).1
        return (Self.ownPage.merging(["Cookie": cookie]) { $1 }, csrf)
    }

    private func mails(_ server: InProcess) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: server.backend.mailFolder).filter { $0.hasSuffix(".eml") }
            .count
    }

    func testTheMailIsSentAgainWithABackOffThatTheServerKeeps() throws {
        let server = try server(nil)
        _ = try TestClient(backend: server.backend).startRegistration("alice@example.com")
        let (headers, csrf) = try form(server)
        func resend(_ address: String = "Alice@example.com") throws -> Answer {
            let body = "csrf=\(csrf)&address=\(address.replacing("@", with: "%40"))"
            return try server.backend.call("POST", "/signup/mail", body, headers: headers)
        }
        for (count, wait) in [(2, 60), (3, 120), (4, 240), (5, 300), (6, 300)] {
            XCTAssertEqual(try resend().status, 200)
            try waitUntil { try mails(server) == count }
            let tooEarly = try resend()
            XCTAssertEqual(tooEarly.status, 429)
            let retry = try XCTUnwrap(tooEarly.headers["retry-after"].flatMap { Int($0) })
            XCTAssertTrue((wait - 30...wait).contains(retry), "\(retry)")
            XCTAssertTrue(tooEarly.text.contains("<time datetime="), tooEarly.text)
            server.advance(seconds: wait)
        }
        _ = try server.backend.link(to: "alice@example.com")
        // Asks for another mail to an address that is not registering. The answers must be the same, but no mail is
        // sent.
        let (known, stranger) = (try resend(), try resend("bob@example.com"))
        XCTAssertEqual([known.status, stranger.status], [200, 200])
        for spelling in ["bob@example.com", "BOB@example.com.", "bob%2Bshop@example.com"] {
            XCTAssertEqual(try resend(spelling).status, 429, "one mailbox: \(spelling)")
        }
        try waitUntil { try mails(server) == 7 }
    }

    func testNoMailIsSentAgainForAFormFromElsewhereOrAFinishedRegistration() throws {
        let server = try server(nil)
        let client = TestClient(backend: server.backend)
        let (headers, csrf) = try form(server)
        for (body, more) in [
            ("address=a%40b.c", headers), ("csrf=\(csrf)&address=a%40b.c", [:]), ("csrf=\(csrf)&address=", headers),
            ("csrf=\(csrf)&address=a%0Ab%40c.d", headers),
        ] as [(String, [String: String])] {
            XCTAssertEqual(try server.backend.call("POST", "/signup/mail", body, headers: more).status, 403, body)
        }
        _ = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        _ = try client.startRegistration("bob@example.com")
        for user in ["alice", "bob"] {
            let body = "csrf=\(csrf)&address=\(user)%40example.com"
            XCTAssertEqual(try server.backend.call("POST", "/signup/mail", body, headers: headers).status, 200)
        }
        try waitUntil { try mails(server) == 3 }
        XCTAssertEqual(try mails(server), 3, "Alice has confirmed")
    }

    private func waitUntil(_ condition: () throws -> Bool) throws {
        let end = Date(timeIntervalSinceNow: 30)
        while try !condition() {
            guard Date() < end else { throw Sockets.Failure(text: "waited too long") }
            usleep(10_000)
        }
    }

    func testA404IsAPageForPeopleAndJSONForPrograms() throws {
        let server = try server()
        func get(_ path: String, _ accept: String) throws -> Answer {
            let head =
                "GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\nAccept: \(accept)\r\nAccept-Language: de\r\n"
            return try Sockets.raw(server.backend.port, Data((head + "\r\n").utf8))
        }
        let browser = "text/html,application/xhtml+xml,*/*;q=0.8"
        for path in ["/nothing", "/login/nothing", "/rpsx", "/favicon.png"] {
            let page = try get(path, browser)
            XCTAssertEqual(page.status, 404)
            XCTAssertEqual(page.headers["content-type"], "text/html; charset=UTF-8")
            XCTAssertTrue(page.text.contains("<h1>Seite nicht gefunden</h1>"), page.text)
            XCTAssertTrue(page.text.contains("href=\"/\""))
            XCTAssertTrue(try XCTUnwrap(page.headers["content-security-policy"]).contains("style-src 'self'"))
        }
        for (path, accept) in [
            ("/nothing", "*/*"), ("/nothing", "application/json"), ("/rps/nothing", browser),
            ("/rps/user/7b/7d/nothing", browser),
        ] {
            let answer = try get(path, accept)
            XCTAssertEqual(answer.status, 404, path)
            XCTAssertEqual(answer.headers["content-type"], "application/json; charset=UTF-8", path)
        }
        XCTAssertEqual(try get("/logout", browser).status, 405)
        XCTAssertTrue(try get("/logout", browser).text.contains("<h1>So geht es nicht</h1>"))
    }
}

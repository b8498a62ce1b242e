import Foundation
import MPinServer
import MPinStore
import XCTest

/// Tests of the account page that need to move the server's clock or change its limits. `make oidc-test` has the others.
final class AccountTests: XCTestCase {
    private static let page = "/account/settings"
    private static let alice = "alice@example.com"

    /// A browser that keeps cookies and follows redirects on its server.
    private final class Browser {
        let backend: Backend
        private var cookies: [String: String] = [:]
        private(set) var path = ""

        init(_ backend: Backend) { self.backend = backend }

        func open(_ path: String, _ form: [(String, String)]? = nil, from origin: String? = nil) throws -> Answer {
            self.path = path
            var headers = ["Cookie": cookies.map { "\($0)=\($1)" }.joined(separator: "; ")]
            if form != nil {
                headers["Content-Type"] = "application/x-www-form-urlencoded"
                headers["Sec-Fetch-Site"] = origin ?? "same-origin"
            }
            let body = form.map { members in
                members.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }
                    .joined(separator: "&")
            }
            let answer = try backend.call(form == nil ? "GET" : "POST", path, body, headers: headers)
            for cookie in answer.cookies {
                let parts = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
                cookies[parts[0]] = parts.count == 2 ? parts[1] : nil
            }
            guard answer.status == 303, let location = answer.headers["location"] else { return answer }
            let base = "http://127.0.0.1:\(backend.port)"
            return try open(location.hasPrefix(base) ? String(location.dropFirst(base.count)) : location)
        }

        /// Logs in at the login page that is open. Returns the page after it.
        func logIn(_ page: Answer, _ client: TestClient, _ user: TestClient.User) throws -> Answer {
            let id = try found(/name="id" value="([^"]+)"/, page)
            let login = try open("/authorize/login?id=\(id)&way=number")
            let authOTT = try client.prove(user, wid: try found(/<output id="number"[^>]*>(\d+)/, login))
            let phone = Later { try client.authenticateMobile(authOTT) }
            var question = try open("/authorize/login", [("id", id)])
            // The page without scripts is asked again until the phone's proof has come.
            while !question.text.contains("value=\"confirmation\"") {
                guard question.status == 200 else { throw Sockets.Failure(text: "login: \(question.text)") }
                question = try open("/authorize/login", [("id", id)])
            }
            let last = try open(
                "/authorize/confirm", [("id", id), ("step", "confirmation"), ("answer", "yes")])
            _ = try phone.get()
            return last
        }

        func csrf(_ page: Answer) throws -> String { try found(/name="csrf" value="([^"]+)"/, page) }

        private func found(_ pattern: Regex<(Substring, Substring)>, _ page: Answer) throws -> String {
            try String(XCTUnwrap(page.text.firstMatch(of: pattern), page.text).1)
        }
    }

    private func server(_ change: (inout AllInOne) -> Void = { _ in }) throws -> InProcess {
        try InProcess(change: change, clients: "[]").keep(in: self)
    }

    /// Ten minutes after the PIN the page can still be seen, and name and language can be changed. Each change that
    /// could be used to take the account leads to the login page first. After the PIN the browser is back, and can make
    /// the change.
    func testChangesThatNeedARecentLogin() throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let user = try client.register(Self.alice, pin: "1234")
        let browser = Browser(server.backend)
        let page = try browser.logIn(try browser.open(Self.page), client, user)
        XCTAssertEqual([page.status, browser.path == Self.page ? 1 : 0], [200, 1], page.text)
        let changes: [(String, [(String, String)])] = [
            ("/account/address", [("address", "new@example.com")]), ("/account/address", [("answer", "cancel")]),
            ("/account/devices", [("device", "00")]), ("/account/applications", [("client", "app")]),
            ("/account/sessions", [("session", "others")]), ("/account/sessions", [("session", "another")]),
        ]
        for (path, form) in changes {
            XCTAssertEqual(try browser.open(path, [("csrf", try browser.csrf(page))] + form).status, 200)
            XCTAssertEqual(browser.path, Self.page + "?saved=1", path)
        }
        server.advance(seconds: 601)
        let late = try browser.open(Self.page)
        XCTAssertEqual(browser.path, Self.page)
        for (path, form) in changes {
            let login = try browser.open(path, [("csrf", try browser.csrf(late))] + form)
            XCTAssertEqual(browser.path, "/account/login", path)
            XCTAssertTrue(login.text.contains("id=\"login\""), path)
        }
        let name = try browser.open(
            "/account/profile", [("csrf", try browser.csrf(late)), ("name", "Alice <A>"), ("locale", "de")])
        XCTAssertEqual(browser.path, Self.page + "?saved=1")
        XCTAssertTrue(name.text.contains("value=\"Alice &lt;A&gt;\""), name.text)
        let back = try browser.logIn(try browser.open("/account/login"), client, user)
        XCTAssertEqual(browser.path, Self.page)
        _ = try browser.open("/account/sessions", [("csrf", try browser.csrf(back)), ("session", "others")])
        XCTAssertEqual(browser.path, Self.page + "?saved=1")
        XCTAssertNotEqual(try browser.csrf(back), try browser.csrf(late), "each PIN makes a new token")
    }

    /// Only the button for all other sessions ends them, and not a form that has lost the name of the one that it means.
    func testAFormWithoutASessionEndsNone() throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let user = try client.register(Self.alice, pin: "1234")
        let (browser, other) = (Browser(server.backend), Browser(server.backend))
        _ = try other.logIn(try other.open(Self.page), client, user)
        let page = try browser.logIn(try browser.open(Self.page), client, user)
        let csrf = ("csrf", try browser.csrf(page))
        for lost in [[], [("session", "")], [("sesion", "others")]] {
            XCTAssertEqual(try browser.open("/account/sessions", [csrf] + lost).status, 400)
        }
        for lost in ["all", "OTHERS"] {
            XCTAssertEqual(try browser.open("/account/sessions", [csrf, ("session", lost)]).status, 200)
        }
        XCTAssertTrue(try other.open(Self.page).text.contains("name=\"csrf\""), "the other browser is logged in")
        XCTAssertTrue(page.text.contains("name=\"session\" value=\"others\""), page.text)
        XCTAssertEqual(try browser.open("/account/sessions", [csrf, ("session", "others")]).status, 200)
        XCTAssertTrue(try other.open(Self.page).text.contains("id=\"login\""))
    }

    /// A form of another site, without the page's token, or without a session changes nothing.
    func testForgedForms() throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let user = try client.register(Self.alice, pin: "1234")
        let browser = Browser(server.backend)
        let page = try browser.logIn(try browser.open(Self.page), client, user)
        let token = try browser.csrf(page)
        let name = ("name", "Mallory")
        for path in ["profile", "devices", "applications", "sessions", "address"].map({ "/account/" + $0 }) {
            for site in ["cross-site", "same-site", "none"] {
                XCTAssertEqual(try browser.open(path, [("csrf", token), name], from: site).status, 403)
            }
            for token in ["", token.lowercased() + "x"] {
                XCTAssertEqual(try browser.open(path, [("csrf", token), name]).status, 403)
            }
            XCTAssertEqual(try browser.open(path, [name]).status, 403)
            XCTAssertEqual(try Browser(server.backend).open(path, [("csrf", token), name]).status, 403)
            XCTAssertEqual(try server.backend.call("GET", path).status, 405)
        }
        XCTAssertFalse(try browser.open(Self.page).text.contains("Mallory"))
    }

    /// Mails to new addresses are limited like those of registrations: for each account, and for each mailbox.
    func testTheNumberOfMails() throws {
        let server = try server { $0.rates.registerIdentity = RateLimit("3/60000") }
        let client = TestClient(backend: server.backend)
        let user = try client.register(Self.alice, pin: "1234")
        let browser = Browser(server.backend)
        let page = try browser.logIn(try browser.open(Self.page), client, user)
        let csrf = try browser.csrf(page)
        // The registration of the account was the first of three mails.
        let statuses = try (0..<3).map { number in
            try browser.open("/account/address", [("csrf", csrf), ("address", "new\(number)@example.com")]).status
        }
        XCTAssertEqual(statuses, [200, 200, 429])
        XCTAssertThrowsError(try server.backend.link(to: "new2@example.com"))
    }

    /// Requests of one address are counted with the login pages, because each can begin a login.
    func testTheNumberOfPages() throws {
        let server = try server { $0.rates.accessAddress = RateLimit("3/60000") }
        let statuses = try (0..<4).map { _ in try server.backend.call("GET", Self.page).status }
        XCTAssertEqual(statuses, [200, 200, 200, 429])
    }
}

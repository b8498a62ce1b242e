import Foundation
import MPinSecrets
import MPinServer
import MPinService
import XCTest

/// Tests the website's HTTP: cookies, forms, headers. Tests/EndToEnd tests its look in a real browser.
final class WebsiteTests: XCTestCase {
    /// The headers that a browser sends with a request from a page of this site.
    private static let ownPage = ["Origin": "http://127.0.0.1"]

    private func server(_ change: (inout AllInOne) -> Void = { _ in }) throws -> InProcess {
        try InProcess { all in
            all.delivery = .forceActivate
            change(&all)
        }.keep(in: self)
    }

    /// Logs in on this device with the right PIN, and returns the answer of POST /mpinAuthenticate.
    private func logIn(
        _ server: InProcess, _ user: String = "alice@example.com", headers: [String: String] = ownPage
    ) throws -> Answer {
        let client = TestClient(backend: server.backend)
        let phone = try client.register(user, pin: "1234")
        let proof = try client.pass2(client.pass1(phone, pin: "1234", permit: client.timePermit(phone)))
        let body = "{\"mpinResponse\":\(proof.text)}"
        return try server.backend.call("POST", "/mpinAuthenticate", body, headers: headers)
    }

    /// Returns the request header that sends back the cookies of an answer.
    private func cookie(_ answer: Answer) throws -> [String: String] {
        let field = try XCTUnwrap(answer.headers["set-cookie"])
        return ["Cookie": String(field.prefix { $0 != ";" })]
    }

    private func account(_ server: InProcess, _ cookie: [String: String]) throws -> Answer {
        try server.backend.call("GET", "/account", headers: cookie)
    }

    /// Returns the hidden token in a page's form.
    private func formToken(_ page: Answer) throws -> String {
        try String(XCTUnwrap(page.text.firstMatch(of: /name="csrf" value="([0-9a-f]{64})"/)).1)
    }

    func testALoginFromTheSitesOwnPageBeginsASession() throws {
        let server = try server()
        let answer = try logIn(server)
        XCTAssertEqual(answer.status, 200)
        let field = try XCTUnwrap(answer.headers["set-cookie"])
        let parts = field.components(separatedBy: "; ")
        XCTAssertNotNil(parts[0].wholeMatch(of: /mpin=[0-9a-f]{64}/), field)
        XCTAssertEqual(Set(parts.dropFirst()), ["Max-Age=3600", "Path=/", "HttpOnly", "SameSite=Lax"])
        let page = try account(server, cookie(answer))
        XCTAssertEqual(page.status, 200)
        XCTAssertTrue(page.text.contains("<strong id=\"user\">alice@example.com</strong>"), page.text)
        XCTAssertEqual(page.headers["cache-control"], "no-store")
    }

    /// A login must not start a session if it comes from a phone, which needs none, or from a page of another site.
    func testOnlyALoginFromAnOwnPageBeginsASession() throws {
        let server = try server()
        let strangers: [[String: String]] = [
            [:], ["Origin": "http://evil.example"], ["Origin": "null"], ["Origin": "http://127.0.0.1:1"],
            ["Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1"], ["Sec-Fetch-Site": "same-site"],
        ]
        for headers in strangers {
            let answer = try logIn(server, headers: headers)
            XCTAssertEqual(answer.status, headers.isEmpty ? 200 : 403, "\(headers)")
            XCTAssertEqual(answer.cookies, [], "\(headers)")
        }
        XCTAssertNotNil(try logIn(server, headers: ["Sec-Fetch-Site": "same-origin"]).headers["set-cookie"])
    }

    func testWhatAnotherSitesPagePresentsIsRefusedAndStaysGood() throws {
        let server = try server { $0.allowOrigin = ["https://app.example.com"] }
        let client = TestClient(backend: server.backend)
        let phone = try client.register("alice@example.com", pin: "1234")
        let proof = try client.pass2(client.pass1(phone, pin: "1234", permit: client.timePermit(phone)))
        func present(_ headers: [String: String]) throws -> Answer {
            try server.backend.call(
                "POST", "/mpinAuthenticate", "{\"mpinResponse\":\(proof.text)}", headers: headers)
        }
        for headers in [["Origin": "http://evil.example"], ["Sec-Fetch-Site": "none"], ["Origin": "null"]] {
            let answer = try present(headers)
            XCTAssertEqual(answer.status, 403)
            XCTAssertEqual(
                answer.object["message"] as? String, "The login did not come from a page of this site")
        }
        let listed = try present(["Origin": "https://app.example.com", "Sec-Fetch-Site": "same-site"])
        XCTAssertEqual(listed.status, 200, "the operator knows that site, and the token was not used up")
        XCTAssertEqual(listed.cookies, [], "and it is another one")
    }

    /// A browser's token may be redeemed only by a page of this site. From another page there would be no session,
    /// although the phone would be told that the user is logged in and how to log out.
    func testALoginForABrowserNeedsAPageOfThisSite() throws {
        let server = try server { $0.allowOrigin = ["*"] }
        let client = TestClient(backend: server.backend)
        let user = try client.register("alice@example.com", pin: "1234")
        for browser in [try TestBrowser(server.backend), try TestBrowser(code: server.backend)] {
            let (phone, present) = try loginAtBrowser(server, user, browser)
            for headers in [[:], ["Origin": "http://evil.example"], ["Sec-Fetch-Site": "cross-site"]] {
                let answer = try present(headers)
                XCTAssertEqual(answer.status, 403, "\(headers)")
                XCTAssertEqual(answer.cookies, [])
            }
            let answer = try present(Self.ownPage)
            XCTAssertEqual(answer.status, 200, "the token was not used up")
            XCTAssertEqual(try present(Self.ownPage).status, 408, "now it is")
            let cookie = try cookie(answer)
            XCTAssertEqual(try account(server, cookie).status, 200)
            let told = try phone.get()
            XCTAssertEqual(told.status, 200)
            XCTAssertEqual(told.object["logoutURL"] as? String, "/mpinLogout")
            let token = try XCTUnwrap((told.object["logoutData"] as? [String: String])?["sessionToken"])
            func logOut(_ user: String) throws -> Int {
                try server.backend.call(
                    "POST", "/mpinLogout", "{\"sessionToken\":\"\(token)\",\"userId\":\"\(user)\"}"
                ).status
            }
            XCTAssertEqual(try logOut("bob@example.com"), 400)
            XCTAssertEqual(try account(server, cookie).status, 200)
            XCTAssertEqual(try logOut("alice@example.com"), 200)
            XCTAssertEqual(try account(server, cookie).status, 303)
            XCTAssertEqual(try logOut("alice@example.com"), 200, "logged out is logged out")
        }
    }

    func testThePhoneHearsThatNoPageOfThisSiteWantedItsLogin() throws {
        let server = try InProcess {
            $0.delivery = .forceActivate
        } changeRPS: {
            $0.limits.service.waitSeconds = 2
        }.keep(in: self)
        let client = TestClient(backend: server.backend)
        let user = try client.register("alice@example.com", pin: "1234")
        let browser = try TestBrowser(server.backend)
        let (phone, present) = try loginAtBrowser(server, user, browser)
        XCTAssertEqual(try present([:]).status, 403)
        let told = try phone.get()
        XCTAssertEqual(told.status, 403)
        XCTAssertEqual(told.object["message"] as? String, "The login did not come from a page of this site")
        XCTAssertEqual(try browser.poll().status, "expired")
        XCTAssertEqual(try present(Self.ownPage).status, 408, "after that word nobody is logged in by it")
    }

    /// Starts a phone's login for a browser. Returns the phone's last request, which waits, and a function that sends
    /// the browser's token with the given headers.
    private func loginAtBrowser(
        _ server: InProcess, _ user: TestClient.User, _ browser: TestBrowser
    ) throws -> (phone: Later<Answer>, present: ([String: String]) throws -> Answer) {
        let client = TestClient(backend: server.backend)
        let authOTT = try client.prove(user, wid: browser.wid)
        let phone = Later { try client.authenticateMobile(authOTT) }
        let body = "{\"mpinResponse\":{\"authOTT\":\"\(try browser.awaitToken())\"}}"
        return (phone, { try server.backend.call("POST", "/mpinAuthenticate", body, headers: $0) })
    }

    /// Logs in by access number up to the page that asks whether this user shall be logged in. Returns the browser's
    /// cookie and form token, and the phone's request.
    private func proposed(
        _ server: InProcess, _ name: String, headers: [String: String] = [:]
    ) throws -> (cookie: [String: String], csrf: String, phone: Later<Answer>) {
        let client = TestClient(backend: server.backend)
        let user = try client.register(name, pin: "1234")
        let page = try server.backend.call("GET", "/login/number", headers: headers)
        let old = try headers.isEmpty ? cookie(page) : headers
        let number = try String(XCTUnwrap(page.text.firstMatch(of: /class="code">([0-9]{7})</)).1)
        let webOTT = try String(XCTUnwrap(page.text.firstMatch(of: /name="webOTT" value="([0-9a-f]+)"/)).1)
        XCTAssertTrue(page.text.contains("<form method=\"post\" action=\"/login/number\">"), page.text)
        let authOTT = try client.prove(user, wid: number)
        let phone = Later { try client.authenticateMobile(authOTT) }
        let body = "webOTT=\(webOTT)&csrf=\(try formToken(page))"
        let end = Date(timeIntervalSinceNow: 60)
        var answer = Answer()
        while answer.status != 303, Date() < end {
            answer = try server.backend.call(
                "POST", "/login/number", body, headers: Self.ownPage.merging(old) { $1 })
        }
        XCTAssertEqual(answer.headers["location"], "/login/confirm")
        XCTAssertEqual(answer.cookies.count, 1, "no session: \(answer.cookies)")
        let parts = try XCTUnwrap(answer.cookies.first).components(separatedBy: "; ")
        XCTAssertEqual(Set(parts.dropFirst()), ["Max-Age=120", "Path=/", "HttpOnly", "SameSite=Strict"])
        let cookies = ["Cookie": "\(old["Cookie"] ?? ""); \(parts[0])"]
        let question = try server.backend.call("GET", "/login/confirm", headers: cookies)
        XCTAssertEqual(question.status, 200)
        XCTAssertTrue(question.text.contains("<strong id=\"user\">\(name)</strong>"), question.text)
        return (cookies, try formToken(question), phone)
    }

    private func answerProposal(
        _ server: InProcess, _ answer: String, _ csrf: String, _ headers: [String: String]
    ) throws -> Answer {
        try server.backend.call(
            "POST", "/login/confirm", "answer=\(answer)&csrf=\(csrf)",
            headers: Self.ownPage.merging(headers) { $1 })
    }

    /// The kind of name decides, and not the form: a page that shows a number asks at whatever path its form goes to.
    func testALoginByNumberIsAskedAboutWhateverFormEndsIt() throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let user = try client.register("alice@example.com", pin: "1234")
        let page = try server.backend.call("GET", "/login/number")
        let number = try String(XCTUnwrap(page.text.firstMatch(of: /class="code">([0-9]{7})</)).1)
        let webOTT = try String(XCTUnwrap(page.text.firstMatch(of: /name="webOTT" value="([0-9a-f]+)"/)).1)
        let authOTT = try client.prove(user, wid: number)
        let phone = Later { try client.authenticateMobile(authOTT) }
        let body = "webOTT=\(webOTT)&csrf=\(try formToken(page))"
        let headers = try Self.ownPage.merging(cookie(page)) { $1 }
        let end = Date(timeIntervalSinceNow: 60)
        var answer = Answer()
        while answer.status != 303, Date() < end {
            answer = try server.backend.call("POST", "/login", body, headers: headers)
        }
        XCTAssertEqual(answer.headers["location"], "/login/confirm")
        XCTAssertEqual(try account(server, cookie(answer)).status, 303)
        _ = try phone.get()
    }

    /// The person at the browser must confirm the login, because somebody else with an account could find the number by
    /// trying.
    func testAfterANumberAPersonSaysWhoseLoginItIs() throws {
        let server = try server()
        let (cookie, csrf, phone) = try proposed(server, "alice@example.com")
        XCTAssertEqual(try phone.get().status, 200, "the phone does not wait for the click")
        XCTAssertEqual(try account(server, cookie).status, 303, "nobody is logged in yet")
        let (other, foreign, _) = try proposed(server, "bob@example.com")
        XCTAssertEqual(try answerProposal(server, "yes", foreign, cookie).status, 403)
        XCTAssertEqual(try answerProposal(server, "yes", csrf, other).status, 403)
        XCTAssertEqual(try answerProposal(server, "yes", csrf, [:]).status, 403)
        for headers in [["Origin": "http://evil.example"], ["Origin": "null"], ["Sec-Fetch-Site": "cross-site"]] {
            XCTAssertEqual(
                try answerProposal(server, "yes", csrf, cookie.merging(headers) { $1 }).status, 403, "\(headers)")
        }
        let begun = try answerProposal(server, "yes", csrf, cookie)
        XCTAssertEqual(begun.status, 303)
        XCTAssertEqual(begun.headers["location"], "/account")
        let session = try XCTUnwrap(begun.cookies.first { $0.hasPrefix("mpin=") && $0.contains("Max-Age=3600") })
        XCTAssertTrue(begun.cookies.contains { $0.hasPrefix("mpin-login=;") && $0.contains("Max-Age=0") })
        let browser = ["Cookie": String(session.prefix { $0 != ";" })]
        XCTAssertTrue(try account(server, browser).text.contains("alice@example.com"))
        let again = try answerProposal(server, "yes", csrf, cookie)
        XCTAssertEqual(again.status, 200)
        XCTAssertTrue(again.text.contains("expired"), again.text)
    }

    func testAProposalThatNobodyAnswersExpires() throws {
        let server = try server()
        let (cookie, csrf, _) = try proposed(server, "alice@example.com")
        server.advance(seconds: 121)
        let page = try server.backend.call("GET", "/login/confirm", headers: cookie)
        XCTAssertFalse(page.text.contains("alice@example.com"))
        let answer = try answerProposal(server, "yes", csrf, cookie)
        XCTAssertEqual(answer.status, 200)
        XCTAssertTrue(answer.text.contains("expired"), answer.text)
        XCTAssertFalse(answer.cookies.contains { $0.hasPrefix("mpin=") })
        XCTAssertEqual(try account(server, cookie).status, 303)
    }

    func testADeclinedLoginKeepsTheEarlierSession() throws {
        let server = try server()
        let own = try cookie(logIn(server))
        let (cookie, csrf, _) = try proposed(server, "eve@example.com", headers: own)
        XCTAssertTrue(try account(server, own).text.contains("alice@example.com"))
        let answer = try answerProposal(server, "no", csrf, cookie)
        XCTAssertEqual(answer.status, 200)
        XCTAssertTrue(answer.text.contains("Nobody was logged in"), answer.text)
        XCTAssertTrue(try account(server, own).text.contains("alice@example.com"))
        XCTAssertTrue(try answerProposal(server, "yes", csrf, cookie).text.contains("expired"))
        let log = try String(contentsOfFile: server.backend.stateFolder + "/audit/audit.jsonl", encoding: .utf8)
        let line = log.split(separator: "\n").filter { $0.contains("\"session-declined\"") }
        XCTAssertEqual(line.count, 1)
        XCTAssertTrue(line.first?.contains("eve@example.com") ?? false)
    }

    func testYesEndsTheSessionThatTheBrowserHad() throws {
        let server = try server()
        let own = try cookie(logIn(server))
        let (cookie, csrf, _) = try proposed(server, "bob@example.com", headers: own)
        XCTAssertEqual(try answerProposal(server, "yes", csrf, cookie).status, 303)
        XCTAssertEqual(try account(server, own).status, 303)
    }

    func testThePhoneTakesItsLoginBackBeforeTheClick() throws {
        let server = try server()
        let (cookie, csrf, phone) = try proposed(server, "alice@example.com")
        let told = try phone.get().object["logoutData"] as? [String: String]
        let token = try XCTUnwrap(told?["sessionToken"])
        func logOut(_ more: String) throws -> Int {
            try server.backend.call("POST", "/mpinLogout", "{\"sessionToken\":\"\(token)\"\(more)}").status
        }
        XCTAssertEqual(try logOut(",\"userId\":\"bob@example.com\""), 400)
        XCTAssertEqual(try logOut(""), 200)
        XCTAssertTrue(try answerProposal(server, "yes", csrf, cookie).text.contains("expired"))
    }

    func testAWrongPINBeginsNoSession() throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        let phone = try client.register("alice@example.com", pin: "1234")
        let proof = try client.pass2(client.pass1(phone, pin: "4321", permit: client.timePermit(phone)))
        let answer = try server.backend.call(
            "POST", "/mpinAuthenticate", "{\"mpinResponse\":\(proof.text)}", headers: Self.ownPage)
        XCTAssertEqual(answer.status, 401)
        XCTAssertNil(answer.headers["set-cookie"])
    }

    func testWithoutASessionTheAccountIsNotShown() throws {
        let server = try server()
        for cookie in [[:], ["Cookie": "mpin=" + String(repeating: "0", count: 64)], ["Cookie": "mpin=x; mpin=y"]] {
            let page = try account(server, cookie)
            XCTAssertEqual(page.status, 303)
            XCTAssertEqual(page.headers["location"], "/login")
            XCTAssertEqual(page.text, "")
        }
    }

    func testASessionEndsAfterAnHour() throws {
        let server = try server()
        let cookie = try cookie(logIn(server))
        server.advance(seconds: 3590)
        XCTAssertEqual(try account(server, cookie).status, 200)
        server.advance(seconds: 11)
        XCTAssertEqual(try account(server, cookie).status, 303)
    }

    func testANewLoginOfABrowserEndsItsOldSession() throws {
        let server = try server()
        let first = try cookie(logIn(server))
        let second = try cookie(logIn(server, "bob@example.com", headers: Self.ownPage.merging(first) { $1 }))
        XCTAssertNotEqual(first, second)
        XCTAssertEqual(try account(server, first).status, 303)
        XCTAssertTrue(try account(server, second).text.contains("bob@example.com"))
    }

    func testLoggingOutTakesTheFormOfTheOwnPage() throws {
        let server = try server()
        let cookie = try cookie(logIn(server))
        let body = "csrf=" + (try formToken(account(server, cookie)))
        let other = try self.cookie(logIn(server, "bob@example.com"))
        let foreignToken = "csrf=" + (try formToken(account(server, other)))
        let refused: [(String, [String: String])] = [
            ("", Self.ownPage), ("csrf=", Self.ownPage), (foreignToken, Self.ownPage), (body, [:]),
            (body, ["Origin": "http://evil.example"]), (body, ["Origin": "null"]),
            (body, ["Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1"]),
        ]
        for (body, headers) in refused {
            let answer = try server.backend.call("POST", "/logout", body, headers: headers.merging(cookie) { $1 })
            XCTAssertEqual(answer.status, 403, "\(body) \(headers)")
        }
        XCTAssertEqual(try account(server, cookie).status, 200)
        let answer = try server.backend.call("POST", "/logout", body, headers: Self.ownPage.merging(cookie) { $1 })
        XCTAssertEqual(answer.status, 200)
        XCTAssertTrue(try XCTUnwrap(answer.headers["set-cookie"]).contains("Max-Age=0"))
        XCTAssertEqual(try account(server, cookie).status, 303)
    }

    /// Browsers without scripts use the button of a login page. If a page of another site could press this button, it
    /// could log its visitor in as somebody else.
    func testEndingALoginNeedsTheFormOfTheOwnPage() throws {
        let server = try server()
        let (page, other) = (
            try server.backend.call("GET", "/login/number"), try server.backend.call("GET", "/login/number")
        )
        let cookie = try cookie(page)
        let webOTT = try XCTUnwrap(page.text.firstMatch(of: /name="webOTT" value="([0-9a-f]+)"/)).1
        let (own, foreign) = (try formToken(page), try formToken(other))
        let body = "webOTT=\(webOTT)&csrf=\(own)"
        let refused: [(String, [String: String])] = [
            ("webOTT=\(webOTT)", Self.ownPage), ("webOTT=\(webOTT)&csrf=\(foreign)", Self.ownPage), (body, [:]),
            (body, ["Origin": "http://evil.example"]), (body, ["Sec-Fetch-Site": "cross-site"]),
        ]
        for (body, headers) in refused {
            let answer = try server.backend.call("POST", "/login", body, headers: headers.merging(cookie) { $1 })
            XCTAssertEqual(answer.status, 403, "\(body) \(headers)")
        }
        XCTAssertEqual(try server.backend.call("POST", "/login", body, headers: Self.ownPage).status, 403, "no cookie")
        let answer = try server.backend.call("POST", "/login", body, headers: Self.ownPage.merging(cookie) { $1 })
        XCTAssertEqual(answer.status, 200, "the phone is awaited")
    }

    func testOverHTTPSTheCookieGoesNowhereElse() throws {
        let server = try server { $0.publicURL = "https://www.example.com" }
        let field = try XCTUnwrap(try logIn(server).headers["set-cookie"])
        XCTAssertTrue(field.hasPrefix("__Host-mpin="), field)
        XCTAssertTrue(field.contains("; Secure"), field)
    }

    func testTextFromOutsideStaysText() throws {
        let server = try server()
        let page = try account(server, cookie(logIn(server, "<b>\"x\" & 'y'</b>")))
        XCTAssertTrue(page.text.contains("&lt;b&gt;&quot;x&quot; &amp; &#39;y&#39;&lt;/b&gt;"), page.text)
        XCTAssertFalse(page.text.contains("<b>"))
    }

    func testEveryPageForbidsWhatIsNotFromHere() throws {
        let server = try server()
        for path in ["/", "/signup", "/login", "/login/number", "/mpinActivate?i=1"] {
            let page = try server.backend.call("GET", path)
            let policy = try XCTUnwrap(page.headers["content-security-policy"])
            XCTAssertTrue(policy.hasPrefix("default-src 'none'; style-src 'self'; script-src 'self';"), policy)
            XCTAssertFalse(policy.contains("unsafe"))
            XCTAssertEqual(page.headers["referrer-policy"], "same-origin")
            XCTAssertEqual(page.headers["x-content-type-options"], "nosniff")
            XCTAssertEqual(page.headers["x-frame-options"], "DENY")
            XCTAssertNil(page.text.firstMatch(of: #/ style=|<style| on[a-z]+=|<script>|javascript:/#), path)
        }
    }

    func testTheFilesOfThePagesAreServed() throws {
        let server = try server()
        let types = ["/style.css": "text/css", "/live.js": "text/javascript", "/icon.svg": "image/svg+xml"]
        for (path, type) in types {
            let answer = try server.backend.call("GET", path)
            XCTAssertEqual(answer.status, 200)
            XCTAssertTrue(try XCTUnwrap(answer.headers["content-type"]).hasPrefix(type))
            XCTAssertFalse(answer.body.isEmpty)
        }
    }

    func testALoginPageOffersSomethingElseEachTime() throws {
        let server = try server()
        let numbers = try (0..<3).map { _ in
            try String(
                XCTUnwrap(
                    server.backend.call("GET", "/login/number").text.firstMatch(of: /class="code">([0-9]{7})</)
                ).1)
        }
        XCTAssertEqual(Set(numbers).count, 3)
        let pages = try (0..<2).map { _ in try server.backend.call("GET", "/login").text }
        XCTAssertTrue(pages[0].contains("<svg class=\"code\""))
        XCTAssertNotEqual(pages[0], pages[1])
    }

    func testTheOperatorsListTakesPermitsAway() throws {
        let file = NSTemporaryDirectory() + "revoked-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "mallory@example.com\n".write(toFile: file, atomically: true, encoding: .utf8)
        let server = try server { $0.revokedUsersFile = file }
        let client = TestClient(backend: server.backend)
        let phones = try ["alice@example.com", "mallory@example.com"].map { try client.register($0, pin: "1234") }
        func status(_ phone: TestClient.User) throws -> Int {
            try server.backend.call("GET", "/rps/timePermit/" + phone.id).status
        }
        XCTAssertEqual(try phones.map(status), [200, 410])
        try (phones[0].id + "\n").write(toFile: file, atomically: true, encoding: .utf8)
        XCTAssertEqual(try phones.map(status), [410, 200])
        try FileManager.default.removeItem(atPath: file)
        XCTAssertFalse(try phones.map(status).contains(200), "a list that cannot be read permits nobody")
    }

    /// The operator's list of revoked users must apply to logins, too, not only to requests for permits: a permit is
    /// valid all day, and an RPS may use no permits or may not have the list.
    func testTheOperatorsListTakesLoginsAwayHoweverAUserIsSpelled() throws {
        for usePermits in [true, false] {
            let file = NSTemporaryDirectory() + "revoked-" + UUID().uuidString
            defer { try? FileManager.default.removeItem(atPath: file) }
            func write(_ text: String) throws { try text.write(toFile: file, atomically: true, encoding: .utf8) }
            try write("")
            let server = try server {
                $0.revokedUsersFile = file
                $0.usePermits = usePermits
            }
            let client = TestClient(backend: server.backend)
            let alice = try client.register("alice@example.com", pin: "1234")
            let permit = usePermits ? try client.timePermit(alice) : nil
            func status() throws -> Int {
                try client.authenticate(client.pass2(client.pass1(alice, pin: "1234", permit: permit))).status
            }
            XCTAssertEqual(try status(), 200)
            for line in [
                "alice@example.com", " Alice@Example.com\t\r\n", "\u{FEFF}alice@example.com",
                alice.id.uppercased() + " ",
            ] {
                try write("other@example.com\n" + line)
                XCTAssertEqual(try status(), 403, line)
            }
            try write("alice@example.co\nmalice@example.com\n\n")
            XCTAssertEqual(try status(), 200)
            try FileManager.default.removeItem(atPath: file)
            XCTAssertEqual(try status(), 500, "a list that cannot be read lets nobody in")
        }
    }

    func testARevokedUserIsNoLongerLoggedIn() throws {
        let file = NSTemporaryDirectory() + "revoked-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: file) }
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        let server = try server { $0.revokedUsersFile = file }
        let (alice, bob) = (try cookie(logIn(server)), try cookie(logIn(server, "bob@example.com")))
        try "alice@example.com\n".write(toFile: file, atomically: true, encoding: .utf8)
        XCTAssertEqual(try [alice, bob].map { try account(server, $0).status }, [303, 200])
        XCTAssertFalse(try server.backend.call("GET", "/", headers: alice).text.contains("alice@example.com"))
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        XCTAssertEqual(try account(server, alice).status, 303, "that session is over")
        let user = try Mpind([
            "user", "revoke", "bob@example.com", "--state-dir", server.backend.stateFolder,
        ])
        XCTAssertEqual(user.stop(0), 0)
        XCTAssertEqual(try account(server, bob).status, 303)
    }

    func testThePermitCheckIsForTheRPSOnly() throws {
        let server = try server()
        let phone = try TestClient(backend: server.backend).register("alice@example.com", pin: "1234")
        let target = "/mpinPermitUser?mpin_id=" + phone.id
        let port = server.backend.privatePort
        XCTAssertEqual(try server.backend.call("GET", target, port: port).status, 401)
        let key = try KeyFile.load(server.backend.stateFolder + "/rps-rpa.key")
        let bearer = ["Authorization": "Bearer " + SignedMessage.fromRPS.signature(key: key)]
        XCTAssertEqual(try server.backend.call("GET", target, headers: bearer, port: port).status, 200)
        let bad = try server.backend.call("GET", "/mpinPermitUser?mpin_id=zz", headers: bearer, port: port)
        XCTAssertEqual(bad.status, 400)
    }
}

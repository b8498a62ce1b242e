import Foundation
import MPinServer
import MPinWire
import XCTest

/// Tests that a phone logs a browser in, by access number or QR code (wire sections 6.8 to 6.12 and 7).
final class BrowserLoginTests: XCTestCase {
    func testAPhoneLogsABrowserInAndLearnsHowToLogItOut() throws {
        let (server, client, alice) = try registered()
        let browser = try TestBrowser(server.backend)
        XCTAssertEqual(try browser.poll(), AccessResponse(status: "new"))
        let authOTT = try client.prove(alice, wid: browser.wid)
        XCTAssertEqual(try browser.poll(), AccessResponse(status: "new"), "pass 2 alone logs nobody in")
        let phone = Later { try client.authenticateMobile(authOTT) }
        XCTAssertEqual(try browser.awaitToken(), authOTT)
        let verdict = try browser.redeem(
            authOTT, ",\"logoutURL\":\"/logout\",\"logoutData\":{\"sessionToken\":\"s\"}")
        XCTAssertEqual(verdict.status, 200)
        XCTAssertEqual(verdict.object["userId"] as? String, "alice@example.com")
        XCTAssertEqual(verdict.object["mpinId"] as? String, alice.id)
        let answer = try phone.get()
        XCTAssertEqual(answer.status, 200)
        XCTAssertEqual(answer.object["logoutURL"] as? String, "/logout")
        XCTAssertEqual(answer.object["logoutData"] as? [String: String], ["sessionToken": "s"])
        XCTAssertEqual(try browser.poll(), AccessResponse(status: "expired"))
        XCTAssertEqual(try browser.redeem(authOTT).status, 408, "the token is good once")
        XCTAssertEqual(try client.authenticateMobile(authOTT).status, 412)
    }

    func testAPhoneLogsABrowserInByQRCodeAndSaysHowFarItIs() throws {
        let (server, client, alice) = try registered {
            $0.serviceName = "Demo"
            $0.serviceIconURL = "https://example.com/logo.png"
        }
        let browser = try TestBrowser(code: server.backend)
        XCTAssertEqual(browser.wid.count, 32)
        let details = try report(server, browser.wid.uppercased(), "wid").object
        XCTAssertEqual(
            details as? [String: String],
            [
                "PrerollId": "", "AppName": "Demo", "AppLogoUrl": "https://example.com/logo.png", "prerollId": "",
                "appName": "Demo", "appLogoURL": "https://example.com/logo.png", "siteAddress": "127.0.0.1",
            ])
        XCTAssertEqual(try browser.poll(), AccessResponse(status: "wid"))
        XCTAssertEqual(
            try report(server, browser.wid, "user", user: "alice@example.com").object as? [String: String],
            ["Status": "OK"])
        XCTAssertEqual(try browser.poll(), AccessResponse(status: "user", userId: "alice@example.com"))
        let authOTT = try client.prove(alice, wid: browser.wid)
        let phone = Later { try client.authenticateMobile(authOTT) }
        XCTAssertEqual(try browser.awaitToken(), authOTT)
        _ = try report(server, browser.wid, "abort")
        XCTAssertEqual(try browser.poll().status, "authenticate", "a report does not undo a login")
        XCTAssertEqual(try browser.redeem(authOTT).status, 200)
        let answer = try phone.get()
        XCTAssertEqual(answer.object["logoutURL"] as? String, "", "the RPA offers no logout")
        XCTAssertTrue(answer.object["logoutData"] is NSNull)
    }

    func testWithWaitForLoginResultThePhoneGetsTheRPAsVerdict() throws {
        let (server, client, alice) = try registered {
            $0.waitForLoginResult = true
            $0.logoutURL = "/logout"
        }
        let rows: [(status: Int, more: String, expected: Int)] = [
            (200, ",\"logoutData\":{\"userId\":\"alice\"}", 200), (403, ",\"message\":\"No such account\"", 403),
            (401, "", 401),
        ]
        for row in rows {
            let browser = try TestBrowser(server.backend)
            let authOTT = try client.prove(alice, wid: browser.wid)
            let phone = Later { try client.authenticateMobile(authOTT) }
            _ = try browser.awaitToken()
            XCTAssertEqual(try browser.redeem(authOTT, ",\"logoutData\":{\"sessionToken\":\"s\"}").status, 200)
            XCTAssertEqual(try browser.redeem(authOTT).status, 408, "defect 10: the token was good until loginResult")
            let told = try browser.report(authOTT, row.status, row.more)
            XCTAssertEqual(told.status, 200)
            XCTAssertTrue(told.body.isEmpty)
            XCTAssertEqual(try browser.report(authOTT, 200).status, 408, "one verdict a login")
            let answer = try phone.get()
            XCTAssertEqual(answer.status, row.expected)
            if row.status == 200 {
                XCTAssertEqual(answer.object["logoutURL"] as? String, "/logout", "the configured one")
                XCTAssertEqual(answer.object["logoutData"] as? [String: String], ["userId": "alice"])
            } else {
                XCTAssertFalse((answer.object["message"] as? String ?? "").isEmpty)
            }
        }
        // The RPA may also report its verdict on a login on the user's own device, although no phone waits for it.
        let here = try client.prove(alice, wid: "0")
        XCTAssertEqual(try TestBrowser(server.backend).redeem(here).status, 200)
        XCTAssertEqual(try TestBrowser(server.backend).report(here, 200).status, 200)
    }

    func testTheVerdictIsRefusedWhereItIsNotWaitedForOrMakesNoSense() throws {
        let (server, _, _) = try registered()
        let browser = try TestBrowser(server.backend)
        XCTAssertEqual(try browser.report("00", 200).status, 404)
        let (waiting, _, _) = try registered { $0.waitForLoginResult = true }
        let other = try TestBrowser(waiting.backend)
        XCTAssertEqual(try other.report("00", 200).status, 408)
        for status in [0, 99, 100, 204, 302, 600, -1] { XCTAssertEqual(try other.report("00", status).status, 400) }
        for body in ["", "[]", "{}", "{\"authOTT\":\"00\"}", "{\"status\":200}"] {
            XCTAssertEqual(try waiting.backend.callPrivate("POST", "/loginResult", body).status, 400, body)
        }
    }

    /// In the request, logout data are one level deep in the JSON text; in the store they are two levels deep. So
    /// logout data with 31 levels can be received, but not be read from the store again (the limit is 32). They must be
    /// refused at once.
    func testLogoutDataThatCouldNotBeReadAgainAreRefused() throws {
        func nested(_ levels: Int) -> String {
            ",\"logoutData\":" + String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
        }
        for waits in [false, true] {
            let (server, client, alice) = try registered { $0.waitForLoginResult = waits }
            let browser = try TestBrowser(server.backend)
            let authOTT = try client.prove(alice, wid: browser.wid)
            let phone = Later { try client.authenticateMobile(authOTT) }
            XCTAssertEqual(try browser.awaitToken(), authOTT)
            let refused = try browser.redeem(authOTT, nested(31))
            XCTAssertEqual(refused.status, 400)
            XCTAssertTrue(refused.text.contains("logoutData has too many levels"), refused.text)
            XCTAssertEqual(try browser.redeem(authOTT, nested(30)).status, 200)
            if waits {
                XCTAssertEqual(try browser.report(authOTT, 200, nested(31)).status, 400)
                XCTAssertEqual(try browser.report(authOTT, 200, nested(30)).status, 200)
            }
            XCTAssertEqual(try phone.get().status, 200)
        }
    }

    func testAPhoneIsToldHowManyTriesAreLeftWhereTheOperatorAllowsIt() throws {
        for isTold in [false, true] {
            let server = try InProcess(changeRPS: { $0.tellAttemptsLeft = isTold }).keep(in: self)
            let client = TestClient(backend: server.backend)
            let alice = try client.register("alice@example.com", pin: "1234")
            let browser = try TestBrowser(server.backend)
            let wrong = try client.authenticateMobile(client.prove(alice, pin: "9999", wid: browser.wid))
            XCTAssertEqual(wrong.status, 401)
            XCTAssertEqual(wrong.object["attemptsLeft"] as? Int, isTold ? 2 : nil)
        }
    }

    func testAWrongPINLeavesTheNumberUsable() throws {
        let (server, client, alice) = try registered()
        let browser = try TestBrowser(server.backend)
        let wrong = try client.authenticateMobile(client.prove(alice, pin: "9999", wid: browser.wid))
        XCTAssertEqual(wrong.status, 401)
        XCTAssertEqual(wrong.object["message"] as? String, "Wrong PIN.")
        XCTAssertEqual(wrong.headers["www-authenticate"], "Authenticate")
        XCTAssertEqual(try browser.poll(), AccessResponse(status: "new"))
        try logIn(client, alice, browser)
        let next = try TestBrowser(server.backend)
        for expected in [401, 401, 410] {
            let ott = try client.prove(alice, pin: "9999", wid: next.wid)
            XCTAssertEqual(try client.authenticateMobile(ott).status, expected)
        }
        XCTAssertEqual(try client.authenticateMobile(client.prove(alice, wid: next.wid)).status, 410, "blocked")
        XCTAssertEqual(try next.poll(), AccessResponse(status: "new"))
    }

    func testAPhoneIsToldHowLongATemporaryBlockLasts() throws {
        let (server, client, alice) = try registered { $0.attempts.block = .temporary(seconds: 60) }
        let browser = try TestBrowser(server.backend)
        for expected in [401, 401, 429, 429] {
            let answer = try client.authenticateMobile(client.prove(alice, pin: "9999", wid: browser.wid))
            XCTAssertEqual(answer.status, expected)
            let seconds = answer.headers["retry-after"].flatMap { Int($0) }
            XCTAssertEqual(seconds.map { (50...60).contains($0) }, expected == 429 ? true : nil)
        }
        server.advance(seconds: 61)
        let authOTT = try client.prove(alice, wid: browser.wid)
        let phone = Later { try client.authenticateMobile(authOTT).status }
        XCTAssertEqual(try browser.awaitToken(), authOTT)
        XCTAssertEqual(try browser.redeem(authOTT).status, 200)
        XCTAssertEqual(try phone.get(), 200)
    }

    func testANumberThatNobodyShowsGets412() throws {
        let (server, client, alice) = try registered()
        let expired = try TestBrowser(server.backend)
        server.advance(seconds: 301)
        XCTAssertEqual(try expired.poll(), AccessResponse(status: "new"), "the grace of five seconds")
        server.advance(seconds: 4)
        XCTAssertEqual(try expired.poll(), AccessResponse(status: "expired"))
        for wid in ["0000000", expired.wid, "0", "", "zz"] {
            let ott = try client.prove(alice, wid: wid)
            let answer = try client.authenticateMobile(ott)
            XCTAssertEqual(answer.status, 412, wid)
            XCTAssertEqual(answer.object["message"] as? String, "Invalid or expired access number")
        }
        XCTAssertEqual(try client.authenticateMobile("00").status, 412)
        let browser = try TestBrowser(server.backend)
        let late = try client.prove(alice, wid: browser.wid)
        server.advance(seconds: 61)
        XCTAssertEqual(try client.authenticateMobile(late).status, 401, "the token is good for a minute")
        XCTAssertEqual(try browser.redeem(late).status, 408)
        XCTAssertEqual(try client.authenticateMobile(late).status, 412, "it was presented and is gone")
    }

    /// Wire section 6.8: if a phone presents the token of pass 2 after more than a minute, it gets 401 as long as the
    /// access number is valid. Milagro's server also counted this as a wrong PIN; ours must not.
    func testALateLoginIsNoAttempt() throws {
        let (server, client, alice) = try registered { $0.maxAttempts = 2 }
        let browser = try TestBrowser(server.backend)
        let (right, wrong) = (
            try client.prove(alice, wid: browser.wid), try client.prove(alice, pin: "9", wid: browser.wid)
        )
        server.advance(seconds: 61)
        for _ in 0..<3 {
            let answer = try client.authenticateMobile(right)
            XCTAssertEqual(answer.status, 401)
            XCTAssertEqual(answer.headers["www-authenticate"], "Authenticate")
        }
        XCTAssertEqual(try client.authenticateMobile(wrong).status, 401)
        XCTAssertEqual(try browser.poll().status, "new")
        try logIn(client, alice, browser)
        let other = try TestBrowser(server.backend)
        let last = try client.prove(alice, wid: other.wid)
        server.advance(seconds: 305)
        XCTAssertEqual(try client.authenticateMobile(last).status, 412, "the number is gone, too")
    }

    func testThePhoneGets408WhereNoBrowserComes() throws {
        let (server, client, alice) = try registered { $0.limits.service.waitSeconds = 1 }
        let browser = try TestBrowser(server.backend)
        let authOTT = try client.prove(alice, wid: browser.wid)
        let answer = try client.authenticateMobile(authOTT)
        XCTAssertEqual(answer.status, 408)
        XCTAssertEqual(answer.object["message"] as? String, "Authentication timed out")
        XCTAssertEqual(try client.authenticateMobile(authOTT).status, 408, "it may ask again")
        XCTAssertEqual(try browser.poll().authOTT, authOTT)
        XCTAssertEqual(try browser.redeem(authOTT).status, 200, "the browser may still come")
    }

    func testALoginThatTheBrowserDidNotTakeCanBeMadeAgainByTheSameIdentityOnly() throws {
        let (server, client, alice) = try registered { $0.limits.service.waitSeconds = 0 }
        let eve = try client.register("eve@example.com", pin: "4321")
        let browser = try TestBrowser(server.backend)
        XCTAssertEqual(try client.authenticateMobile(client.prove(alice, wid: browser.wid)).status, 408)
        let eves = try client.prove(eve, pin: "4321", wid: browser.wid)
        XCTAssertEqual(try client.authenticateMobile(eves).status, 412)
        let second = try client.prove(alice, wid: browser.wid)
        XCTAssertEqual(try client.authenticateMobile(second).status, 408)
        XCTAssertEqual(try browser.poll().authOTT, second)
        let third = try client.prove(alice, wid: browser.wid)
        XCTAssertEqual(try client.authenticateMobile(third).status, 412, "the browser has the second")
        XCTAssertEqual(try browser.redeem(third).status, 408)
        server.advance(seconds: 61)
        XCTAssertEqual(try browser.poll().status, "new", "a token that has expired is not shown")
        XCTAssertEqual(try browser.redeem(second).status, 408, "and is worth nothing")
        let fourth = try client.prove(alice, wid: browser.wid)
        XCTAssertEqual(try client.authenticateMobile(fourth).status, 408)
        XCTAssertEqual(try browser.poll().authOTT, fourth)
        XCTAssertEqual(try browser.redeem(fourth).status, 200)
    }

    /// Wire section 6.10: the server answers at once. But if the page asks it to wait, as our pages do, it answers when
    /// something changes.
    func testTheBrowserIsAnsweredAtOnceOrWhenSomethingChanges() throws {
        let (server, client, alice) = try registered()
        let browser = try TestBrowser(code: server.backend)
        XCTAssertLessThan(try seconds { _ = try browser.poll() }, 5)
        XCTAssertLessThan(
            try seconds { XCTAssertEqual(try browser.poll(",\"wait\":10,\"status\":\"wid\"").status, "new") }, 5)
        for (more, next) in [
            (",\"wait\":10,\"status\":\"new\"", "wid"), (",\"wait\":\"10\",\"status\":\"wid\"", "user"),
        ] {
            let waiting = Later { try browser.poll(more).status }
            let time = try seconds {
                _ = try report(server, browser.wid, next)
                XCTAssertEqual(try waiting.get(), next)
            }
            XCTAssertLessThan(time, 5)
        }
        let waiting = Later { try browser.poll(",\"wait\":10,\"status\":\"user\"") }
        let authOTT = try client.prove(alice, wid: browser.wid)
        let phone = Later { try client.authenticateMobile(authOTT) }
        XCTAssertEqual(try waiting.get().authOTT, authOTT)
        XCTAssertEqual(try browser.redeem(authOTT).status, 200)
        XCTAssertEqual(try phone.get().status, 200)
        XCTAssertLessThan(try seconds { XCTAssertEqual(try browser.poll(",\"wait\":10").status, "expired") }, 5)
    }

    func testNobodyWaitsLongerThanTheLimit() throws {
        let (server, _, _) = try registered { $0.limits.service.pageWaitSeconds = 1 }
        let browsers = try (0..<3).map { _ in try TestBrowser(server.backend) }
        let waits = zip(browsers, ["1", "3600", "999999999"]).map { browser, wait in
            let start = ContinuousClock.now
            return Later { (try browser.poll(",\"wait\":\(wait)").status, start.duration(to: .now) / .seconds(1)) }
        }
        for wait in waits {
            let (status, time) = try wait.get()
            XCTAssertEqual(status, "new")
            XCTAssertGreaterThan(time, 0.9)
            XCTAssertLessThan(time, 8)
        }
        let browser = browsers[0]
        XCTAssertLessThan(try seconds { _ = try browser.poll(",\"wait\":-1") }, 0.9)
    }

    func testAReportIsAShortWordAndNoneOfTheServersOwn() throws {
        let (server, _, _) = try registered()
        let browser = try TestBrowser(code: server.backend)
        let long = String(repeating: "a", count: 33)
        for status in ["", "new", "authenticate", "expired", "a b", "<b>", "\u{e9}", long] {
            XCTAssertEqual(try report(server, browser.wid, status).status, 400, status)
        }
        let user = String(repeating: "a", count: 255)
        XCTAssertEqual(try report(server, browser.wid, "user", user: user).status, 400)
        XCTAssertEqual(try report(server, browser.wid, "user", user: "a\u{7}").status, 400)
        XCTAssertEqual(try browser.poll(), AccessResponse(status: "new"))
        for status in ["abort", "wid-2_B", String(long.dropLast())] {
            XCTAssertEqual(try report(server, browser.wid, status).status, 200)
            XCTAssertEqual(try browser.poll().status, status)
        }
        for wid in ["00", "", browser.wid + "0"] {
            XCTAssertEqual(
                try report(server, wid, "wid").object as? [String: String], ["Status": "OK"], "as for old clients")
        }
    }

    /// Access numbers have few digits. If the report of a phone changed anything, or its answer told whether the number
    /// is in use, anybody could find the numbers in use and write a name on the pages that show them.
    func testAReportOnANumberTellsAndChangesNothing() throws {
        let (server, _, _) = try registered { $0.serviceName = "Demo" }
        let browser = try TestBrowser(server.backend)
        let other = try XCTUnwrap(["0000000", "1111111"].first { $0 != browser.wid })
        for status in ["wid", "user", "abort"] {
            let answers = try [browser.wid, other].map { try report(server, $0, status, user: "mallory").text }
            XCTAssertEqual(answers[0], answers[1], status)
            XCTAssertEqual(try browser.poll(), AccessResponse(status: "new"), status)
        }
        XCTAssertEqual(try report(server, other, "wid").object["appName"] as? String, "Demo", "a phone shows it")
    }

    /// Wire sections 6.9 and 6.11: numbers and codes are available even if the settings do not announce them. Without
    /// the check digit a number has six digits.
    func testNumbersAndCodesAreServedThoughTheSettingsDoNotNameThem() throws {
        let server = try InProcess(changeRPS: {
            $0.requestOTP = true
            $0.mobileUseNative = false
            $0.accessNumberUseCheckSum = false
        }).keep(in: self)
        let number = try TestBrowser(server.backend)
        XCTAssertNotNil(number.wid.wholeMatch(of: /[0-9]{6}/), number.wid)
        let code = try TestBrowser(code: server.backend)
        XCTAssertNotNil(code.wid.wholeMatch(of: /[0-9a-f]{32}/), code.wid)
        for browser in [number, code] { XCTAssertEqual(try browser.poll(), AccessResponse(status: "new")) }
    }

    func testNumberAndCodeComeWithTheirTimes() throws {
        let server = try InProcess(changeRPS: {
            $0.limits.service.accessNumberSeconds = 120
            $0.baseURL = "https://login.example.com"
        })
        for (path, name) in [("getAccessNumber", "accessNumber"), ("getQrUrl", "qrUrl")] {
            // Milagro's browser pages send an empty body, which Milagro's RPA forwards with the content type of a form.
            let answer = try server.backend.call(
                "POST", "/rps/" + path, "", headers: ["Content-Type": "application/x-www-form-urlencoded"])
            XCTAssertEqual(answer.status, 200)
            XCTAssertEqual(
                Set(answer.object.keys), [name, "webOTT", "ttlSeconds", "localTimeStart", "localTimeEnd"])
            XCTAssertEqual(answer.object["ttlSeconds"] as? Int, 120)
            let start = try XCTUnwrap(answer.object["localTimeStart"] as? Int)
            XCTAssertEqual(answer.object["localTimeEnd"] as? Int, start + 120_000)
            XCTAssertLessThan(abs(start / 1000 - Int(server.now.seconds)), 5)
            XCTAssertEqual((answer.object["webOTT"] as? String)?.count, 32)
        }
        let code: WaitingBrowserResponse = try server.backend.call("POST", "/rps/getQrUrl", "").json()
        XCTAssertTrue(try XCTUnwrap(code.qrUrl).hasPrefix("https://login.example.com#"))
    }

    private func logIn(_ client: TestClient, _ user: TestClient.User, _ browser: TestBrowser) throws {
        let authOTT = try client.prove(user, wid: browser.wid)
        let phone = Later { try client.authenticateMobile(authOTT) }
        XCTAssertEqual(try browser.awaitToken(), authOTT)
        XCTAssertEqual(try browser.redeem(authOTT).status, 200)
        XCTAssertEqual(try phone.get().status, 200)
    }

    private func report(_ server: InProcess, _ wid: String, _ status: String, user: String? = nil) throws -> Answer {
        let userID = user.map { ",\"userId\":\($0.quoted)" } ?? ""
        return try server.backend.call(
            "POST", "/rps/codeStatus", "{\"status\":\(status.quoted),\"wid\":\"\(wid)\"\(userID)}")
    }

    private func seconds(_ work: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try work()
        return start.duration(to: .now) / .seconds(1)
    }

    private func registered(
        _ change: (inout RelyingPartyServiceConfig) -> Void = { _ in }
    ) throws -> (InProcess, TestClient, TestClient.User) {
        let server = try InProcess(changeRPS: change).keep(in: self)
        let client = TestClient(backend: server.backend)
        return (server, client, try client.register("alice@example.com", pin: "1234"))
    }
}

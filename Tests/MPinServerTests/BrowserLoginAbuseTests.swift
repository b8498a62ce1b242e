import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import MPinWire
import XCTest

/// Tests that a login by access number can neither log in another user nor succeed twice.
final class BrowserLoginAbuseTests: XCTestCase {
    /// Wire section 17, defect 1: in Milagro's server, somebody who had logged in correctly with an access number could
    /// send a second pass 2 for the same number with an invented identity. It replaced the first one, and its token
    /// logged in the invented user.
    func testASecondPass2OnANumberSwapsNoIdentity() throws {
        let (server, client, eve) = try registered("eve@example.com")
        let alice = try client.register("alice@example.com", pin: "1234")
        let text = "{\"mobile\": 1, \"issued\": \"2026-01-01 00:00:00.000000\", \"userID\": \"root\", \"salt\": \"00\"}"
        let invented = TestClient.User(id: Hex.encode(Array(text.utf8)), token: eve.token)
        let victim = TestClient.User(id: alice.id, token: eve.token)
        let permit = try client.timePermit(eve)
        let browser = try TestBrowser(server.backend)
        let own = try client.prove(eve, wid: browser.wid)
        let phone = Later { try client.authenticateMobile(own) }
        XCTAssertEqual(try browser.awaitToken(), own)
        for other in [invented, victim] {
            let pass1 = try client.pass1(other, pin: "1234", permit: permit)
            let pass2 = try client.pass2(pass1, wid: browser.wid)
            let forged = try XCTUnwrap(pass2.object["authOTT"] as? String)
            XCTAssertEqual(try browser.poll().authOTT, own, "the browser keeps its token")
            XCTAssertEqual(try browser.redeem(forged).status, 401, "each token has its own verdict")
            XCTAssertEqual(try client.authenticateMobile(forged).status, 412)
        }
        let verdict = try browser.redeem(own)
        XCTAssertEqual(verdict.status, 200)
        XCTAssertEqual(verdict.object["userId"] as? String, "eve@example.com")
        XCTAssertEqual(try phone.get().status, 200)
    }

    func testARightPINForOneBrowserLogsNoOtherIn() throws {
        let (server, client, alice) = try registered("alice@example.com")
        let browsers = try (0..<2).map { _ in try TestBrowser(server.backend) }
        let authOTT = try client.prove(alice, wid: browsers[0].wid)
        XCTAssertEqual(try browsers[0].redeem(authOTT).status, 408, "no phone has brought it to the browser")
        let second = try client.prove(alice, wid: browsers[0].wid)
        let phone = Later { try client.authenticateMobile(second) }
        _ = try browsers[0].awaitToken()
        XCTAssertEqual(try browsers[1].poll(), AccessResponse(status: "new"))
        XCTAssertEqual(try browsers[0].redeem(second).status, 200)
        XCTAssertEqual(try phone.get().status, 200)
        // Pass 2 with WID "0" is for a login on the device itself, so its token logs no browser in.
        let here = try client.prove(alice, wid: "0")
        XCTAssertEqual(try client.authenticateMobile(here).status, 412)
        XCTAssertEqual(try browsers[1].redeem(here).status, 200)
    }

    func testOfTwoPhonesOnOneNumberOneWins() throws {
        let (server, client, alice) = try registered("alice@example.com") { $0.limits.service.waitSeconds = 2 }
        let bob = try client.register("bob@example.com", pin: "1234")
        for _ in 0..<5 {
            let browser = try TestBrowser(server.backend)
            let tokens = try [alice, bob].map { try client.prove($0, wid: browser.wid) }
            let phones = tokens.map { token in Later { try client.authenticateMobile(token).status } }
            let shown = try browser.awaitToken()
            let verdicts = parallel(10) { try browser.redeem(tokens[$0 % 2]).status }
            XCTAssertEqual(verdicts.filter { $0 == 200 }.count, 1, "\(verdicts)")
            XCTAssertEqual(Set(verdicts), [200, 408])
            let statuses = try phones.map { try $0.get() }
            XCTAssertEqual(statuses.sorted(), [200, 412])
            XCTAssertEqual(statuses.firstIndex(of: 200), tokens.firstIndex(of: shown))
        }
    }

    func testOfManyReplaysOfATokenOneLogsIn() throws {
        let (server, client, alice) = try registered("alice@example.com") { $0.waitForLoginResult = true }
        let browser = try TestBrowser(server.backend)
        let authOTT = try client.prove(alice, wid: browser.wid)
        let phone = Later { try client.authenticateMobile(authOTT).status }
        _ = try browser.awaitToken()
        let verdicts = parallel(40) { try browser.redeem(authOTT).status }
        XCTAssertEqual(verdicts.filter { $0 == 200 }.count, 1)
        XCTAssertEqual(verdicts.filter { $0 == 408 }.count, 39)
        let reports = parallel(20) { try browser.report(authOTT, 200).status }
        XCTAssertEqual(reports.filter { $0 == 200 }.count, 1)
        XCTAssertEqual(try phone.get(), 200)
    }

    /// Access numbers have few digits. If the answers told whether a number is in use, somebody without an account
    /// could collect the numbers in use, and later log in the browsers that show them under his own name.
    func testWhoHasNoAccountCannotTellALiveNumberFromADeadOne() throws {
        let (server, client, alice) = try registered("alice@example.com")
        let permit = try client.timePermit(alice)
        let old = try TestBrowser(server.backend).wid
        server.advance(seconds: 306)
        let (live, code) = (try TestBrowser(server.backend).wid, try TestBrowser(code: server.backend).wid)
        let dead = try XCTUnwrap(["0000000", "1111111"].first { $0 != live })
        func answer(_ user: TestClient.User, _ pin: String, _ wid: String) throws -> String {
            let pass2 = try client.pass2(client.pass1(user, pin: pin, permit: permit), wid: wid)
            let authOTT = try XCTUnwrap(pass2.object["authOTT"] as? String)
            let answer = try client.authenticateMobile(authOTT)
            let headers = answer.headers.filter { !["date", "x-request-id"].contains($0.key) }
            return "\(answer.status) \(answer.text) \(headers.sorted { $0.key < $1.key })"
        }
        let expected = try answer(.invented(token: alice.token), "1234", live)
        XCTAssertTrue(expected.hasPrefix("401 "), expected)
        for wid in [dead, old, code, String(repeating: "0", count: 32), "0", "zz"] {
            for pin in ["1234", "9999"] {
                XCTAssertEqual(try answer(.invented(token: alice.token), pin, wid), expected, wid)
            }
        }
        XCTAssertEqual(try answer(alice, "9999", live), expected)
        XCTAssertEqual(try answer(alice, "9999", dead), expected)
        let blocked = try answer(alice, "9999", dead)
        XCTAssertTrue(blocked.hasPrefix("410 "), "the verdict is that of the identity: \(blocked)")
        XCTAssertEqual(try answer(alice, "1234", live), blocked)
    }

    /// If one phone had logged in with an access number, and another phone then sent a wrong PIN for the same number,
    /// Milagro's server reported the wrong PIN to the first phone.
    func testAWrongPINDoesNotDisturbAnothersLoginOnTheNumber() throws {
        let (server, client, alice) = try registered("alice@example.com")
        let eve = try client.register("eve@example.com", pin: "1234")
        let browser = try TestBrowser(server.backend)
        let right = try client.prove(alice, wid: browser.wid)
        let wrong = try client.prove(eve, pin: "0000", wid: browser.wid)
        XCTAssertEqual(try client.authenticateMobile(wrong).status, 401)
        let phone = Later { try client.authenticateMobile(right).status }
        XCTAssertEqual(try browser.awaitToken(), right)
        XCTAssertEqual(try client.authenticateMobile(client.prove(eve, pin: "0000", wid: browser.wid)).status, 401)
        XCTAssertEqual(try browser.redeem(right).status, 200)
        XCTAssertEqual(try phone.get(), 200)
    }

    func testManyBrowsersAndPhonesAtOnceAllFindEachOther() throws {
        let (server, client, alice) = try registered("alice@example.com")
        let users = try [alice] + (1..<6).map { try client.register("user\($0)@example.com", pin: "1234") }
        let pairs = parallel(12) { index -> [Int] in
            let browser = try index % 4 == 0 ? TestBrowser(code: server.backend) : TestBrowser(server.backend)
            let user = users[index % 6]
            let authOTT = try client.prove(user, wid: browser.wid)
            let phone = Later { try client.authenticateMobile(authOTT).status }
            let shown = try browser.awaitToken()
            let verdict = try browser.redeem(shown)
            XCTAssertEqual(verdict.object["mpinId"] as? String, user.id)
            return [verdict.status, try phone.get()]
        }
        XCTAssertEqual(pairs, Array(repeating: [200, 200], count: 12))
    }

    func testTheServerStopsInTimeWhileAPhoneAndABrowserWait() throws {
        let backend = Backend.onFreePorts()
        defer { try? FileManager.default.removeItem(atPath: backend.stateFolder) }
        let mpind = try Mpind(backend)
        try mpind.waitUntilReady()
        let client = TestClient(backend: backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        let browsers = try (0..<2).map { _ in try TestBrowser(backend) }
        let browser = Later { try browsers[1].poll(",\"wait\":10").status }
        let authOTT = try client.prove(alice, wid: browsers[0].wid)
        let phone = Later { try client.authenticateMobile(authOTT).status }
        _ = try browsers[0].awaitToken()
        let start = ContinuousClock.now
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
        XCTAssertEqual(try phone.get(), 408)
        XCTAssertEqual(try browser.get(), "new")
        XCTAssertLessThan(start.duration(to: .now), .seconds(7))
    }

    private func registered(
        _ user: String, _ change: (inout RelyingPartyServiceConfig) -> Void = { _ in }
    ) throws -> (InProcess, TestClient, TestClient.User) {
        let server = try InProcess(changeRPS: change).keep(in: self)
        let client = TestClient(backend: server.backend)
        return (server, client, try client.register(user, pin: "1234"))
    }
}

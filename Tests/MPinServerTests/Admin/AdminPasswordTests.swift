import Foundation
import MPinServer
import XCTest

/// Tests the part of the admin API for one-time passwords.
final class AdminPasswordTests: AdminAPITestCase {
    private func digits(_ client: TestClient, _ user: TestClient.User, redeem: Bool = true) throws -> String {
        let login = try client.pass1(user, pin: "1234", permit: client.timePermit(user))
        let pass2 = try client.pass2(login, otp: true)
        if redeem { XCTAssertEqual(try client.authenticate(pass2).status, 200) }
        return try XCTUnwrap(pass2.object["OTP"] as? String)
    }

    /// Other digits than the given ones.
    private func other(_ digits: String) -> String { digits == "123456" ? "654321" : "123456" }

    func testAOneTimePasswordIsGoodOnce() throws {
        let server = try start()
        let (token, client) = (try token(server, "vpn", [.otp]), TestClient(backend: server.backend))
        let (alice, bob) = (
            try client.register("alice@example.com", pin: "1234"), try client.register("bob@example.com", pin: "1234")
        )
        func check(_ digits: String, _ user: String = "alice@example.com") throws -> Answer {
            try ask(server, "POST", "/otp/verify", "{\"user\":\"\(user)\",\"otp\":\"\(digits)\"}", token: token)
        }
        let first = try digits(client, alice)
        XCTAssertEqual(try check(first, "bob@example.com").status, 403, "another user's")
        XCTAssertEqual(try check(other(first)).status, 403, "wrong")
        let right = try check(first)
        XCTAssertEqual(right.status, 200)
        XCTAssertEqual(right.object as? [String: String], ["user": "alice@example.com"])
        let used = try check(first)
        XCTAssertEqual(used.status, 403)
        XCTAssertNil(used.headers["www-authenticate"], "unlike a missing scope")
        XCTAssertEqual(used.text, try check(first, "nobody").text, "one answer for all reasons")

        let unredeemed = try digits(client, alice, redeem: false)
        XCTAssertEqual(try check(unredeemed).status, 403, "before the login has ended")
        let guessed = try digits(client, alice)
        for _ in 0..<5 { XCTAssertEqual(try check(other(guessed)).status, 403) }
        XCTAssertEqual(try check(guessed).status, 403, "void after five wrong tries")
        let almost = try digits(client, alice)
        for _ in 0..<4 { XCTAssertEqual(try check(other(almost)).status, 403) }
        XCTAssertEqual(try check(almost).status, 200, "four wrong tries are allowed")
        let (older, newer) = (try digits(client, bob), try digits(client, bob))
        if older != newer { XCTAssertEqual(try check(older, "bob@example.com").status, 403, "replaced") }
        XCTAssertEqual(try check(newer, "bob@example.com").status, 200)
        let late = try digits(client, bob)
        server.advance(seconds: 61)
        XCTAssertEqual(try check(late, "bob@example.com").status, 403, "expired")
        let log = try audit(server)
        XCTAssertEqual(log.split(separator: "\n").filter { $0.contains("\"right\":\"true\"") }.count, 3)
        XCTAssertTrue(log.contains("\"event\":\"otp-checked\""))
        for body in ["{}", "{\"user\":\"\",\"otp\":\"1\"}", "{\"user\":\"x\",\"otp\":1}", "[]", "x"] {
            XCTAssertEqual(try ask(server, "POST", "/otp/verify", body, token: token).status, 400, body)
        }
    }

    /// A client of MIRACL Trust before client-js 8.3 gets the digits with the verdict (TRUST wire section 4.8).
    func testAPasswordOfAnOlderClientOfMIRACLTrust() async throws {
        let server = try await InProcess.trust(
            self, change: { $0.adminListen = try? ListenAddress(host: "127.0.0.1", port: Self.port) })
        let (token, client) = (try token(server, "vpn", [.otp]), TrustClient(backend: server.backend))
        let device = try client.registerEarlier("alice@example.com")
        func check(_ digits: String) throws -> Int {
            let body = "{\"user\":\"alice@example.com\",\"otp\":\"\(digits)\"}"
            return try ask(server, "POST", "/otp/verify", body, token: token).status
        }
        let wrong = try client.login(device, pin: "1235", scope: "otp")
        XCTAssertEqual([wrong.code, wrong.object["otp"] as? String], ["UNSUCCESSFUL_AUTHENTICATION", nil])
        let right = try client.login(device, scope: "otp", wid: "0")
        XCTAssertEqual(
            Set(right.object.keys), ["status", "message", "otp", "OTP", "expireTime", "ttlSeconds", "nowTime"],
            right.text)
        XCTAssertEqual(right.object["ttlSeconds"] as? Int, 60)
        let (now, end) = (right.object["nowTime"] as? Int64 ?? 0, right.object["expireTime"] as? Int64 ?? 0)
        XCTAssertEqual(end - now, 60_000)
        XCTAssertEqual(Double(now / 1000), Double(server.now.seconds), accuracy: 5)
        let digits = try XCTUnwrap(right.object["otp"] as? String)
        XCTAssertNotNil(digits.wholeMatch(of: /[0-9]{6}/), digits)
        XCTAssertEqual([try check(other(digits)), try check(digits), try check(digits)], [403, 200, 403])
        let late = try XCTUnwrap(client.login(device, scope: "otp").object["otp"] as? String)
        server.advance(seconds: 61)
        XCTAssertEqual(try check(late), 403, "expired")
        let renewed = try XCTUnwrap(client.login(device, scope: "otp").object["otp"] as? String)
        _ = try await server.users().change(.revoke, user: "alice@example.com", identity: nil, audit: .off)
        XCTAssertEqual(try check(renewed), 403, "of a revoked identity")
    }

    /// The digits of a user who was blocked, revoked or deleted since the login have no effect.
    func testDigitsOfAUserWhoMayNotLogInAreNoPasswords() throws {
        let server = try start { $0.delivery = .forceActivate }
        let token = try token(server, "vpn", [.otp, .usersWrite])
        let client = TestClient(backend: server.backend)
        for (index, change) in ["block", "revoke", "delete"].enumerated() {
            let name = "user\(index)"
            let user = try client.register(name, pin: "1234")
            let digits = try digits(client, user)
            let answer =
                try change == "delete"
                ? ask(server, "DELETE", "/users/\(name)", token: token)
                : ask(server, "POST", "/users/\(name)/\(change)", token: token)
            XCTAssertEqual(answer.status, 200)
            let body = "{\"user\":\"\(name)\",\"otp\":\"\(digits)\"}"
            XCTAssertEqual(try ask(server, "POST", "/otp/verify", body, token: token).status, 403, change)
        }
    }
}

import MPinSecrets
import MPinServer
import XCTest

/// Tests that a suspended user neither logs in nor registers, and that all is as before when the suspension is over.
final class AdminSuspensionTests: AdminAPITestCase {
    private static let path = "/users/alice%40example.com"

    private func suspend(
        _ server: InProcess, _ token: String, _ body: String = #"{"reason":"left"}"#,
        user: String = AdminSuspensionTests.path
    ) throws -> Answer {
        try ask(server, "POST", user + "/suspend", body, token: token)
    }

    private func state(_ server: InProcess, _ token: String) throws -> [String] {
        let devices = try ask(server, "GET", Self.path, token: token).object["devices"] as? [[String: Any]] ?? []
        return devices.compactMap { $0["state"] as? String }
    }

    /// The status of the answer to a request for a registration.
    private func registration(_ server: InProcess, _ user: String) throws -> Int {
        try server.backend.call("PUT", "/rps/user", "{\"mobile\":1,\"userId\":\"\(user)\"}").status
    }

    private func isRevoked(_ server: InProcess, _ user: TestClient.User) throws -> Bool {
        try server.backend.callPrivate("GET", "/user/" + user.id).status == 410
    }

    /// A person whom the operator has blocked registered again by mail, and logged in.
    func testASuspendedUserNeitherLogsInNorRegisters() throws {
        let server = try start()
        let (token, client) = (try token(server, "desk", [.usersWrite]), TestClient(backend: server.backend))
        let alice = try client.register("alice@example.com", pin: "1234")
        let bob = try client.register("bob@example.com", pin: "1234")
        let permit = try client.timePermit(alice)
        let pending = try client.startRegistration("alice@example.com")
        let confirmed = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        let waiting = try client.startRegistration("alice@example.com")
        XCTAssertNotEqual(pending.mpinId, waiting.mpinId)

        let answer = try suspend(server, token)
        XCTAssertEqual(answer.status, 200, answer.text)
        XCTAssertEqual(answer.object["by"] as? String, "desk")
        XCTAssertEqual(answer.object["reason"] as? String, "left")
        XCTAssertNil(answer.object["until"])
        XCTAssertEqual(try state(server, token), ["suspended"])
        XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 410)
        XCTAssertTrue(try isRevoked(server, alice), "sessions have no effect")
        for user in ["alice@example.com", "ALICE@Example.com", "alice+new@example.com", "alice@example.com."] {
            XCTAssertEqual(try registration(server, user), 403, user)
        }
        XCTAssertThrowsError(try client.confirm("alice@example.com"), "by the link of before")
        XCTAssertEqual(try client.signature(confirmed).status, 403, "confirmed before")
        XCTAssertEqual(try client.login(bob, pin: "1234").status, 200)
        XCTAssertEqual(try registration(server, "alice@example.org"), 200)

        let resumed = try ask(server, "POST", Self.path + "/resume", token: token)
        XCTAssertEqual(resumed.status, 200, resumed.text)
        XCTAssertEqual(try ask(server, "POST", Self.path + "/resume", token: token).status, 404)
        XCTAssertEqual(try state(server, token), ["active"])
        XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 200)
        XCTAssertFalse(try isRevoked(server, alice))
        XCTAssertEqual(try client.signature(confirmed).status, 200)
        let lines = try audit(server).split(separator: "\n").filter { $0.contains("\"token\":\"desk\"") }
        for event in ["suspended", "resumed"] {
            let line = try XCTUnwrap(lines.first { $0.contains("\"event\":\"\(event)\"") })
            XCTAssertTrue(line.contains(Hex.encode(alice.hash)) && line.contains("alice@example.com"), "\(line)")
        }
        try requireGoodAudit(server)
    }

    func testASuspensionEndsByItself() throws {
        let server = try start()
        let (token, client) = (try token(server, "desk", [.usersWrite]), TestClient(backend: server.backend))
        let alice = try client.register("alice@example.com", pin: "1234")
        let permit = try client.timePermit(alice)
        let end = server.now.adding(seconds: 120).iso
        let suspended = try suspend(server, token, "{\"reason\":\"for a while\",\"until\":\"\(end)\"}")
        XCTAssertEqual(suspended.object["until"] as? String, end)
        XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 429, "clients keep their user")
        XCTAssertEqual(try registration(server, "alice@example.com"), 403)
        server.advance(seconds: 121)
        XCTAssertEqual(try state(server, token), ["active"])
        XCTAssertFalse(try isRevoked(server, alice))
        XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 200)
        XCTAssertEqual(try registration(server, "alice@example.com"), 200)
        XCTAssertNil(try ask(server, "GET", Self.path, token: token).object["suspended"])
    }

    /// Neither a suspension nor its end changes what wrong PINs or the operator have blocked.
    func testABlockStaysWhatItIs() throws {
        let server = try start()
        let (token, client) = (try token(server, "desk", [.usersWrite]), TestClient(backend: server.backend))
        let alice = try client.register("alice@example.com", pin: "1234")
        let permit = try client.timePermit(alice)
        func change(_ word: String) throws {
            XCTAssertEqual(try ask(server, "POST", "\(Self.path)/\(word)", token: token).status, 200, word)
        }
        for _ in 0..<3 { _ = try client.login(alice, pin: "9999", permit: permit) }
        XCTAssertEqual(try state(server, token), ["blocked"])
        XCTAssertEqual(try suspend(server, token).status, 200)
        try change("resume")
        XCTAssertEqual(try state(server, token), ["blocked"], "by wrong PINs")
        XCTAssertFalse(try isRevoked(server, alice))
        XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 410)

        XCTAssertEqual(try suspend(server, token).status, 200)
        try change("unblock")
        XCTAssertEqual(try state(server, token), ["suspended"], "an unblock ends no suspension")
        XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 410)
        try change("block")
        try change("resume")
        XCTAssertEqual(try state(server, token), ["blocked"], "by the operator")
        XCTAssertTrue(try isRevoked(server, alice))
        try change("unblock")
        XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 200)
    }

    func testWhatASuspensionNeedsAndWhoIsSuspended() throws {
        let server = try start()
        let token = try token(server, "desk", [.usersWrite])
        let past = server.now.adding(seconds: -1).iso
        for body in [
            "", "{}", #"{"reason":""}"#, #"{"reason":null}"#, #"{"reason":"a","until":null}"#,
            #"{"reason":"a","until":"tomorrow"}"#, #"{"reason":"a","until":"\#(past)"}"#,
            #"{"reason":"a","untill":"x"}"#,
            #"{"reason":"a\u0007"}"#, #"{"reason":"\#(String(repeating: "a", count: 257))"}"#,
        ] {
            XCTAssertEqual(try suspend(server, token, body).status, 400, body)
        }
        XCTAssertEqual(try ask(server, "GET", Self.path, token: token).status, 404, "nobody is suspended")
        let names = (0..<5).map { "user\($0)" }
        for name in names { XCTAssertEqual(try suspend(server, token, user: "/users/" + name).status, 200) }
        let shown = try ask(server, "GET", "/users/user3", token: token)
        XCTAssertEqual((shown.object["suspended"] as? [String: Any])?["reason"] as? String, "left")
        var (found, target): ([String], String?) = ([], "/suspensions?limit=2")
        while let page = target {
            let answer = try ask(server, "GET", page, token: token)
            let entries = answer.object["suspensions"] as? [[String: Any]] ?? []
            found += entries.compactMap { $0["user"] as? String }
            target = (answer.object["next"] as? String).map { "/suspensions?limit=2&after=" + $0 }
        }
        XCTAssertEqual(found.sorted(), names)
        let deleted = try ask(server, "DELETE", "/users/user3", token: token)
        XCTAssertEqual(deleted.status, 404, "nothing of the user is stored but the operator's decision")
        XCTAssertEqual(try ask(server, "GET", "/users/user3/export", token: token).status, 200)
        XCTAssertEqual(try registration(server, "user3"), 403)
    }

    /// The digits of a login of before are no password any more.
    func testAOneTimePasswordOfASuspendedUserIsWrong() throws {
        let server = try start()
        let (token, client) = (try token(server, "desk", [.usersWrite, .otp]), TestClient(backend: server.backend))
        let alice = try client.register("alice@example.com", pin: "1234")
        func check(_ suspends: Bool) throws -> Int {
            let pass2 = try client.pass2(client.pass1(alice, pin: "1234", permit: client.timePermit(alice)), otp: true)
            XCTAssertEqual(try client.authenticate(pass2).status, 200)
            let digits = try XCTUnwrap(pass2.object["OTP"] as? String)
            if suspends { XCTAssertEqual(try suspend(server, token).status, 200) }
            let body = "{\"user\":\"alice@example.com\",\"otp\":\"\(digits)\"}"
            return try ask(server, "POST", "/otp/verify", body, token: token).status
        }
        XCTAssertEqual(try check(false), 200)
        XCTAssertEqual(try check(true), 403)
    }
}

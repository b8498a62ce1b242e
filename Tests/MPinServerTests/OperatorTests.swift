import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import XCTest

/// Tests an operator's commands on the files of a running server.
final class OperatorTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()
    private var state: String { backend.stateFolder }
    private var copies: String { state + "-backup" }
    private var client: TestClient { TestClient(backend: backend) }

    override func tearDown() {
        for folder in [state, copies] { try? FileManager.default.removeItem(atPath: folder) }
    }

    private func started() throws -> Mpind {
        let mpind = try Mpind(backend)
        try mpind.waitUntilReady()
        return mpind
    }

    private func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws -> (code: Int32, output: String, error: String) {
        try Mpind.run(arguments, environment: environment)
    }

    private func user(_ command: String, _ user: String, _ more: [String] = []) throws -> [[String: Any]] {
        let answer = try run(["user", command, user, "--state-dir", state, "--json"] + more)
        XCTAssertEqual(answer.code, 0, answer.error)
        return try answer.output.split(separator: "\n").map {
            try XCTUnwrap(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    private func requireGoodAudit() throws {
        let answer = try run(["audit", "verify", "--state-dir", state])
        XCTAssertEqual(answer.code, 0, answer.output + answer.error)
    }

    /// The commands for the projects of clients of MIRACL Trust, under a running server.
    func testProjectsAreAddedShownChangedAndRemovedUnderTheRunningServer() throws {
        let mpind = try Mpind(backend)
        try mpind.waitUntilReady()
        func project(_ arguments: String...) throws -> (code: Int32, output: String, error: String) {
            try run(["project"] + arguments + ["--state-dir", state])
        }
        let client = TrustClient(backend: backend, project: "shop")
        XCTAssertEqual(try client.verify("alice@example.com").context["params"], "projectId")
        let added = try project(
            "add", "shop", "--name", "The shop", "--pin-length", "6", "--verification", "code", "--link-url",
            "https://shop.example/login/", "--origin", "https://shop.example", "--origin", "https://www.shop.example")
        XCTAssertEqual(added.code, 0, added.error)
        XCTAssertEqual(
            added.output.split(separator: "\n"),
            [
                "id: shop", "name: The shop", "pin-length: 6", "verification: code", "quickcodes: all",
                "link-url: https://shop.example/login", "origin: https://shop.example",
                "origin: https://www.shop.example",
            ])
        XCTAssertEqual(try client.verify("alice@example.com").object["method"] as? String, "code")
        XCTAssertEqual(try project("show", "shop").output, added.output)
        XCTAssertEqual(try project("list").output, "shop  The shop\n")
        let changed = try project("set", "shop", "--pin-length", "5", "--origin", "", "--link-url", "")
        XCTAssertEqual(
            changed.output.split(separator: "\n"),
            ["id: shop", "name: The shop", "pin-length: 5", "verification: code", "quickcodes: all"], changed.error)
        let url = "https://shop.example/new?user"
        XCTAssertTrue(try project("set", "shop", "--new-user-url", url).output.hasSuffix("new-user-url: \(url)\n"))
        XCTAssertEqual(try project("set", "shop", "--new-user-url", "").output, changed.output)
        let made = try project("token", "add", "shop", "backend", "--days", "2")
        let token = try XCTUnwrap(made.output.split(separator: "\n").last.map(String.init), made.error)
        func verify() throws -> Int {
            try client.call("POST", "/verification", ["userId": "a"], authorization: "Bearer \(token)").status
        }
        XCTAssertEqual(try verify(), 200)
        let listed = try project("token", "list", "shop").output
        XCTAssertTrue(listed.hasPrefix("backend  until "), listed)
        XCTAssertFalse(listed.contains(token))
        XCTAssertEqual(try project("token", "add", "shop", "backend").code, 1)
        XCTAssertEqual(try project("token", "add", "shop", "b", "--days", "0").code, 64)
        XCTAssertEqual(
            try [project("token", "add", "none", "b").code, project("token", "remove", "shop", "x").code], [2, 2])
        XCTAssertEqual(try project("token", "remove", "shop", "backend").output, "backend: removed\n")
        XCTAssertEqual(try verify(), 401)
        XCTAssertEqual(try project("token", "add", "shop", "backend").code, 0)
        XCTAssertEqual(try project("remove", "shop").output, "shop: removed\n")
        XCTAssertEqual(try project("add", "shop").code, 0)
        XCTAssertEqual(try project("token", "list", "shop").output, "there is no token\n", "they went with the project")
        XCTAssertEqual(try project("remove", "shop").output, "shop: removed\n")
        XCTAssertEqual(try project("list").output, "no project is registered\n")
        XCTAssertEqual(try client.verify("alice@example.com").context["params"], "projectId")
        XCTAssertEqual(
            try ["show", "set", "remove"].map { try project($0, "shop", "--name", "x").code }, [64, 2, 64])
        XCTAssertEqual(try [project("show", "shop").code, project("remove", "a/b").code], [2, 2])
        _ = try run(["client", "add", "app", "--redirect-uri", "https://app.example/cb", "--state-dir", state])
        let refused: [([String], String)] = [
            (["add", "app"], "is a client of the OpenID provider"), (["add", "a b"], "an id has 1 to 64"),
            (["add", "x", "--pin-length", "7"], "pin-length: 4, 5 or 6"),
            (["add", "x", "--link-url", "http://shop.example"], "link-url: an https URL"),
            (["add", "x", "--link-url", "https://shop.example/?a=b"], "link-url: an https URL"),
            (["add", "x", "--origin", "https://shop.example/"], "is not an origin"),
            (["add", "x", "--new-user-url", "http://shop.example/new"], "new-user-url: an https URL"),
            (["add", "x", "--new-user-url", "com.example.app:/new"], "new-user-url: an https URL"),
            (["add", "x", "--client", "a b"], "client: a b is not the id"),
            (["add", "x", "--name", "a\u{200b}"], "name: 1 to 128 bytes"),
        ]
        for (arguments, reason) in refused {
            let answer = try run(["project"] + arguments + ["--state-dir", state])
            XCTAssertEqual(answer.code, 1, "\(arguments)")
            XCTAssertTrue(answer.error.contains(reason), answer.error)
        }
        XCTAssertEqual(try project("add", "y", "--verification", "sms").code, 64)
        XCTAssertEqual(try project("add", "y").code, 0)
        XCTAssertEqual(try project("add", "y").error, "mpind: error: there is a project y already\n")
        mpind.stop(SIGTERM)
        try requireGoodAudit()
    }

    func testABlockedUserIsShownAndUnblockedUnderTheRunningServer() throws {
        let mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        for _ in 0..<3 { _ = try client.login(alice, pin: "9999") }
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 410)
        let shown = try user("show", "alice@example.com")
        XCTAssertEqual(shown.map { $0["state"] as? String }, ["blocked"])
        XCTAssertEqual(shown.map { $0["wrongPINs"] as? Int }, [3])
        XCTAssertEqual(shown.map { $0["identity"] as? String }, [Hex.encode(alice.hash)])
        XCTAssertEqual(try user("unblock", "alice@example.com").map { $0["state"] as? String }, ["active"])
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        try requireGoodAudit()
        mpind.stop(SIGTERM)
    }

    func testARevokedIdentityIsRefusedAtOnceAndTheOtherDeviceIsNot() throws {
        let mpind = try started()
        let phone = try client.register("alice@example.com", pin: "1234")
        let tablet = try client.register("alice@example.com", pin: "1234")
        let permit = try client.timePermit(phone)
        let revoked = try user("revoke", "alice@example.com", ["--identity", Hex.encode(phone.hash)])
        XCTAssertEqual(revoked.map { $0["state"] as? String }, ["revoked"])
        XCTAssertEqual(try backend.call("GET", "/rps/timePermit/" + phone.id).status, 410)
        XCTAssertEqual(try client.login(phone, pin: "1234", permit: permit).status, 410)
        XCTAssertEqual(try client.login(tablet, pin: "1234").status, 200)
        XCTAssertEqual(
            Set(try user("show", "alice@example.com").map { $0["state"] as? String }), ["revoked", "active"])
        try requireGoodAudit()
        mpind.stop(SIGTERM)
    }

    func testTheServersConfigurationNamesWhatTheCommandsWorkOn() throws {
        let mpind = try started()
        _ = try client.register("alice@example.com", pin: "1234")
        func file(_ name: String, _ text: String) throws -> [String] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(state)/\(name)"))
            return ["--config", "\(state)/\(name)"]
        }
        let all = try file("serve.yaml", "all-in-one: true\nstate-dir: \(state)\nmax-attempts: 4\n")
        let log = "audit-log: \(state)/audit/audit.jsonl\naudit-key-file: \(state)/audit.key\n"
        let rps = try file("rps.yaml", "database: \(state)/rps.sqlite\nkey-file: \(state)/rps.key\n" + log)
        let dta = try file("dta.yaml", "database: \(state)/dta1.sqlite\nkey-file: \(state)/dta1.key\n" + log)
        for (command, said) in [
            (["user", "show", "alice@example.com"] + all, "active"),
            (["user", "revoke", "alice@example.com"] + rps, "revoked"), (["audit", "verify"] + all, "0 findings"),
            (["audit", "verify"] + rps, "0 findings"), (["gc"] + all, "deleted"), (["gc"] + rps, "deleted"),
            (["dta", "shares"] + dta, "current"),
            (["dta", "rotate", "--serve-old-until", "now"] + dta, "master secret 2"),
            (["backup", copies] + all, "copied"), (["audit", "rotate"] + all, state),
        ] {
            let answer = try run(command)
            XCTAssertEqual(answer.code, 0, "\(command) \(answer.error)")
            XCTAssertTrue(answer.output.contains(said), "\(command) \(answer.output)")
        }
        let environment = ["MPIND_STATE_DIR": state]
        XCTAssertEqual(try run(["user", "show", "alice@example.com"], environment: environment).code, 0)
        let other = ["--database", "\(state)/none.sqlite"]
        XCTAssertEqual(try run(["user", "show", "alice@example.com"] + all + other).code, 1, "an option wins")
        let typo = try file("typo.yaml", "state-dri: \(state)\n")
        let answer = try run(["user", "show", "alice@example.com"] + typo)
        XCTAssertEqual(answer.code, 78, answer.error)
        XCTAssertTrue(answer.error.contains("did you mean state-dir"), answer.error)
        mpind.stop(SIGTERM)
        let folder = try FileManager.default.contentsOfDirectory(atPath: state + "/audit").sorted()
        let lines = try folder.map { try String(contentsOfFile: "\(state)/audit/\($0)", encoding: .utf8) }.joined()
        for name in ["user show", "gc", "dta shares", "backup", "audit rotate"] {
            XCTAssertTrue(lines.contains("\"command\":\"\(name)\""), name)
        }
        for event in ["rotated", "revoked"] { XCTAssertTrue(lines.contains("\"event\":\"\(event)\""), event) }
    }

    func testAllUsersAreListed() throws {
        let mpind = try started()
        let empty = try run(["user", "list", "--state-dir", state])
        XCTAssertEqual([empty.code == 0 ? "" : empty.error, empty.output], ["", "nobody is registered\n"])
        let alice = try client.register("alice@example.com", pin: "1234")
        _ = try client.register("alice@example.com", pin: "1234")
        let bob = try client.register("bob@example.com", pin: "1234")
        for _ in 0..<3 { _ = try client.login(bob, pin: "9999") }
        let listed = try run(["user", "list", "--state-dir", state])
        XCTAssertEqual(listed.code, 0, listed.error)
        let lines = listed.output.split(separator: "\n")
        XCTAssertEqual(lines.filter { $0.hasPrefix("alice@example.com  ") && $0.contains(" active") }.count, 2)
        XCTAssertEqual(
            lines.filter { $0.hasPrefix("bob@example.com  \(Hex.encode(bob.hash)) blocked") }.count, 1, listed.output)
        XCTAssertEqual(lines.count, 3)
        let json = try run(["user", "list", "--database", state + "/rps.sqlite", "--json"])
        XCTAssertEqual(json.output.split(separator: "\n").count, 3)
        XCTAssertTrue(json.output.contains("\"identity\":\"\(Hex.encode(alice.hash))\""), json.output)
        let log = try String(contentsOfFile: state + "/audit/audit.jsonl", encoding: .utf8)
        XCTAssertTrue(log.contains("\"command\":\"user list\""))
        try requireGoodAudit()
        mpind.stop(SIGTERM)
    }

    /// Rotates the master secret as docs/operating.md describes: with the option for the whole state folder, then with
    /// the options for single files.
    func testARotationIsRecordedAndTakesTheStateFolder() throws {
        let mpind = try started()
        func rotated() throws -> [String] {
            try String(contentsOfFile: state + "/audit/audit.jsonl", encoding: .utf8).split(separator: "\n")
                .filter { $0.contains("\"event\":\"rotated\"") }.map(String.init)
        }
        let both = try run(["dta", "rotate", "--state-dir", state, "--serve-old-until", "2030-01-01"])
        XCTAssertEqual(both.code, 0, both.error)
        XCTAssertEqual(
            both.output.split(separator: "\n").filter { $0.contains("master secret 2 is the current one") }.count, 2)
        XCTAssertEqual(try rotated().count, 2)
        for name in ["dta1", "dta2"] {
            XCTAssertTrue(try rotated().contains { $0.contains("\"database\":\"\(name)\"") }, name)
        }
        let shares = try run(["dta", "shares", "--state-dir", state])
        XCTAssertEqual(shares.output.split(separator: "\n").count, 4, shares.output + shares.error)
        let files = ["--database", state + "/dta1.sqlite", "--key-file", state + "/dta1.key"]
        let one = try run(["dta", "rotate", "--serve-old-until", "now"] + files)
        XCTAssertEqual(one.code, 0, one.error)
        XCTAssertEqual(one.error, "")
        XCTAssertEqual(try rotated().count, 3)
        try requireGoodAudit()
        mpind.stop(SIGTERM)
        for file in ["dta1.sqlite", "dta1.key"] {
            try makeFolder(copies)
            try FileManager.default.copyItem(atPath: "\(state)/\(file)", toPath: "\(copies)/\(file)")
        }
        let apart = ["--database", copies + "/dta1.sqlite", "--key-file", copies + "/dta1.key"]
        let unrecorded = try run(["dta", "rotate", "--serve-old-until", "now"] + apart)
        XCTAssertEqual(unrecorded.code, 0)
        XCTAssertTrue(unrecorded.error.contains("no audit log is named"), unrecorded.error)
    }

    /// A registration that a mailed link has confirmed proves the user id, which is a mail address. What the operator
    /// sets is seen by the running server, and each command leaves a line in the audit log.
    func testTheProfileOfAUserIsShownAndSetUnderTheRunningServer() throws {
        let mpind = try started()
        _ = try client.register("alice@example.com", pin: "1234")
        func profile(_ command: String, _ more: [String] = []) throws -> [String: Any] {
            let all = ["user", "profile", command, "alice@example.com", "--state-dir", state, "--json"]
            let answer = try run(all + more)
            XCTAssertEqual(answer.code, 0, answer.error)
            return try XCTUnwrap(JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])
        }
        let first = try profile("show")
        XCTAssertEqual(first["email"] as? String, "alice@example.com")
        XCTAssertEqual(first["email-verified"] as? Bool, true)
        let set = try profile(
            "set",
            ["--name", "Alice A.", "--email", "a@example.org", "--picture", "https://pics.example/a.png"]
                + ["--locale", "de", "--groups", "staff", "--groups", "Domain Admins"])
        XCTAssertEqual(set["email-verified"] as? Bool, false)
        XCTAssertEqual(set["groups"] as? [String], ["staff", "Domain Admins"])
        let lines = try run(["user", "profile", "show", "alice@example.com", "--state-dir", state]).output
        for line in [
            "user: alice@example.com", "name: Alice A.", "email: a@example.org", "email-verified: false",
            "picture: https://pics.example/a.png", "locale: de", "groups: staff", "groups: Domain Admins",
        ] {
            XCTAssertTrue(lines.contains(line + "\n"), line)
        }
        let cases: [([String], Int32, String)] = [
            (["set", "alice@example.com", "--picture", "http://x.example/"], 1, "picture: must be https"),
            (["set", "alice@example.com", "--groups", "a,b"], 1, "groups: each must have"),
            (["set", "alice@example.com"], 64, "nothing to set"),
            (["set", "nobody", "--name", "N"], 2, "no identity of nobody"),
            (["show", "nobody"], 2, "no identity of nobody"),
        ]
        for (arguments, code, text) in cases {
            let answer = try run(["user", "profile"] + arguments + ["--state-dir", state])
            XCTAssertEqual(answer.code, code, "\(arguments)")
            XCTAssertTrue(answer.error.contains(text), answer.error)
        }
        let none = try profile("set", ["--name", "", "--groups", ""])
        XCTAssertNil(none["name"])
        XCTAssertEqual(none["groups"] as? [String], [])
        mpind.stop(SIGTERM)
        try requireGoodAudit()
        let log = try String(contentsOfFile: state + "/audit/audit.jsonl", encoding: .utf8)
        XCTAssertTrue(log.contains("\"event\":\"profile-changed\""), log)
        XCTAssertTrue(log.contains("\"members\":\"name email picture locale groups\""), log)
    }

    /// What a message names may be a stranger's text.
    func testAMessageShowsNoCharacterThatMovesTheCursor() throws {
        let mpind = try started()
        for command in ["show", "export"] {
            let answer = try run(["user", command, "eve\u{1B}[2J\u{202E}\n\u{9B}x\u{2028}y", "--state-dir", state])
            XCTAssertEqual(answer.code, 2)
            XCTAssertTrue(answer.error.contains("eve?[2J???x?y"), answer.error)
        }
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    func testAnUnknownUserIsExitCode2AndABadCallExitCode1() throws {
        try started().stop(SIGTERM)
        let unknown = try run(["user", "show", "nobody", "--state-dir", state])
        XCTAssertEqual(unknown.code, 2)
        XCTAssertEqual(unknown.error, "mpind: error: no identity of nobody\n")
        XCTAssertEqual(unknown.output, "")
        let cases: [([String], String)] = [
            (["user", "show", "nobody"], "either --database or --state-dir"),
            (["user", "show", "nobody", "--database", state + "/none"], "none: no such database"),
            (["user", "show", "nobody", "--database", state + "/dta1.sqlite"], "not of an RPS"),
            (["backup", copies, "--database", state + "/none.sqlite"], "no such database"),
            (["backup", state + "/rps.key", "--database", state + "/rps.sqlite"], "exists"),
            (["restore", state + "/none", "--state-dir", state], "no such file"),
            (
                ["dta", "rotate", "--database", state + "/none", "--key-file", state + "/dta1.key"]
                    + ["--serve-old-until", "now"], "no such database"
            ),
            (
                ["dta", "rotate", "--database", state + "/dta1.sqlite", "--key-file", state + "/dta2.key"]
                    + ["--serve-old-until", "now"], "does not open under this key file"
            ),
            (
                ["dta", "rotate", "--database", state + "/dta1.sqlite", "--key-file", state + "/dta1.key"]
                    + ["--serve-old-until", "2020-01-01"], "not within the next five years"
            ),
            (["audit", "verify"], "give --audit-log"),
        ]
        XCTAssertEqual(mkfifo(state + "/pipe", 0o600), 0)
        for (arguments, text) in cases + [
            (["restore", state + "/pipe", "--database", state + "/new.sqlite"], "not a regular file")
        ] {
            let answer = try run(arguments)
            XCTAssertEqual(answer.code, 1, "\(arguments)")
            XCTAssertTrue(answer.error.hasPrefix("mpind: error: "), answer.error)
            XCTAssertTrue(answer.error.contains(text), "\(answer.error) should say \(text)")
        }
        XCTAssertFalse(FileManager.default.fileExists(atPath: state + "/none"), "nothing is created by asking")
    }

    func testABackupOfARunningServerIsRestoredWithTheBlocksAndRevocationsSince() throws {
        var mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        let bob = try client.register("bob@example.com", pin: "1234")
        let dave = try client.register("dave@example.com", pin: "1234")
        let backup = try run(["backup", copies, "--state-dir", state])
        XCTAssertEqual(backup.code, 0, backup.error)
        XCTAssertEqual(
            try FileManager.default.contentsOfDirectory(atPath: copies).sorted(),
            ["dta1.sqlite", "dta2.sqlite", "rps.sqlite"])
        for _ in 0..<3 { _ = try client.login(alice, pin: "9999") }
        _ = try user("revoke", "bob@example.com")
        let carol = try client.register("carol@example.com", pin: "1234")
        XCTAssertEqual(try client.login(carol, pin: "1234").status, 200)
        let busy = try run(["restore", copies, "--state-dir", state])
        XCTAssertEqual(busy.code, 1)
        XCTAssertTrue(busy.error.contains("in use; stop the server first"), busy.error)
        mpind.stop(SIGTERM)
        let restore = try run(["restore", copies, "--state-dir", state])
        XCTAssertEqual(restore.code, 0, restore.error)
        XCTAssertTrue(restore.output.contains("2 identities keep what happened to them"), restore.output)
        mpind = try started()
        XCTAssertEqual(try client.login(dave, pin: "1234").status, 200)
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 410, "blocked after the backup")
        XCTAssertEqual(try backend.call("GET", "/rps/timePermit/" + bob.id).status, 410, "revoked after the backup")
        XCTAssertEqual(try run(["user", "show", "carol@example.com", "--state-dir", state]).code, 2)
        let aside = try FileManager.default.contentsOfDirectory(atPath: state).filter {
            $0.hasPrefix("rps.sqlite.before-") && !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm")
        }
        XCTAssertEqual(aside.count, 1)
        try requireGoodAudit()
        mpind.stop(SIGTERM)
    }

    func testABackupIsRestoredOnANewHost() throws {
        var mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try run(["backup", copies, "--state-dir", state]).code, 0)
        mpind.stop(SIGTERM)
        for name in ["dta1", "dta2", "rps"] {
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: "\(state)/\(name).sqlite\(suffix)")
            }
        }
        let restore = try run(["restore", copies, "--state-dir", state])
        XCTAssertEqual(restore.code, 0, restore.error)
        mpind = try started()
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        mpind.stop(SIGTERM)
    }

    /// A user who registered after the backup must be told to register again. The answer depends only on the time in
    /// the M-Pin ID, not on whether it was registered, so it does not reveal which identities existed.
    func testWhoRegisteredAfterTheBackupIsToldToRegisterAgain() throws {
        var mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        let waiting = try client.startRegistration("dave@example.com")
        let before = Moment.now()
        let code = try run(["user", "code", "erin@example.com", "--state-dir", state])
        XCTAssertEqual(code.code, 0, code.error)
        XCTAssertEqual(try run(["backup", copies, "--state-dir", state]).code, 0)
        try client.confirm("dave@example.com")
        let dave = try client.finishRegistration(waiting, pin: "1234")
        // Waits until the next second, because the time in an M-Pin ID has whole seconds, and the next registration
        // must be later than the backup.
        let end = Date(timeIntervalSinceNow: 30)
        while Moment.now().seconds <= before.seconds, Date() < end { usleep(10_000) }
        let carol = try client.register("carol@example.com", pin: "1234")
        for user in [carol, dave] { XCTAssertEqual(try client.login(user, pin: "1234").status, 200) }
        let lost = Moment.now()
        mpind.stop(SIGTERM)
        let restore = try run(["restore", copies, "--state-dir", state])
        XCTAssertEqual(restore.code, 0, restore.error)
        mpind = try started()
        for user in [carol, dave] {
            // Logs in more often than the limit on wrong PINs allows, because these logins must not count as wrong
            // PINs.
            for _ in 0..<4 {
                let answer = try client.login(user, pin: "1234")
                XCTAssertEqual(answer.status, 409, answer.text)
                XCTAssertTrue(answer.text.contains("register again"), answer.text)
            }
        }
        XCTAssertEqual(try client.login(alice, pin: "9999").status, 401)
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        func status(_ issued: Moment?) throws -> Int {
            let text = issued.map { $0.issued } ?? "yesterday"
            let content = #"{"mobile": 1, "issued": "\#(text)", "userID": "eve", "salt": "00"}"#
            let id = content.utf8.map { String(format: "%02x", $0) }.joined()
            return try client.login(TestClient.User(id: id, token: alice.token), pin: "1234").status
        }
        XCTAssertEqual(try status(lost), 409, "an invented one of that time, too")
        XCTAssertEqual(try [status(before.adding(seconds: -60)), status(.now()), status(nil)], [401, 401, 401])
        let digits = code.output.trimmingCharacters(in: .newlines)
        let erin = #"{"userId":"erin@example.com","mobile":1,"activateCode":"\#(digits)"}"#
        let used = try client.backend.call("PUT", "/rps/user", erin)
        XCTAssertEqual(used.status, 403, "it may have been used since the backup: \(used.text)")
        let again = try client.register("carol@example.com", pin: "4321")
        XCTAssertEqual(try client.login(again, pin: "4321").status, 200)
        mpind.stop(SIGTERM)
    }

    /// After a crash, the log (WAL) of the lost database is still there. A restore must move it away, because SQLite
    /// would apply it to the restored database.
    func testWhatALostDatabaseLeftBehindDoesNotGetIntoTheRestoredOne() throws {
        var mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        let (copy, database) = (copies + "/rps", state + "/rps.sqlite")
        try makeFolder(copies)
        XCTAssertEqual(try run(["backup", copy, "--database", database]).code, 0)
        _ = try client.register("bob@example.com", pin: "1234")
        mpind.stop(SIGKILL)
        try FileManager.default.removeItem(atPath: database)
        XCTAssertTrue(FileManager.default.fileExists(atPath: database + "-wal"))
        let restore = try run(["restore", copy, "--database", database])
        XCTAssertEqual(restore.code, 0, restore.error)
        XCTAssertFalse(FileManager.default.fileExists(atPath: database + "-wal"))
        let left = try FileManager.default.contentsOfDirectory(atPath: state)
        XCTAssertTrue(left.contains { $0.hasPrefix("rps.sqlite.before-") && $0.hasSuffix("-wal") }, "\(left)")
        mpind = try started()
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        XCTAssertEqual(try run(["user", "show", "bob@example.com", "--state-dir", state]).code, 2)
        mpind.stop(SIGTERM)
    }

    func testOneBadCopyOfThreeReplacesNone() throws {
        try started().stop(SIGTERM)
        XCTAssertEqual(try run(["backup", copies, "--state-dir", state]).code, 0)
        try Data("hello".utf8).write(to: URL(fileURLWithPath: copies + "/rps.sqlite"))
        let before = try FileManager.default.contentsOfDirectory(atPath: state).sorted()
        let answer = try run(["restore", copies, "--state-dir", state])
        XCTAssertEqual(answer.code, 1, answer.output)
        XCTAssertEqual(answer.output, "")
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: state).sorted(), before)
    }

    /// If root restores files, they must belong to the owner of the folder, because the server does not run as root.
    func testWhatARestoreMakesBelongsToTheOwnerOfTheFolder() throws {
        try started().stop(SIGTERM)
        XCTAssertEqual(try run(["backup", copies, "--state-dir", state]).code, 0)
        if geteuid() == 0 { XCTAssertEqual(chown(state, 12_345, 12_345), 0) }
        var folder = stat()
        XCTAssertEqual(stat(state, &folder), 0)
        for lock in ["dta1", "dta2", "rps"] { unlink("\(state)/\(lock).sqlite.lock") }
        XCTAssertEqual(try run(["restore", copies, "--state-dir", state]).code, 0)
        for file in ["dta1.sqlite", "dta2.sqlite", "rps.sqlite", "dta1.sqlite.lock", "rps.sqlite.lock"] {
            var found = stat()
            XCTAssertEqual(stat("\(state)/\(file)", &found), 0)
            XCTAssertEqual(found.st_uid, folder.st_uid, file)
            XCTAssertEqual(found.st_gid, folder.st_gid, file)
            XCTAssertEqual(found.st_mode & 0o777, 0o600, file)
        }
    }

    func testABackupThatIsDamagedOrOfAnotherPartOrKeyReplacesNothing() throws {
        try started().stop(SIGTERM)
        XCTAssertEqual(try run(["backup", copies, "--state-dir", state]).code, 0)
        let before = try Data(contentsOf: URL(fileURLWithPath: state + "/dta1.sqlite"))
        var damaged = try Data(contentsOf: URL(fileURLWithPath: copies + "/dta1.sqlite"))
        for index in stride(from: 4096, to: damaged.count, by: 3) { damaged[index] ^= 0x55 }
        try damaged.write(to: URL(fileURLWithPath: copies + "/damaged"))
        try Data("hello".utf8).write(to: URL(fileURLWithPath: copies + "/text"))
        let cases = [
            ("damaged", "--key-file", state + "/dta1.key"), ("text", "--key-file", state + "/dta1.key"),
            ("rps.sqlite", "--key-file", state + "/dta1.key"), ("dta1.sqlite", "--key-file", state + "/dta2.key"),
        ]
        for (name, option, key) in cases {
            let answer = try run(["restore", "\(copies)/\(name)", "--database", state + "/dta1.sqlite", option, key])
            XCTAssertEqual(answer.code, 1, "\(name): \(answer.output)")
            XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: state + "/dta1.sqlite")), before, name)
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: state)
        XCTAssertEqual(left.filter { $0.contains(".new") || $0.contains(".before-") }, [])
    }

    func testGarbageCollectionErasesRetiredMasterShares() throws {
        try started().stop(SIGTERM)
        let dta = ["--database", state + "/dta1.sqlite", "--key-file", state + "/dta1.key"]
        XCTAssertEqual(try run(["dta", "rotate", "--serve-old-until", "now"] + dta).code, 0)
        let before = try run(["dta", "shares"] + dta).output
        XCTAssertTrue(before.contains("1 retired") && before.contains("2 current"), before)
        XCTAssertTrue(try run(["gc", "--state-dir", state]).output.contains("dta1.sqlite: deleted 1"))
        let after = try run(["dta", "shares"] + dta).output
        XCTAssertFalse(after.contains("retired"), after)
    }

    func testAPassphraseFromAFileThatTheEnvironmentNamesSealsAndRotates() throws {
        try makeFolder(state)
        let (passphrase, database) = (state + "/passphrase", state + "/dta.sqlite")
        _ = FileManager.default.createFile(
            atPath: passphrase, contents: Data("correct horse battery\n".utf8), attributes: [.posixPermissions: 0o600])
        _ = try KeyFile.create(state + "/rps-dta.key")
        let dta = try Mpind([
            "dta", "--listen", "127.0.0.1:\(backend.dta1Port)", "--database", database, "--rps-key-file",
            state + "/rps-dta.key", "--passphrase-file", passphrase,
        ])
        try dta.waitUntilReady()
        let month = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 30 * 86_400)).prefix(10)
        let rotate = ["dta", "rotate", "--database", database, "--serve-old-until", String(month)]
        let rotated = try run(rotate, environment: ["MPIND_PASSPHRASE_FILE": passphrase])
        XCTAssertEqual(rotated.code, 0, rotated.error)
        XCTAssertEqual(try run(rotate).code, 1, "neither key file nor passphrase")
        try Data("another horse battery\n".utf8).write(to: URL(fileURLWithPath: passphrase))
        let wrong = try run(rotate + ["--passphrase-file", passphrase])
        XCTAssertTrue(wrong.error.contains("does not open under this passphrase"), wrong.error)
        XCTAssertEqual(dta.stop(SIGTERM), 0)
    }

    func testAKillUnderLoadLeavesAGoodAuditLog() throws {
        for _ in 0..<3 {
            let mpind = try started()
            let answered = Count()
            let killer = DispatchWorkItem {
                answered.wait(for: 20)
                mpind.stop(SIGKILL)
            }
            DispatchQueue.global().async(execute: killer)
            let (port, body) = (backend, "{\"mobile\":1,\"userId\":\"alice@example.com\"}")
            _ = parallel(4) { _ in while try port.call("PUT", "/rps/user", body).status == 200 { answered.add() } }
            killer.wait()
            try requireGoodAudit()
        }
        let text = try String(contentsOfFile: state + "/audit/audit.jsonl", encoding: .utf8)
        XCTAssertGreaterThan(text.split(separator: "\n").count, 20)
    }
}

import Foundation
import LoopbackServer
import MPinSecrets
import MPinServer
import MPinService
import XCTest

/// Tests the real program: start, restart, kill, signals, and errors at the start, also with the parts as separate
/// processes.
final class ProcessTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    private func started(_ more: [String] = []) throws -> Mpind {
        let mpind = try Mpind(backend, more)
        try mpind.waitUntilReady()
        return mpind
    }

    func testAnIdentitySurvivesARestart() throws {
        let client = TestClient(backend: backend)
        let first = try started()
        let user = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try client.login(user, pin: "9999").status, 401)
        XCTAssertEqual(first.stop(SIGTERM), 0)
        let second = try started()
        XCTAssertEqual(try client.login(user, pin: "1234").status, 200)
        XCTAssertEqual(second.stop(SIGINT), 0)
    }

    func testAKillAtAnyMomentLosesNothingThatWasAnswered() throws {
        let client = TestClient(backend: backend)
        var users: [TestClient.User] = []
        var pending = ""
        for round in 0..<4 {
            let mpind = try started()
            if !pending.isEmpty { users.append(try client.finish(pending, pin: "1234")) }
            for user in users { XCTAssertEqual(try client.login(user, pin: "1234").status, 200, "round \(round)") }
            users.append(try client.register("user\(round)@example.com", pin: "1234"))
            let registration = try client.startRegistration("pending\(round)@example.com")
            try client.confirm("pending\(round)@example.com")
            pending = registration.mpinId + " " + registration.regOTT
            XCTAssertEqual(mpind.stop(SIGKILL), -SIGKILL)
        }
        XCTAssertEqual(users.count, 7)
    }

    func testAKillNeitherUnblocksNorBringsAttemptsOrPass2Back() throws {
        let client = TestClient(backend: backend)
        var mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        let bob = try client.register("bob@example.com", pin: "1234")
        for _ in 0..<2 { XCTAssertEqual(try client.login(alice, pin: "9999").status, 401) }
        let used = try client.pass2Body(client.pass1(bob, pin: "1234", permit: client.timePermit(bob)))
        let pass2 = try backend.call("POST", "/rps/pass2", used)
        XCTAssertEqual(pass2.status, 200)
        XCTAssertEqual(try client.authenticate(pass2).status, 200)
        mpind.stop(SIGKILL)
        mpind = try started()
        XCTAssertEqual(try backend.call("POST", "/rps/pass2", used).status, 403)
        XCTAssertEqual(try client.authenticate(pass2).status, 408)
        XCTAssertEqual(try client.login(alice, pin: "9999").status, 410)
        mpind.stop(SIGKILL)
        mpind = try started()
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 410)
    }

    func testAKillUnderLoadLosesNoAnsweredRegistration() throws {
        let client = TestClient(backend: backend)
        let backend = backend
        var mpind = try started(["--force-activate"])
        let registered = Count()
        let killer = DispatchWorkItem {
            registered.wait(for: 12)
            mpind.stop(SIGKILL)
        }
        DispatchQueue.global().async(execute: killer)
        let users = parallel(4) { thread -> [TestClient.User] in
            var users: [TestClient.User] = []
            while let user = try? TestClient(backend: backend).register("u\(thread)-\(users.count)", pin: "1234") {
                users.append(user)
                registered.add()
            }
            return users
        }.flatMap { $0 }
        killer.wait()
        XCTAssertGreaterThanOrEqual(users.count, 12)
        mpind = try started(["--force-activate"])
        for user in users { XCTAssertEqual(try client.login(user, pin: "1234").status, 200) }
        print("\(users.count) registrations survived")
    }

    func testSIGTERMEndsTheWaitForAnAuthority() throws {
        try makeFolder(backend.stateFolder)
        for key in ["a", "b", "c"] { _ = try KeyFile.create("\(backend.stateFolder)/\(key)") }
        let rps = try Mpind([
            "rps", "--listen", "127.0.0.1:\(backend.port)", "--private-listen", "127.0.0.1:\(backend.privatePort)",
            "--database", backend.stateFolder + "/rps.sqlite", "--key-file", backend.stateFolder + "/a",
            "--dta1-url", "http://127.0.0.1:\(backend.dta1Port)", "--dta1-key-file", backend.stateFolder + "/b",
            "--dta2-url", "http://127.0.0.1:\(backend.dta2Port)", "--dta2-key-file", backend.stateFolder + "/c",
        ])
        rps.waitForLog("waiting for a server secret share")
        XCTAssertEqual(rps.stop(SIGTERM), 0, rps.logText)
    }

    /// `systemctl reload` sends SIGHUP to every server, also to one without a certificate. It must not end the server.
    func testSIGHUPWithoutACertificateEndsNothing() throws {
        let mpind = try Mpind(backend)
        while !mpind.logText.contains("\"level\""), mpind.process.isRunning { usleep(1_000) }
        kill(mpind.process.processIdentifier, SIGHUP)
        try mpind.waitUntilReady()
        kill(mpind.process.processIdentifier, SIGHUP)
        XCTAssertEqual(try backend.call("GET", "/rps/clientSettings").status, 200)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// Signals that would end a program which does not know them. Programs that rotate logs send SIGUSR1.
    func testSignalsWithoutAMeaningEndNothing() throws {
        let mpind = try started()
        for signal in [
            SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR, SIGSTKFLT, SIGPIPE,
            __libc_current_sigrtmin() + 3,
        ] {
            kill(mpind.process.processIdentifier, signal)
            XCTAssertEqual(try backend.call("GET", "/rps/clientSettings").status, 200, "\(signal)")
        }
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// A zone whose clock counts leap seconds, in which the C library spells other times than other programs read.
    func testAZoneWithLeapSecondsChangesNothing() throws {
        let file = backend.stateFolder + ".zone"
        let zone = try LeapZone.write(to: file)
        defer { try? FileManager.default.removeItem(atPath: file) }
        for _ in 0..<2 {
            let mpind = try Mpind(backend, environment: ["TZ": zone])
            try mpind.waitUntilReady()
            let date = try XCTUnwrap(try backend.call("GET", "/rps/clientSettings").headers["date"])
            let form = DateFormatter()
            (form.locale, form.dateFormat) = (Locale(identifier: "en_US_POSIX"), "EEE, dd MMM yyyy HH:mm:ss zzz")
            let time = try XCTUnwrap(form.date(from: date), date)
            XCTAssertLessThan(abs(time.timeIntervalSinceNow), 10, date)
            XCTAssertEqual(mpind.stop(SIGTERM), 0, mpind.logText)
        }
    }

    func testAKeyOfEqualBytesIsRefused() throws {
        try started().stop(SIGTERM)
        for name in ["dta1", "rps"] {
            let path = backend.stateFolder + "/\(name).key"
            let key = try Data(contentsOf: URL(fileURLWithPath: path))
            for digits in ["00", "ff", "5a"] {
                try Data(String(repeating: digits, count: 32).utf8).write(to: URL(fileURLWithPath: path))
                let mpind = try Mpind(backend)
                XCTAssertEqual(mpind.stop(0), 1)
                XCTAssertTrue(mpind.logText.contains("all bytes of the key are equal"), mpind.logText)
            }
            try key.write(to: URL(fileURLWithPath: path))
        }
        try started().stop(SIGTERM)
    }

    func testStartErrorsAreOneClearLineAndExitCode1() throws {
        let first = try started()
        let other = Backend.onFreePorts()
        var clash = other
        clash.port = backend.port
        let cases: [([String], String)] = [
            (arguments(clash), "cannot listen on 127.0.0.1:\(backend.port)"),
            (["--all-in-one", "--state-dir", "/proc/none"], "/proc/none"),
            (["dta", "--database", "x", "--key-file", "/none", "--rps-key-file", "/none"], "/none: No such file"),
            (
                arguments(other) + ["--audit-log", backend.stateFolder + "/audit/a", "--audit-key-file", "/none"],
                "`mpind keys new /none` makes a new key"
            ),
            (["keys", "new", backend.stateFolder + "/rps.key"], "File exists"),
        ]
        for (arguments, text) in cases {
            let mpind = try Mpind(arguments)
            XCTAssertEqual(mpind.stop(0), 1, mpind.logText)
            let error = mpind.logText.split(separator: "\n").filter { !$0.hasPrefix("{") }
            XCTAssertEqual(error.count, 1, mpind.logText)
            XCTAssertTrue(error.first?.hasPrefix("mpind: error: ") ?? false, mpind.logText)
            XCTAssertTrue(error.first?.contains(text) ?? false, "\(mpind.logText) should say \(text)")
        }
        try? FileManager.default.removeItem(atPath: other.stateFolder)
        XCTAssertEqual(first.stop(SIGTERM), 0)
    }

    func testWrongUsageIsExitCode64() throws {
        for arguments in [
            ["--state-dir", "x"], ["--all-in-one"], ["--all-in-one", "--state-dir", "x", "--no-such"],
            arguments(backend) + ["--host", "0.0.0.0"], arguments(backend) + ["--host", "127.0.0.1.example.com"],
            arguments(backend) + ["--smtp-url", "smtp://localhost:25"],
        ] {
            XCTAssertEqual(try Mpind(arguments).stop(0), 64)
        }
    }

    func testForcedActivationIsLoggedAsCritical() throws {
        let mpind = try started(["--force-activate"])
        XCTAssertTrue(mpind.logText.contains("\"level\":\"critical\""))
        XCTAssertTrue(mpind.logText.contains("FORCE-ACTIVATE IS ON"))
        let quiet = Backend.onFreePorts()
        let other = try Mpind(quiet)
        try other.waitUntilReady()
        XCTAssertFalse(other.logText.contains("FORCE-ACTIVATE"))
        try? FileManager.default.removeItem(atPath: quiet.stateFolder)
    }

    func testTheStateFolderIsForItsOwnerOnly() throws {
        let mpind = try started()
        let client = TestClient(backend: backend)
        _ = try client.register("alice@example.com", pin: "1234")
        func mode(_ path: String) throws -> Int {
            try XCTUnwrap(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        }
        XCTAssertEqual(try mode(backend.stateFolder), 0o700)
        let files = try FileManager.default.subpathsOfDirectory(atPath: backend.stateFolder)
        for name in ["rps.sqlite", "dta1.sqlite", "dta2.sqlite", "rps.key", "dta1.key", "dta2.key"] {
            XCTAssertTrue(files.contains(name), name)
        }
        for file in files { XCTAssertEqual(try mode(backend.stateFolder + "/" + file) & 0o077, 0, file) }
        mpind.stop(SIGTERM)
    }

    func testAKeyFileThatOthersCanReadIsRefused() throws {
        try started().stop(SIGTERM)
        chmod(backend.stateFolder + "/dta1.key", 0o644)
        let mpind = try Mpind(backend)
        XCTAssertEqual(mpind.stop(0), 1)
        XCTAssertTrue(mpind.logText.contains("owner only"), mpind.logText)
    }

    /// The RPS must not start with a new master share, because every right PIN would count as wrong and block its user.
    func testALostMasterShareStopsTheStart() throws {
        try started().stop(SIGTERM)
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: backend.stateFolder + "/dta2.sqlite" + suffix)
        }
        let mpind = try Mpind(backend)
        XCTAssertEqual(mpind.stop(0), 1)
        XCTAssertTrue(mpind.logText.contains("another master secret"), mpind.logText)
    }

    func testThePartsRunAsProcessesOfTheirOwn() throws {
        let parts = try separateParts()
        for part in parts { try part.waitUntilReady() }
        let client = TestClient(backend: backend)
        let settings = try client.settings()
        XCTAssertEqual(settings.authenticateURL, "http://127.0.0.1:\(rpaPort)/mpinAuthenticate")
        let registration = try client.startRegistration("alice@example.com")
        let link = try backend.link(to: "alice@example.com")
        XCTAssertEqual(try backend.call("POST", link, "", port: rpaPort).status, 200)
        let user = try client.finishRegistration(registration, pin: "1234")
        let permit = try client.timePermit(user)
        let statuses = try ["9999", "1234"].map { pin in
            let pass2 = try client.pass2(client.pass1(user, pin: pin, permit: permit))
            return try backend.call("POST", "/mpinAuthenticate", "{\"mpinResponse\":\(pass2.text)}", port: rpaPort)
                .status
        }
        XCTAssertEqual(statuses, [401, 200])
        try logABrowserIn(client, user, "alice@example.com")
        try logInAtTheApplicationOnly()
        try revoke(client, user)

        let body = "{\"authOTT\":\"00\"}"
        XCTAssertEqual(try backend.call("POST", "/authenticate", body, port: backend.privatePort).status, 401)
        let wrong = ["Authorization": "Bearer " + String(repeating: "0", count: 64)]
        XCTAssertEqual(
            try backend.call("POST", "/authenticate", body, headers: wrong, port: backend.privatePort).status, 401)
        XCTAssertEqual(try backend.call("POST", "/user/7b7d", body, port: backend.privatePort).status, 401)
        let key = try KeyFile.load(backend.stateFolder + "/rps-rpa.key")
        var known = backend
        known.privateToken = SignedMessage.fromRPA.signature(key: key)
        XCTAssertEqual(try known.callPrivate("POST", "/authenticate", body).status, 408)
        known.privateToken = SignedMessage.fromRPS.signature(key: key)
        XCTAssertEqual(try known.callPrivate("POST", "/authenticate", body).status, 401, "the other direction's token")
        try assertMetricsAndAuditLogAreSilent()
        XCTAssertTrue(parts.contains { $0.logText.contains("\"level\":\"debug\"") }, "the logs are those of info")
        for part in parts { XCTAssertEqual(part.stop(SIGTERM), 0) }
    }

    /// Searches metrics and audit logs for secrets. The other logs of all four processes are searched when the
    /// processes end.
    private func assertMetricsAndAuditLogAreSilent() throws {
        XCTAssertGreaterThan(backend.traffic.count, 30)
        for (part, port) in adminPorts {
            let metrics = try backend.call("GET", "/metrics", port: port).text
            XCTAssertTrue(metrics.contains("mpin_http_requests_total"), part)
            backend.traffic.assertSilent(metrics)
            let audit = try String(contentsOfFile: "\(backend.stateFolder)/log-\(part)/audit.jsonl", encoding: .utf8)
            XCTAssertTrue(audit.contains("started"))
            backend.traffic.assertSilent(audit: audit)
        }
    }

    private lazy var adminPorts = Dictionary(
        uniqueKeysWithValues: zip(["rps", "rpa", "dta1", "dta2"], freePorts(4)))

    /// Returns the options that all parts get: the most detailed log, metrics and an audit log.
    private func watched(_ part: String) throws -> [String] {
        let folder = "\(backend.stateFolder)/log-\(part)"
        try makeFolder(folder)
        return [
            "--log-level", "debug", "--admin-listen", "127.0.0.1:\(adminPorts[part] ?? 0)", "--audit-log",
            folder + "/audit.jsonl", "--audit-key-file", "\(backend.stateFolder)/audit-\(part).key",
        ]
    }

    /// Registers and logs in with a client that knows only the RPA's URL.
    private func logInAtTheApplicationOnly() throws {
        var known = backend
        known.port = rpaPort
        let client = TestClient(backend: known)
        let registration = try client.startRegistration("bob@example.com")
        XCTAssertEqual(try known.call("POST", known.link(to: "bob@example.com"), "").status, 200)
        let user = try client.finishRegistration(registration, pin: "1234")
        XCTAssertEqual(try client.login(user, pin: "1234").status, 200)
        try logABrowserIn(client, user, "bob@example.com")
    }

    /// Logs a browser in. The browser sends its token to the RPA's process, which redeems it at the RPS's process and
    /// reports the outcome.
    private func logABrowserIn(_ client: TestClient, _ user: TestClient.User, _ name: String) throws {
        let browser = try TestBrowser(client.backend)
        let authOTT = try client.prove(user, wid: browser.wid)
        let phone = Later { try client.authenticateMobile(authOTT) }
        let body = "{\"mpinResponse\":{\"authOTT\":\"\(try browser.awaitToken())\"}}"
        func present(_ headers: [String: String]) throws -> Int {
            try backend.call("POST", "/mpinAuthenticate", body, headers: headers, port: rpaPort).status
        }
        XCTAssertEqual(try present([:]), 403, "no page of the RPA's, which the RPS hears of")
        XCTAssertEqual(try present(["Origin": "http://127.0.0.1"]), 200)
        let answer = try phone.get()
        XCTAssertEqual(answer.status, 200)
        let data = answer.object["logoutData"] as? [String: Any]
        XCTAssertEqual(data?["userId"] as? String, name, "of the outcome, not of the question")
    }

    /// Revokes an identity. The RPS's process must report this to the RPA's process, whose website then ends the user's
    /// session.
    private func revoke(_ client: TestClient, _ user: TestClient.User) throws {
        let pass2 = try client.pass2(client.pass1(user, pin: "1234", permit: client.timePermit(user)))
        let login = try backend.call(
            "POST", "/mpinAuthenticate", "{\"mpinResponse\":\(pass2.text)}", headers: ["Origin": "http://127.0.0.1"],
            port: rpaPort)
        let cookie = try XCTUnwrap(login.headers["set-cookie"]?.split(separator: ";").first)
        func account() throws -> Int {
            try backend.call("GET", "/account", headers: ["Cookie": String(cookie)], port: rpaPort).status
        }
        XCTAssertEqual(try account(), 200)
        let database = backend.stateFolder + "/rps.sqlite"
        let revoke = ["user", "revoke", "alice@example.com", "--database", database]
        XCTAssertEqual(try Mpind(revoke).stop(0), 0)
        XCTAssertEqual(try account(), 303)
    }

    /// With --wait-for-login-result, the phone waits for the verdict of the RPA. If the RPA refuses the user, who is on
    /// the operator's list, the phone must get this refusal.
    func testAPhoneHearsThatItsUserIsOnTheOperatorsList() throws {
        let list = backend.stateFolder + "/revoked"
        let mpind = try started(["--revoked-users", list, "--wait-for-login-result", "--force-activate"])
        try Data().write(to: URL(fileURLWithPath: list))
        let client = TestClient(backend: backend)
        let user = try client.register("alice@example.com", pin: "1234")
        let browser = try TestBrowser(backend)
        let authOTT = try client.prove(user, wid: browser.wid)
        try Data("alice@example.com\n".utf8).write(to: URL(fileURLWithPath: list))
        let phone = Later { try client.authenticateMobile(authOTT) }
        let body = "{\"mpinResponse\":{\"authOTT\":\"\(try browser.awaitToken())\"}}"
        let own = ["Origin": "http://127.0.0.1"]
        let refusal = try backend.call("POST", "/mpinAuthenticate", body, headers: own)
        XCTAssertEqual(refusal.status, 403)
        XCTAssertEqual(refusal.object["message"] as? String, "The user is revoked")
        XCTAssertEqual(try phone.get().status, 403)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    private lazy var rpaPort = freePorts(1)[0]

    private func arguments(_ backend: Backend) -> [String] {
        [
            "--all-in-one", "--state-dir", backend.stateFolder, "--mail-dir", backend.mailFolder, "--port",
            "\(backend.port)", "--private-port", "\(backend.privatePort)", "--dta1-port", "\(backend.dta1Port)",
            "--dta2-port", "\(backend.dta2Port)",
        ]
    }

    /// Starts the RPS and the RPA before the D-TAs, to test that they wait until the D-TAs answer.
    private func separateParts() throws -> [Mpind] {
        let state = backend.stateFolder
        try makeFolder(state)
        let names = ["dta1", "dta2", "rps-dta1", "rps-dta2", "rps", "rpa", "rps-rpa"]
        for key in names + adminPorts.keys.map({ "audit-" + $0 }) {
            XCTAssertEqual(try Mpind(["keys", "new", "\(state)/\(key).key"]).stop(0), 0)
        }
        let rpaPrivate = freePorts(1)[0]
        let rps = try Mpind(
            [
                "rps", "--listen", "127.0.0.1:\(backend.port)", "--private-listen", "127.0.0.1:\(backend.privatePort)",
                "--database", state + "/rps.sqlite", "--key-file", state + "/rps.key",
                "--dta1-url", "http://127.0.0.1:\(backend.dta1Port)", "--dta1-key-file", state + "/rps-dta1.key",
                "--dta2-url", "http://127.0.0.1:\(backend.dta2Port)", "--dta2-key-file", state + "/rps-dta2.key",
                "--verify-url", "http://127.0.0.1:\(rpaPrivate)/mpinVerify", "--rpa-key-file", state + "/rps-rpa.key",
                "--authenticate-url", "http://127.0.0.1:\(rpaPort)/mpinAuthenticate", "--wait-for-login-result",
                "--permit-url", "http://127.0.0.1:\(rpaPrivate)/mpinPermitUser",
            ] + watched("rps"), backend.traffic)
        let rpa = try Mpind(
            [
                "rpa", "--listen", "127.0.0.1:\(rpaPort)", "--private-listen", "127.0.0.1:\(rpaPrivate)",
                "--rps-private-url", "http://127.0.0.1:\(backend.privatePort)", "--rps-url",
                "http://127.0.0.1:\(backend.port)", "--key-file", state + "/rpa.key",
                "--rps-key-file", state + "/rps-rpa.key", "--mail-dir", backend.mailFolder, "--wait-for-login-result",
            ] + watched("rpa"), backend.traffic)
        let authorities = try [("dta1", backend.dta1Port), ("dta2", backend.dta2Port)].map { name, port in
            try Mpind(
                [
                    "dta", "--listen", "127.0.0.1:\(port)", "--database", "\(state)/\(name).sqlite", "--key-file",
                    "\(state)/\(name).key", "--rps-key-file", "\(state)/rps-\(name).key",
                ] + watched(name), backend.traffic)
        }
        return [rps, rpa] + authorities
    }
}

extension TestClient {
    /// Finishes a registration. `pending`: its M-Pin ID and its regOTT, separated by a space.
    func finish(_ pending: String, pin: String) throws -> User {
        let parts = pending.split(separator: " ").map(String.init)
        return try finishRegistration(
            .init(mpinId: parts[0], regOTT: parts[1], active: true, expireTime: "", nowTime: ""), pin: pin)
    }
}

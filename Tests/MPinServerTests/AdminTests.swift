import Foundation
import LoopbackServer
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import XCTest

/// Tests health checks, metrics and shutdown.
final class AdminTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()
    private lazy var port = freePorts(1)[0]

    override func tearDown() { try? FileManager.default.removeItem(atPath: backend.stateFolder) }

    private func ask(_ target: String) throws -> Answer { try backend.call("GET", target, port: port) }

    /// Repeats the request until its status is `wanted`, for at most half a minute. Returns the last status.
    private func status(_ target: String, becomes wanted: Int) -> Int {
        let end = Date(timeIntervalSinceNow: 30)
        var status = 0
        repeat { status = (try? ask(target).status) ?? 0 } while status != wanted && Date() < end
        return status
    }

    private func started(_ more: [String] = []) throws -> Mpind {
        let mpind = try Mpind(backend, ["--admin-listen", "127.0.0.1:\(port)"] + more)
        try mpind.waitUntilReady()
        return mpind
    }

    func testReadyTellsOfALostStoreAndLiveDoesNot() throws {
        let mpind = try started()
        let ready = try ask("/health/ready")
        XCTAssertEqual(ready.status, 200)
        XCTAssertEqual(
            ready.object["checks"] as? [String: String],
            ["dta1": "UP", "dta2": "UP", "keys": "UP", "listeners": "UP", "permits": "UP", "store": "UP"])
        for name in ["rps", "dta1"] {
            let path = "\(backend.stateFolder)/\(name).sqlite"
            try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
            XCTAssertEqual(status("/health/ready", becomes: 503), 503)
            XCTAssertEqual(try ask("/health/live").status, 200)
            try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
            XCTAssertEqual(status("/health/ready", becomes: 200), 200)
        }
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    /// Another process holds the lock of the store. Only requests that must write wait for it; all others are answered.
    func testAStoreLockedByAnotherProcessEndsReadinessOnly() throws {
        let mpind = try started()
        let (backend, port) = (backend, port)
        let database = try SQLiteConnection(path: backend.stateFolder + "/rps.sqlite")
        try database.run("BEGIN IMMEDIATE")
        let start = Date()
        let ready = Later { try backend.call("GET", "/health/ready", port: port).status }
        for _ in 0..<20 {
            let asked = Date()
            XCTAssertEqual(try backend.call("GET", "/health/live", port: port).status, 200)
            XCTAssertEqual(try backend.call("GET", "/rps/clientSettings").status, 200)
            XCTAssertLessThan(Date().timeIntervalSince(asked), 2)
            usleep(100_000)
        }
        XCTAssertEqual(try ready.get(), 503)
        XCTAssertLessThan(Date().timeIntervalSince(start), 5)
        try database.run("ROLLBACK")
        XCTAssertEqual(status("/health/ready", becomes: 200), 200)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    func testReadyWaitsForTheKeysOfTheTrustAuthorities() throws {
        try makeFolder(backend.stateFolder)
        for key in ["a", "b", "c"] { _ = try KeyFile.create("\(backend.stateFolder)/\(key)") }
        let rps = try Mpind([
            "rps", "--listen", "127.0.0.1:\(backend.port)", "--private-listen", "127.0.0.1:\(backend.privatePort)",
            "--database", backend.stateFolder + "/rps.sqlite", "--key-file", backend.stateFolder + "/a",
            "--dta1-url", "http://127.0.0.1:\(backend.dta1Port)", "--dta1-key-file", backend.stateFolder + "/b",
            "--dta2-url", "http://127.0.0.1:\(backend.dta2Port)", "--dta2-key-file", backend.stateFolder + "/c",
            "--admin-listen", "127.0.0.1:\(port)",
        ])
        XCTAssertEqual(status("/health/live", becomes: 200), 200)
        XCTAssertEqual(status("/health/ready", becomes: 503), 503)
        let checks = try ask("/health/ready").object["checks"] as? [String: String]
        XCTAssertEqual(checks?["keys"], "DOWN")
        XCTAssertEqual(checks?["listeners"], "DOWN")
        let early = try ask("/users")
        XCTAssertEqual(
            [early.status, early.headers["retry-after"] == nil ? 0 : 1], [503, 1], "the admin API waits, too")
        XCTAssertEqual(rps.stop(SIGTERM), 0)
    }

    func testTheAdminListenerIsForThisMachineOnly() throws {
        let mpind = try Mpind(backend, ["--admin-listen", "0.0.0.0:\(port)"])
        XCTAssertEqual(mpind.stop(0), 64)
        XCTAssertTrue(mpind.logText.contains("admin listener must be on a loopback address"), mpind.logText)
    }

    func testTheHealthListenerTellsTheStateAndNothingElse() throws {
        let (backend, health) = (backend, freePorts(1)[0])
        let mpind = try started(["--health-listen", "127.0.0.1:\(health)"])
        func state(_ question: String) throws -> (status: Int, text: String) {
            let answer = try backend.call("GET", "/health/" + question, port: health)
            return (answer.status, answer.text)
        }
        XCTAssertTrue(try state("ready") == (200, #"{"status":"UP"}"#))
        let probe = "GET /health/ready HTTP/1.1\r\nConnection: close\r\nHost: probe.example\r\n\r\n"
        XCTAssertEqual(try Sockets.raw(health, Data(probe.utf8)).status, 200, "other machines ask by any name")
        let path = backend.stateFolder + "/dta1.sqlite"
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        let end = Date(timeIntervalSinceNow: 30)
        while try state("ready").status == 200, Date() < end {}
        XCTAssertTrue(try state("ready") == (503, #"{"status":"DOWN"}"#))
        XCTAssertTrue(try state("live") == (200, #"{"status":"UP"}"#))
        for other in ["/metrics", "/users", "/rps/clientSettings"] {
            XCTAssertEqual(try backend.call("GET", other, port: health).status, 404, other)
        }
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    func testTheHealthListenerAsksTheStoreOnceASecondAtMost() throws {
        let (backend, health) = (backend, freePorts(1)[0])
        let start = Date()
        let mpind = try started(["--health-listen", "127.0.0.1:\(health)"])
        for _ in 0..<200 { XCTAssertEqual(try backend.call("GET", "/health/ready", port: health).status, 200) }
        let line = try XCTUnwrap(
            try ask("/metrics").text.firstMatch(
                of: /mpin_store_operation_seconds_count{store="lasting",operation="check"} ([0-9]+)/))
        let checks = try XCTUnwrap(Double(line.1))
        XCTAssertGreaterThan(checks, 0)
        XCTAssertLessThanOrEqual(checks, Date().timeIntervalSince(start) + 1)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    func testMetricsCountWhatHappensAndNameNobody() throws {
        let mpind = try started()
        let client = TestClient(backend: backend)
        let user = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try client.login(user, pin: "1234").status, 200)
        XCTAssertEqual(try client.login(user, pin: "4321").status, 401)
        _ = try backend.call("GET", "/rps/nope/\(user.id)")
        let answer = try ask("/metrics")
        XCTAssertEqual(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
        let text = answer.text
        for line in [
            "mpin_auth_total{status=\"200\"} 1", "mpin_auth_total{status=\"401\"} 1", "mpin_registration_total 1",
            "mpin_http_requests_total{listener=\"public\",method=\"POST\",route=\"/rps/pass2\",code=\"200\"} 2",
            "mpin_http_requests_total{listener=\"public\",method=\"GET\",route=\"NotFound\",code=\"404\"} 1",
            "mpin_pairing_seconds_count 2", "# TYPE mpin_pairing_seconds histogram", "# TYPE mpin_live_sessions gauge",
            "mpin_store_operation_seconds_count{store=\"lasting\",operation=\"read\"}", "mpin_build_info{version=",
            "mpin_overloaded_total 0", "# TYPE mpin_admin_requests_total counter",
        ] {
            XCTAssertTrue(text.contains(line), "\(line) is not in \(text)")
        }
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            XCTAssertNotNil(line.wholeMatch(of: /[a-z_]+(\{.*\})? [0-9.e+-]+/), String(line))
        }
        XCTAssertFalse(text.contains("alice"))
        XCTAssertFalse(text.contains(user.id))
        XCTAssertEqual(try ask("/metrics/x").status, 404)
        XCTAssertEqual(try backend.call("GET", "/metrics").status, 404, "not on the public listener")
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
    }

    func testMetricsCountBlocksOnceEach() throws {
        for block in ["permanent", "temporary"] {
            backend = .onFreePorts()
            let mpind = try started(["--block", block])
            defer { try? FileManager.default.removeItem(atPath: backend.stateFolder) }
            let client = TestClient(backend: backend)
            let user = try client.register("alice@example.com", pin: "1234")
            let line = "\nmpin_blocked_total{block=\"\(block)\"} 1\n"
            for number in 1...5 {
                XCTAssertNotEqual(try client.login(user, pin: "9999").status, 200)
                XCTAssertEqual(try ask("/metrics").text.contains(line), number >= 3, "\(block) \(number)")
            }
            _ = try client.login(
                TestClient.User.invented(token: user.token), pin: "9999", permit: client.timePermit(user))
            XCTAssertTrue(try ask("/metrics").text.contains(line))
            XCTAssertEqual(mpind.stop(SIGTERM), 0)
        }
    }

    /// Leaves the identity as after a kill during three attempts, which is the limit. Only the next login can detect
    /// the block, so that login must report it, and later ones must not.
    func testABlockByAttemptsThatACrashCutOffIsCountedAndAuditedOnce() throws {
        let mpind = try started()
        let client = TestClient(backend: backend)
        let user = try client.register("alice@example.com", pin: "1234")
        try leaveInProgress(3, user)
        for _ in 0..<2 { XCTAssertEqual(try client.login(user, pin: "1234").status, 410) }
        let metrics = try ask("/metrics").text
        XCTAssertTrue(metrics.contains("\nmpin_blocked_total{block=\"permanent\"} 1\n"), metrics)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
        let audit = try String(contentsOfFile: backend.stateFolder + "/audit/audit.jsonl", encoding: .utf8)
        let blocks = audit.split(separator: "\n").filter { $0.contains("\"event\":\"blocked\"") }
        XCTAssertEqual(blocks.count, 1, audit)
        XCTAssertTrue(blocks.first?.contains(Hex.encode(user.hash)) ?? false)
    }

    /// Changes the stored record of the identity to what a process leaves behind that was killed some time ago, while
    /// it judged `count` attempts.
    private func leaveInProgress(_ count: Int, _ user: TestClient.User) throws {
        let path = backend.stateFolder + "/rps.sqlite"
        let done = expectation(description: "left")
        Task {
            let records = Table<IdentityRecord>("identity", in: try await ServiceDatabase(path).open())
            let key = try XCTUnwrap(MPinID(hex: user.id)).key
            let policy = AttemptPolicy()
            try await records.update(key, at: .now(), .durable) { entry in
                guard var record = entry?.value else { throw Sockets.Failure(text: "no such identity") }
                for _ in 0..<count {
                    _ = record.reserve(
                        .random(in: 1...(.max)), policy, at: .now().adding(seconds: -policy.lostSeconds - 1))
                }
                entry = .init(record)
            }
            done.fulfill()
        }
        wait(for: [done], timeout: 20)
    }

    /// Requests whose heads have arrived before SIGTERM must be answered. The server reports first that it is no longer
    /// ready.
    func testSIGTERMFailsNoRequestThatIsBeingServed() throws {
        let mpind = try started()
        let body = { (n: Int) in "{\"userId\":\"u\(n)@example.com\"}" }
        let files = try (0..<20).map { n in
            let file = try Sockets.connect(backend.port)
            let head = "PUT /rps/user HTTP/1.1\r\nHost: h\r\nContent-Length: \(body(n).utf8.count)\r\n"
            Sockets.send(file, Data((head + "Expect: 100-continue\r\n\r\n").utf8))
            // The interim answer shows that the server has read the head.
            XCTAssertEqual(Sockets.parse(try XCTUnwrap(Sockets.receive(file))).statuses, [100])
            return file
        }
        kill(mpind.process.processIdentifier, SIGTERM)
        XCTAssertEqual(status("/health/ready", becomes: 503), 503)
        for (n, file) in files.enumerated() { Sockets.send(file, Data(body(n).utf8)) }
        for file in files {
            XCTAssertEqual(Sockets.parse(Sockets.receiveAll(file)).status, 200)
            close(file)
        }
        let start = Date()
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
        XCTAssertLessThan(Date().timeIntervalSince(start), 10)
    }
}

import Foundation
import LoopbackServer
import MPinSecrets
import MPinServer
import MPinWire
import Synchronization
import XCTest

/// If a D-TA gave wrong time permits, every right PIN would count as wrong. Tests that the RPS detects this, and judges
/// no login and counts no attempt until the permits are right again.
final class PermitWatchTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()
    private lazy var admin = freePorts(1)[0]
    private var client: TestClient { TestClient(backend: backend) }

    private func waitForReadiness(_ status: Int) throws {
        let end = Date(timeIntervalSinceNow: 30)
        while try backend.call("GET", "/health/ready", port: admin).status != status {
            guard Date() < end else { throw Sockets.Failure(text: "readiness is not \(status)") }
            usleep(50_000)
        }
    }

    private func server(
        seconds: Int = 1, _ change: @escaping (inout RelyingPartyServiceConfig) -> Void
    ) throws -> InProcess {
        let listen = try ListenAddress(host: "127.0.0.1", port: admin)
        return try InProcess(
            backend,
            change: {
                $0.limits.service.permitCheckSeconds = seconds
                $0.adminListen = listen
            }, changeRPS: change
        ).keep(in: self)
    }

    /// Starts a proxy in front of a D-TA. It forwards every request, but while `lies` is set it answers requests for
    /// permits with a wrong share.
    private func proxy(_ port: Int, lies: Flag) throws -> LoopbackServer {
        let proxy = try LoopbackServer { request in
            if lies.value, request.path == "/timePermit" {
                return .json(200, ["timePermit": Section16.permitShare, "keyID": "1", "message": "OK"])
            }
            let head = "GET \(request.target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
            return (try? Sockets.rawBytes(port, Data(head.utf8))).map { .raw(Array($0)) } ?? .reset()
        }
        addTeardownBlock { proxy.stop() }
        return proxy
    }

    private func assertNothingIsJudgedWhileItLies(_ lies: Flag, _ server: InProcess) throws {
        let alice = try client.register("alice@example.com", pin: "1234")
        let permit = try client.timePermit(alice)
        XCTAssertEqual(try client.login(alice, pin: "9999", permit: permit).status, 401)
        let begun = try client.pass1(alice, pin: "1234", permit: permit)
        let stranger = try TestClient.User.invented(token: alice.token)
        lies.value = true
        try waitForReadiness(503)
        let checks = try backend.call("GET", "/health/ready", port: admin).object["checks"] as? [String: String]
        XCTAssertEqual(checks?["permits"], "DOWN")
        let refused = try client.pass2(begun)
        XCTAssertEqual(refused.status, 503, refused.text)
        XCTAssertNotNil(refused.headers["retry-after"])
        for user in [alice, stranger] {
            for _ in 0..<4 { XCTAssertThrowsError(try client.pass1(user, pin: "9999", permit: permit)) }
            XCTAssertEqual(try backend.call("GET", "/rps/timePermit/" + user.id).status, 503)
        }
        lies.value = false
        try waitForReadiness(200)
        XCTAssertEqual(try client.login(alice, pin: "9999").status, 401, "the second wrong PIN, not the sixth")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        let audit = try String(contentsOfFile: backend.stateFolder + "/audit/audit.jsonl", encoding: .utf8)
        XCTAssertEqual(audit.components(separatedBy: "permits-wrong").count - 1, 1)
        XCTAssertEqual(audit.components(separatedBy: "permits-right").count - 1, 1)
    }

    func testAD_TA1ThatChangesItsPermitsIsNoticed() throws {
        let lies = Flag()
        let proxy = try proxy(backend.dta1Port, lies: lies)
        let server = try server { $0.authorities[0].url = proxy.url }
        try assertNothingIsJudgedWhileItLies(lies, server)
    }

    /// D-TA 2 gives wrong permits only at the URL that clients use, and answers the RPS's own requests correctly. The
    /// RPS must detect this by a request to the clients' URL.
    func testAD_TA2ThatLiesToClientsOnlyIsDetectedByARequestLikeTheirs() throws {
        let lies = Flag()
        let proxy = try proxy(backend.dta2Port, lies: lies)
        let server = try server { $0.authorities[1].publicURL = proxy.url }
        try assertNothingIsJudgedWhileItLies(lies, server)
        let questions = proxy.received.filter { $0.path == "/timePermit" }
        XCTAssertGreaterThanOrEqual(questions.count, 3, "at start, while it lies and after that")
        XCTAssertEqual(Set(questions.map { $0.query["hash_mpin_id"] ?? "" }).count, questions.count, "a fresh one each")
        for question in questions {
            XCTAssertEqual(Set(question.query.keys), ["hash_mpin_id", "app_id", "mobile", "signature"])
            XCTAssertEqual(question.query["mobile"], "1")
            XCTAssertNil(question.header("User-Agent"))
            XCTAssertEqual(question.query["hash_mpin_id"]?.count, 64)
        }
    }

    /// The URL of D-TA 2 for clients leads to another D-TA, which has the same key for requests but another master
    /// share. The RPS must detect this when it starts.
    func testAnotherShareBehindTheClientsURLIsNoticedAtStart() throws {
        let state = backend.stateFolder
        let port = freePorts(1)[0]
        try makeFolder(state)
        for name in ["other", "rps-dta2"] { _ = try KeyFile.create("\(state)/\(name).key") }
        let other = try Mpind(
            [
                "dta", "--listen", "127.0.0.1:\(port)", "--database", state + "/other.sqlite", "--key-file",
                state + "/other.key", "--rps-key-file", state + "/rps-dta2.key", "--rate-limits", "off",
            ], backend.traffic)
        try other.waitUntilReady()
        // The next regular check comes after an hour, so it must be the check at the start that detects the wrong D-TA.
        let server = try server(seconds: 3600) { $0.authorities[1].publicURL = "http://127.0.0.1:\(port)" }
        XCTAssertEqual(try backend.call("GET", "/health/ready", port: admin).status, 503)
        XCTAssertTrue(server.logText.contains("wrong time permits"), server.logText)
        let alice = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try backend.call("GET", "/rps/timePermit/" + alice.id).status, 503)
        other.stop(SIGTERM)
    }

    /// A D-TA that does not answer gives no wrong permits, so users who already have today's permit must be able to log
    /// in.
    func testAD_TAThatDoesNotAnswerStopsNoLoginWithAPermitOfTheDay() throws {
        let state = Flag()
        let dta2 = backend.dta2Port
        let proxy = try LoopbackServer { request in
            if state.value { return .reset() }
            let head = "GET \(request.target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
            return (try? Sockets.rawBytes(dta2, Data(head.utf8))).map { .raw(Array($0)) } ?? .reset()
        }
        addTeardownBlock { proxy.stop() }
        let server = try server { $0.authorities[1].publicURL = proxy.url }
        let alice = try client.register("alice@example.com", pin: "1234")
        let permit = try client.timePermit(alice)
        state.value = true
        let end = Date(timeIntervalSinceNow: 30)
        while !server.logText.contains("cannot be checked"), Date() < end { usleep(20_000) }
        XCTAssertTrue(server.logText.contains("cannot be checked"))
        XCTAssertEqual(try backend.call("GET", "/health/ready", port: admin).status, 200)
        XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 200)
    }

    func testWithoutTimePermitsNobodyIsAskedForThem() throws {
        let proxy = try proxy(backend.dta2Port, lies: Flag(true))
        _ = try InProcess(
            backend, change: { $0.usePermits = false }, changeRPS: { $0.authorities[1].publicURL = proxy.url }
        )
        .keep(in: self)
        XCTAssertEqual(proxy.received.count, 0)
    }
}

/// A flag that a test and its server share.
private final class Flag: Sendable {
    private let flag: Mutex<Bool>

    init(_ value: Bool = false) { flag = Mutex(value) }

    var value: Bool {
        get { flag.withLock { $0 } }
        set { flag.withLock { $0 = newValue } }
    }
}

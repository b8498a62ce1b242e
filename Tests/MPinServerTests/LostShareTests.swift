import Foundation
import LoopbackServer
import MPinSecrets
import MPinServer
import MPinWire
import XCTest

/// Tests that no login is judged and no registration is lost while a D-TA has another master share than before. The
/// D-TA restarts with the other share while the RPS keeps running.
final class LostShareTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()
    private lazy var ports = freePorts(2)
    private var state: String { backend.stateFolder }
    private var client: TestClient { TestClient(backend: backend) }

    /// Starts D-TA 1 as a separate process, with its files in the common state folder.
    private func authority() throws -> Mpind {
        let mpind = try Mpind(
            [
                "dta", "--listen", "127.0.0.1:\(ports[0])", "--database", state + "/lone.sqlite", "--key-file",
                state + "/lone.key", "--rps-key-file", state + "/rps-dta1.key", "--rate-limits", "off",
            ], backend.traffic)
        try mpind.waitUntilReady()
        return mpind
    }

    private func server() throws -> InProcess {
        let admin = try ListenAddress(host: "127.0.0.1", port: ports[1])
        return try InProcess(
            backend,
            change: {
                $0.limits.service.keyWatchSeconds = 1
                $0.adminListen = admin
            }, changeRPS: { [ports] in $0.authorities[0].url = "http://127.0.0.1:\(ports[0])" }
        ).keep(in: self)
    }

    private func waitForReadiness(_ status: Int) throws {
        let end = Date(timeIntervalSinceNow: 30)
        while try backend.call("GET", "/health/ready", port: ports[1]).status != status {
            guard Date() < end else { throw Sockets.Failure(text: "readiness is not \(status)") }
            usleep(50_000)
        }
    }

    func testWhileItHasAnotherShareNothingIsJudgedAndNothingLost() throws {
        try makeFolder(state)
        for name in ["lone", "rps-dta1"] { _ = try KeyFile.create("\(state)/\(name).key") }
        let first = try authority()
        let server = try server()
        let alice = try client.register("alice@example.com", pin: "1234")
        let permit = try client.timePermit(alice)
        let bob = try client.startRegistration("bob@example.com")
        try client.confirm("bob@example.com")
        XCTAssertEqual(try client.login(alice, pin: "9999", permit: permit).status, 401)
        first.stop(SIGTERM)
        for suffix in ["", "-wal", "-shm"] where access("\(state)/lone.sqlite\(suffix)", F_OK) == 0 {
            try FileManager.default.moveItem(
                atPath: "\(state)/lone.sqlite\(suffix)", toPath: "\(state)/kept.sqlite\(suffix)")
        }
        let second = try authority()
        XCTAssertTrue(second.logText.contains("made a first master share"), second.logText)
        try waitForReadiness(503)
        for pin in ["9999", "1234", "9999", "1234"] {
            let refused = try client.pass2(client.pass1(alice, pin: pin, permit: permit))
            XCTAssertEqual(refused.status, 503, refused.text)
            XCTAssertNotNil(refused.headers["retry-after"])
        }
        let stranger = try TestClient.User.invented(token: alice.token)
        for user in [alice, stranger] {
            XCTAssertEqual(try client.pass2(client.pass1(user, pin: "1234", permit: permit)).status, 503)
            XCTAssertEqual(try backend.call("GET", "/rps/timePermit/" + user.id).status, 503)
        }
        XCTAssertEqual(try client.signature(bob).status, 503)
        second.stop(SIGTERM)
        try FileManager.default.removeItem(atPath: state + "/lone.sqlite")
        try FileManager.default.moveItem(atPath: state + "/kept.sqlite", toPath: state + "/lone.sqlite")
        let third = try authority()
        XCTAssertFalse(third.logText.contains("made a first master share"), third.logText)
        try waitForReadiness(200)
        XCTAssertEqual(try client.login(alice, pin: "9999").status, 401, "the second wrong PIN, not the fourth")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        let registered = try client.finishRegistration(bob, pin: "4321")
        XCTAssertEqual(try client.login(registered, pin: "4321").status, 200)
        XCTAssertEqual(server.logText.components(separatedBy: "has another master secret 1").count - 1, 1)
        third.stop(SIGTERM)
    }
}

import Foundation
import LoopbackServer
import MPinSecrets
import MPinServer
import MPinWire
import Synchronization
import XCTest

/// Time permits: who takes them away, and where they are kept (wire sections 6.5, 8.2 and 10).
final class PermitTests: XCTestCase {
    func testTheRPAsRefusalOfAPermitIsTheClients() throws {
        let verdict = Mutex(200)
        let rpa = try LoopbackServer { _ in .answer(verdict.withLock { $0 }, body: []) }
        defer { rpa.stop() }
        let server = try InProcess(changeRPS: { $0.permitURL = rpa.url + "/mpinPermitUser" }).keep(in: self)
        let client = TestClient(backend: server.backend)
        let alice = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        let asked = try XCTUnwrap(rpa.received.last)
        XCTAssertEqual(asked.method, "GET")
        XCTAssertEqual(asked.path, "/mpinPermitUser")
        XCTAssertEqual(asked.query, ["mpin_id": alice.id])
        XCTAssertEqual(asked.header("Authorization")?.hasPrefix("Bearer "), true)
        // 401 and what is no refusal at all are the RPS's own trouble.
        for (given, expected) in [(410, 410), (403, 403), (404, 404), (401, 500), (500, 500), (503, 500), (204, 500)] {
            verdict.withLock { $0 = given }
            let answer = try server.backend.call("GET", "/rps/timePermit/" + alice.id)
            XCTAssertEqual(answer.status, expected, "\(given)")
            XCTAssertNil(answer.object["timePermit"])
        }
        rpa.stop()
        XCTAssertEqual(try server.backend.call("GET", "/rps/timePermit/" + alice.id).status, 500, "unreachable")
    }

    func testOnlyKnownIdentitiesAreAskedFor() throws {
        let rpa = try LoopbackServer { _ in .answer(200, body: []) }
        defer { rpa.stop() }
        let server = try InProcess(changeRPS: { $0.permitURL = rpa.url + "/mpinPermitUser" }).keep(in: self)
        XCTAssertEqual(try server.backend.call("GET", "/rps/timePermit/7b7d").status, 404)
        XCTAssertEqual(rpa.received.count, 0)
    }

    func testPermitsAreKeptInTheStorageWhereThatIsWanted() throws {
        let (server, client, alice) = try registered { $0.storePermits = true }
        let settings = try client.settings()
        let date = server.now.day
        let storage = try XCTUnwrap(settings.timePermitsStorageURL)
        let target = "\(storage)/\(settings.appID)/\(date)/\(Hex.encode(alice.hash))"
        XCTAssertEqual(try server.backend.call("GET", target).status, 404, "nobody has asked for a permit today")
        let first: RPSTimePermitResponse = try server.backend.call("GET", "/rps/timePermit/" + alice.id).json()
        let query = "hash_mpin_id=\(first.storageId)&app_id=x&mobile=1&signature=\(first.signature)"
        let second: TimePermitResponse = try server.backend.call(
            "GET", "/timePermit?" + query, port: server.backend.dta2Port
        ).json()
        let stored = try server.backend.call("GET", target)
        XCTAssertEqual(stored.status, 200)
        XCTAssertEqual(stored.text, second.timePermit, "bare hex")
        for wrong in [
            "\(storage)/other/\(date)/\(Hex.encode(alice.hash))",
            "\(storage)/\(settings.appID)/\(date + 1)/\(Hex.encode(alice.hash))",
            "\(storage)/\(settings.appID)/x/\(Hex.encode(alice.hash))", "\(storage)/\(settings.appID)/\(date)/zz",
            "\(storage)/\(settings.appID)/\(date)/\(alice.id)",
        ] {
            XCTAssertEqual(try server.backend.call("GET", wrong).status, 404, wrong)
        }
        server.advance(seconds: 86_400)
        XCTAssertEqual(try server.backend.call("GET", target).status, 404, "the day is over")
    }

    func testWithoutTheOptionNothingIsKept() throws {
        let (server, client, alice) = try registered { _ in }
        _ = try client.timePermit(alice)
        let settings = try client.settings()
        let target = "/rps/permitStorage/\(settings.appID)/\(server.now.day)/\(Hex.encode(alice.hash))"
        XCTAssertEqual(try server.backend.call("GET", target).status, 404)
    }

    private func registered(
        _ change: (inout RelyingPartyServiceConfig) -> Void
    ) throws -> (InProcess, TestClient, TestClient.User) {
        let server = try InProcess(changeRPS: change).keep(in: self)
        let client = TestClient(backend: server.backend)
        return (server, client, try client.register("alice@example.com", pin: "1234"))
    }
}

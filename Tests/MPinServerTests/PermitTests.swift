import Foundation
import LoopbackServer
import MPinCrypto
import MPinSecrets
import MPinServer
import MPinService
import MPinWire
import Synchronization
import XCTest

/// Tests time permits: who can refuse them, and where clients fetch them (wire sections 6.5, 8.2 and 10).
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
        // A 401, or a status that is no refusal, counts as a failure of the RPA, and the RPS answers 500.
        for (given, expected) in [(410, 410), (403, 403), (404, 404), (401, 500), (500, 500), (503, 500), (204, 500)] {
            verdict.withLock { $0 = given }
            let answer = try server.backend.call("GET", "/rps/timePermit/" + alice.id)
            XCTAssertEqual(answer.status, expected, "\(given)")
            XCTAssertNil(answer.object["timePermit"])
        }
        rpa.stop()
        XCTAssertEqual(try server.backend.call("GET", "/rps/timePermit/" + alice.id).status, 500, "unreachable")
    }

    /// Wire section 6.5, and section 17, defect 7: an unregistered ID gets the same answer, but with a wrong permit.
    /// Neither the RPS, the RPA's check, the permit storage nor D-TA 2 may reveal which IDs are registered.
    func testAStrangerGetsAPermitThatIsWrong() throws {
        let asked = Mutex(0)
        let verdict = Mutex(200)
        let rpa = try LoopbackServer { _ in
            asked.withLock { $0 += 1 }
            return .answer(verdict.withLock { $0 }, body: [])
        }
        defer { rpa.stop() }
        let (server, client, alice) = try registered {
            $0.permitURL = rpa.url + "/mpinPermitUser"
            $0.storePermits = true
        }
        let stranger = try TestClient.User.invented(token: alice.token)
        let answers = try [alice, stranger].map { try permitAnswers(server, client, $0) }
        XCTAssertEqual(answers[0].shapes, answers[1].shapes)
        XCTAssertEqual(asked.withLock { $0 }, 2)
        XCTAssertEqual(
            try permitAnswers(server, client, stranger).shares, answers[1].shares, "the same one all day")
        XCTAssertNotEqual(answers[0].shares, answers[1].shares)

        // Compares the stranger's shares with those that the D-TAs' master shares give for its ID. They must differ.
        for (index, name) in ["dta1", "dta2"].enumerated() {
            let folder = server.backend.stateFolder
            let seal = Seal.key(try KeyFile.load("\(folder)/\(name).key"))
            let shares = try finish {
                try await MasterShareDatabase(existing: "\(folder)/\(name).sqlite", seal: seal, now: .now()).shares()
            }
            let master = try XCTUnwrap(shares.last).secret
            let real = try [alice, stranger].map { user in
                try output(MPinSize.g1) { permit throws(MPinError) in
                    try TrustAuthority.timePermitShare(
                        master: master.span, date: server.now.day, hashID: user.hash.span, into: &permit)
                }
            }.map(Hex.encode)
            XCTAssertEqual(answers[0].shares[index], real[0])
            XCTAssertNotEqual(answers[1].shares[index], real[1])
        }

        // The RPA now refuses every user. An invented M-Pin ID must still get 200, so that it does not reveal whether
        // the RPA refuses the user that it names.
        verdict.withLock { $0 = 410 }
        let refused = try [alice, stranger].map { try server.backend.call("GET", "/rps/timePermit/" + $0.id).status }
        XCTAssertEqual(refused, [410, 200])
    }

    /// Returns what a client sees of a permit: each answer without its random values, and the two shares.
    private func permitAnswers(
        _ server: InProcess, _ client: TestClient, _ user: TestClient.User
    ) throws -> (shapes: [String], shares: [String]) {
        let settings = try client.settings()
        let own = try server.backend.call("GET", "/rps/timePermit/" + user.id)
        let first: RPSTimePermitResponse = try own.json()
        XCTAssertEqual(first.storageId, Hex.encode(user.hash))
        let storage = try XCTUnwrap(settings.timePermitsStorageURL)
        let stored = try server.backend.call(
            "GET", "\(storage)/\(settings.appID)/\(first.date)/\(first.storageId)")
        let query = "/timePermit?hash_mpin_id=\(first.storageId)&signature=\(first.signature)"
        let other = try server.backend.call("GET", query, port: server.backend.dta2Port)
        let second: TimePermitResponse = try other.json()
        XCTAssertEqual(stored.text, second.timePermit)
        let shapes = [own, stored, other].map { answer in
            let headers = answer.headers.filter { !["x-request-id", "date"].contains($0.key) }
            let text = answer.text.replacing(/04[0-9a-f]{128}|[0-9a-f]{64}/, with: "#")
            return "\(answer.status) \(headers.sorted { $0.key < $1.key }) \(text)"
        }
        return (shapes, [first.timePermit, second.timePermit])
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

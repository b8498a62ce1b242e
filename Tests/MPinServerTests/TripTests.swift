import MPinServer
import MPinStore
import StoreEngines
import XCTest

/// Tests that a login makes four trips to stores on other machines, two of them with a durable transaction. Calls that
/// are made at the same time are one trip.
final class TripTests: XCTestCase {
    func testALoginMakesFourTripsWhateverItComesTo() throws {
        let gate = TripGate()
        let (client, alice) = try registered(gate)
        let permit = try client.timePermit(alice)
        for (user, pin, status) in [
            (alice, "1234", 200), (alice, "9999", 401), (try .invented(token: alice.token), "1234", 401),
        ] {
            gate.expect([1])
            let login = try client.pass1(user, pin: pin, permit: permit)
            check(gate, ["change pass1"])
            gate.expect([2, 2])
            let pass2 = try client.pass2(login)
            let place = status == 200 || pin == "9999" ? "identity" : "unknown_identity"
            let tokens = place == "identity" ? "token" : "unknown_token"
            check(
                gate, ["change pass1", "change identity unknown_identity"].sorted(),
                ["change \(tokens) pass1", "change \(place)"].sorted())
            gate.expect([1])
            XCTAssertEqual(try client.authenticate(pass2).status, status)
            check(gate, ["change token unknown_token"])
        }
    }

    /// If no challenge is found, the attempt that was reserved at the same time must be given back.
    func testAProofWithoutAChallengeCostsNoAttempt() throws {
        let gate = TripGate()
        let (client, alice) = try registered(gate)
        let permit = try client.timePermit(alice)
        let login = try client.pass1(alice, pin: "9999", permit: permit)
        XCTAssertEqual(try client.authenticate(client.pass2(login)).status, 401)
        gate.expect([2, 1])
        XCTAssertEqual(try client.pass2(login).status, 403)
        check(gate, ["change identity unknown_identity", "change pass1"], ["change identity"])
        gate.expect([])
        for _ in 0..<5 { XCTAssertEqual(try client.pass2(login).status, 403) }
        XCTAssertEqual(try client.login(alice, pin: "1234", permit: permit).status, 200)
    }

    /// Checks which calls each trip consists of. The calls of one trip may be in any order.
    private func check(_ gate: TripGate, _ trips: [String]..., line: UInt = #line) {
        let (calls, failures) = gate.result()
        XCTAssertEqual(failures, [], line: line)
        var rest = calls[...]
        let found = trips.map { trip in
            defer { rest = rest.dropFirst(trip.count) }
            return rest.prefix(trip.count).sorted()
        }
        XCTAssertEqual(found, trips, line: line)
        XCTAssertEqual(Array(rest), [], line: line)
    }

    private func registered(_ gate: TripGate) throws -> (TestClient, TestClient.User) {
        let server = try InProcess(changeRPS: { $0.layer = { FarStore($0, gate) } }).keep(in: self)
        let client = TestClient(backend: server.backend)
        return (client, try client.register("alice@example.com", pin: "1234"))
    }
}

import Foundation
import MPinSecrets
import MPinServer
import MPinStore
import XCTest

/// Tests that the present program takes over state folders of released versions (Tests/Vectors/state-*, made by those
/// versions).
final class MigrationTests: XCTestCase {
    private struct Facts: Decodable {
        struct Person: Decodable {
            let mpinID: String
            let token: String?
            let regOTT: String?
        }
        /// When the recorded folder was made, in seconds since 1970.
        let made: Int64
        let alice: Person
        let bob: Person
        let carol: Person
        let dave: Person
    }

    private static let vectors = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Vectors")

    func testTheIdentitiesAndPendingRegistrationsOfVersion010LiveOn() throws { try liveOn("state-0.1.0") }

    /// Version 1.0.0 stored identities and pending registrations as JSON; now they are packed.
    func testTheIdentitiesAndPendingRegistrationsInJSONLiveOn() throws { try liveOn("state-1.0.0") }

    private func liveOn(_ version: String) throws {
        let (backend, facts) = try folder(version)
        let server = try InProcess(backend).keep(in: self)
        let packed = try SQLiteConnection(path: backend.stateFolder + "/rps.sqlite").texts(
            "SELECT DISTINCT hex(substr(value, 1, 1)) FROM item WHERE kind IN ('identity', 'unknown_identity')")
        XCTAssertEqual(packed, ["01"], "before anybody logs in")
        server.advance(seconds: Int(facts.made + 60 - server.now.seconds))
        let client = TestClient(backend: backend)

        let alice = try user(facts.alice)
        XCTAssertEqual(try ["1234", "9999"].map { try client.login(alice, pin: $0).status }, [200, 401])
        XCTAssertEqual(try client.login(user(facts.bob), pin: "1234").status, 410, "blocked before")

        let carol = try client.finish(facts.carol.mpinID + " " + XCTUnwrap(facts.carol.regOTT), pin: "5678")
        XCTAssertEqual(try client.login(carol, pin: "5678").status, 200)
        let dave = "/rps/signature/\(facts.dave.mpinID)?regOTT=\(try XCTUnwrap(facts.dave.regOTT))"
        XCTAssertEqual(try backend.call("GET", dave).status, 401)
        let eve = "/rps/signature/\(facts.dave.mpinID)?regOTT=\(try XCTUnwrap(facts.carol.regOTT))"
        XCTAssertEqual(try backend.call("GET", eve).status, 400)
    }

    private func user(_ person: Facts.Person) throws -> TestClient.User {
        TestClient.User(id: person.mpinID, token: try XCTUnwrap(Hex.decode(XCTUnwrap(person.token))))
    }

    /// Returns a copy of the recorded folder that only its owner can read. The keys are those of the folder of version
    /// 0.1.0.
    private func folder(_ version: String) throws -> (Backend, Facts) {
        let backend = Backend.onFreePorts()
        try makeFolder(backend.stateFolder)
        for name in ["state-0.1.0", version] {
            let recorded = Self.vectors.appendingPathComponent(name)
            for name in try FileManager.default.contentsOfDirectory(atPath: recorded.path) {
                let copy = backend.stateFolder + "/" + name
                try? FileManager.default.removeItem(atPath: copy)
                try FileManager.default.copyItem(atPath: recorded.appendingPathComponent(name).path, toPath: copy)
                chmod(copy, 0o600)
            }
        }
        let facts = try Data(contentsOf: Self.vectors.appendingPathComponent("state-0.1.0/facts.json"))
        return (backend, try JSONDecoder().decode(Facts.self, from: facts))
    }
}

import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import MPinWire
import XCTest

/// Tests a rotation of the master secret at both D-TAs while an RPS is running.
final class RotationTests: XCTestCase {
    private let day = 86_400

    private func server() throws -> InProcess {
        try InProcess { $0.limits.service.keyWatchSeconds = 1 }.keep(in: self)
    }

    private func rotate(_ backend: Backend, _ name: String, until end: Moment? = nil) throws {
        try backend.rotate(name, until: end)
    }

    /// Returns the id of the master secret from which a new registration gets its shares.
    private func newKeyID(_ client: TestClient) throws -> String {
        let user = UUID().uuidString + "@example.com"
        let registration = try client.startRegistration(user)
        try client.confirm(user)
        let params: String = try client.signature(registration).json(SignatureResponse.self).params
        let member = params.components(separatedBy: "&").first { $0.hasPrefix("key_id=") }
        return try XCTUnwrap(member?.dropFirst("key_id=".count).description)
    }

    private func waitForKey(_ id: String, _ client: TestClient) throws {
        let end = Date(timeIntervalSinceNow: 60)
        while try newKeyID(client) != id {
            guard Date() < end else { throw Sockets.Failure(text: "no key \(id)") }
            usleep(50_000)
        }
    }

    func testIdentitiesKeepTheirMasterSecretUntilItsDateAndThenMustRegisterAgain() throws {
        let server = try server()
        let (backend, client) = (server.backend, TestClient(backend: server.backend))
        let alice = try client.register("alice@example.com", pin: "1234")
        let end = server.now.adding(seconds: day)
        try rotate(backend, "dta1", until: end)
        try rotate(backend, "dta2", until: end)
        try waitForKey("2", client)
        let bob = try client.register("bob@example.com", pin: "1234")
        for user in [alice, bob] {
            XCTAssertEqual(try client.login(user, pin: "9999").status, 401)
            XCTAssertEqual(try client.login(user, pin: "1234").status, 200)
        }
        server.advance(seconds: day + 1)
        for pin in ["1234", "9999", "9999", "9999", "1234"] {
            XCTAssertEqual(try client.login(alice, pin: pin).status, 409, "retired, and nothing is judged")
        }
        let browser = try TestBrowser(backend)
        XCTAssertEqual(try client.authenticateMobile(client.prove(alice, wid: browser.wid)).status, 409)
        XCTAssertEqual(try client.login(bob, pin: "1234").status, 200)
        let again = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try client.login(again, pin: "1234").status, 200)
    }

    func testAMasterSecretThatOnlyOneAuthorityHasIsNotUsed() throws {
        let server = try server()
        let client = TestClient(backend: server.backend)
        try rotate(server.backend, "dta1", until: server.now.adding(seconds: day))
        let end = Date(timeIntervalSinceNow: 60)
        while !server.logText.contains("one that only one of them has is not used"), Date() < end { usleep(50_000) }
        XCTAssertTrue(server.logText.contains("one that only one of them has is not used"), server.logText)
        XCTAssertEqual(try newKeyID(client), "1")
        let alice = try client.register("alice@example.com", pin: "1234")
        try rotate(server.backend, "dta2", until: server.now.adding(seconds: day))
        try waitForKey("2", client)
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
    }

    func testAnAuthorityRefusesARetiredKeyAndAKeyThatNeverWas() throws {
        let server = try server()
        let key = try KeyFile.load(server.backend.stateFolder + "/rps-dta1.key")
        func serverSecret(_ keyID: String) throws -> Answer {
            let expires = server.now.adding(seconds: 60).iso
            let signature = SignedMessage.serverSecret(appID: "a", keyID: keyID, expires: expires).signature(key: key)
            let target = "/serverSecret?app_id=a&key_id=\(keyID)&signature=\(signature)&expires="
            return try server.backend.call(
                "GET", target + expires.replacing(":", with: "%3A"), port: server.backend.dta1Port)
        }
        XCTAssertEqual(try serverSecret("2").status, 409)
        try rotate(server.backend, "dta1", until: server.now.adding(seconds: day))
        let answers = [try serverSecret("1"), try serverSecret("2")]
        XCTAssertEqual(answers.map(\.status), [200, 200])
        XCTAssertEqual(answers.map { $0.object["keyID"] as? String }, ["1", "2"])
        XCTAssertNotEqual(
            answers[0].object["serverSecret"] as? String, answers[1].object["serverSecret"] as? String)
        server.advance(seconds: day + 1)
        XCTAssertEqual(try serverSecret("1").status, 409)
        XCTAssertEqual(try serverSecret("2").status, 200)
    }

    /// The signed text contains the id of the master secret, so a query for one master secret is not valid for another.
    func testAQueryForOneMasterSecretIsNoneForAnother() throws {
        let server = try server()
        let (backend, client) = (server.backend, TestClient(backend: server.backend))
        for name in ["dta1", "dta2"] { try rotate(backend, name, until: server.now.adding(seconds: day)) }
        try waitForKey("2", client)
        let registration = try client.startRegistration("alice@example.com")
        try client.confirm("alice@example.com")
        let params: String = try client.signature(registration).json(SignatureResponse.self).params
        func status(_ params: String) throws -> Int {
            try backend.call("GET", "/clientSecret?" + params, port: backend.dta2Port).status
        }
        XCTAssertEqual(try status(params), 200)
        XCTAssertEqual(try status(params.replacing("key_id=2", with: "key_id=1")), 401)
        XCTAssertEqual(try status(params.replacing("&key_id=2", with: "")), 401)
    }

    /// Tests what docs/operating.md says about a D-TA that was restored from a backup from before a rotation.
    func testAnAuthorityThatLostAShareIsRotatedUpToTheOtherAndOnlyItsIdentitiesRegisterAgain() throws {
        let server = try server()
        let (backend, client) = (server.backend, TestClient(backend: server.backend))
        let (alice, end) = (try client.register("alice@example.com", pin: "1234"), server.now.adding(seconds: day))
        for name in ["dta1", "dta2"] { try rotate(backend, name, until: end) }
        try waitForKey("2", client)
        let bob = try client.register("bob@example.com", pin: "1234")
        func permit(_ user: TestClient.User, becomes status: Int) throws {
            let end = Date(timeIntervalSinceNow: 60)
            while try backend.call("GET", "/rps/timePermit/" + user.id).status != status {
                guard Date() < end else { throw Sockets.Failure(text: "no \(status): \(server.logText)") }
                usleep(50_000)
            }
        }
        let database = try SQLiteConnection(path: backend.stateFolder + "/dta1.sqlite")
        try database.run("DELETE FROM item WHERE kind = 'master_share' AND key = '2'")
        try database.run(
            "UPDATE item SET value = CAST(json_remove(CAST(value AS TEXT), '$.servedUntil') AS BLOB) WHERE kind = 'master_share'"
        )
        try permit(bob, becomes: 503)
        try rotate(backend, "dta1", until: end)
        try permit(bob, becomes: 503)
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200, "of another master secret")
        for name in ["dta1", "dta2"] { try rotate(backend, name) }
        try permit(bob, becomes: 200)
        XCTAssertEqual(try client.login(bob, pin: "1234").status, 409)
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        XCTAssertEqual(try newKeyID(client), "3")
        let again = try client.register("bob@example.com", pin: "1234")
        XCTAssertEqual(try client.login(again, pin: "1234").status, 200)
    }

    func testARestartedRPSServesOldAndNewAndStopsWhenOneHasChanged() throws {
        let backend = Backend.onFreePorts()
        defer { try? FileManager.default.removeItem(atPath: backend.stateFolder) }
        let client = TestClient(backend: backend)
        let first = try Mpind(backend)
        try first.waitUntilReady()
        let alice = try client.register("alice@example.com", pin: "1234")
        first.stop(SIGTERM)
        let end = Moment.now().adding(seconds: day)
        for name in ["dta1", "dta2"] { try rotate(backend, name, until: end) }
        let second = try Mpind(backend)
        try second.waitUntilReady()
        XCTAssertEqual(try newKeyID(client), "2")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        second.stop(SIGTERM)
        // Makes the second D-TA's file anew and rotates it, as after a restore from before the rotation. Its new share
        // 2 differs from the lost share 2, so the RPS must not start.
        let seal = Seal.key(try KeyFile.load(backend.stateFolder + "/dta2.key"))
        try FileManager.default.removeItem(atPath: backend.stateFolder + "/dta2.sqlite")
        let url = StoreURL.sqlite(path: backend.stateFolder + "/dta2.sqlite")
        _ = try finish {
            try await MasterShareDatabase(url: url, seal: seal, now: .now()).rotate(serveOldUntil: end, at: .now())
        }
        let third = try Mpind(backend)
        XCTAssertEqual(third.stop(0), 1)
        XCTAssertTrue(third.logText.contains("another master secret"), third.logText)
    }
}

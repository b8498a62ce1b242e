import Foundation
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import StoreEngines
import XCTest

/// Tests two services with databases, keys and D-TAs of their own, and one Redis server or PostgreSQL database for what is
/// short-lived, with the default prefix.
final class SharedStoreTests: XCTestCase {
    private let backends = [Backend.onFreePorts(), Backend.onFreePorts()]

    override func tearDown() {
        for backend in backends { try? FileManager.default.removeItem(atPath: backend.stateFolder) }
    }

    private func started(_ backend: Backend, _ store: String) throws -> Mpind {
        var words = ["--all-in-one", "--state-dir", backend.stateFolder, "--mail-dir", backend.mailFolder]
        for (name, port) in [
            ("port", backend.port), ("private-port", backend.privatePort), ("dta1-port", backend.dta1Port),
            ("dta2-port", backend.dta2Port),
        ] { words += ["--" + name, "\(port)"] }
        for name in ["short-lived-store", "signals", "counters"] { words += ["--" + name, store] }
        return try Mpind(words, backend.traffic)
    }

    private func running(_ backend: Backend, _ store: String) throws -> Mpind {
        let mpind = try started(backend, store)
        try mpind.waitUntilReady()
        return mpind
    }

    private func database(_ backend: Backend) -> String { backend.stateFolder + "/rps.sqlite" }

    private func id(_ backend: Backend) throws -> String {
        let shown = try Mpind.run(["service", "show", "--state-dir", backend.stateFolder])
        XCTAssertEqual(shown.code, 0, shown.error)
        return String(shown.output.prefix(32))
    }

    func testALoginAtOneServiceIsNoneAtAnotherInOneRedisServer() throws {
        let server = try RedisServer()
        let nodes = try backends.map { try running($0, server.url) }
        try loginsStayApart()
        let ids = try backends.map(id)
        for name in try server.run("KEYS", "*").split(separator: "\n") {
            XCTAssertTrue(ids.contains { name.contains(":\($0):") }, "\(name)")
        }
        let channels = Set(try server.run("PUBSUB", "CHANNELS").split(separator: "\n").map(String.init))
        XCTAssertEqual(channels, Set(ids.map { "mpin:signals:" + $0 }))
        for node in nodes { node.stop(SIGTERM) }
    }

    func testALoginAtOneServiceIsNoneAtAnotherInOnePostgreSQLDatabase() throws {
        let server = try PostgresServer.shared.get()
        let database = try server.newDatabase()
        let nodes = try backends.map { try running($0, database) }
        try loginsStayApart()
        let ids = try backends.map(id)
        let names = try server.run("SELECT kind FROM short_lived_item UNION SELECT key FROM bucket", in: database)
        XCTAssertNotEqual(names, "")
        for name in names.split(separator: "\n") { XCTAssertTrue(ids.contains { name.hasPrefix($0 + ".") }, "\(name)") }
        for node in nodes { node.stop(SIGTERM) }
    }

    /// A one-time token, a challenge, an access number and a session of the second service are nothing at the first.
    private func loginsStayApart() throws {
        let (first, second) = (TestClient(backend: backends[0]), TestClient(backend: backends[1]))
        let bob = try second.register("bob@example.com", pin: "1234")
        let permit = try second.timePermit(bob)
        let token = try second.pass2(second.pass1(bob, pin: "1234", permit: permit))
        XCTAssertNotEqual(try first.authenticate(token).status, 200, "a token")
        XCTAssertEqual(try second.authenticate(token).status, 200)
        let proof = try second.pass1(bob, pin: "1234", permit: permit)
        XCTAssertNotEqual(try first.pass2(proof).status, 200, "a challenge")
        let browser = try TestBrowser(backends[1])
        let alice = try first.register("alice@example.com", pin: "1234")
        let login = try first.pass1(alice, pin: "1234", permit: first.timePermit(alice))
        XCTAssertNotEqual(
            try first.authenticate(first.pass2(login, wid: browser.wid)).status, 200, "an access number")
        XCTAssertNotEqual(try browser.poll().status, "authenticate")
    }

    func testServicesWhoseNamesCarryNoIDAreKeptApartUntilTheyCarryIt() async throws {
        let server = try RedisServer()
        for backend in backends {
            try running(backend, "memory:").stop(SIGTERM)
            try makeOld(database(backend))
        }
        let mpind = try running(backends[0], server.url)
        let client = TestClient(backend: backends[0])
        let alice = try client.register("alice@example.com", pin: "1234")
        for _ in 0..<2 { XCTAssertEqual(try client.login(alice, pin: "9999").status, 401) }
        let service = try id(backends[0])
        XCTAssertFalse(try server.run("KEYS", "*").contains(service))
        let refused = try started(backends[1], server.url)
        refused.waitForLog("no such text")
        XCTAssertNotEqual(refused.stop(SIGTERM), 0)
        XCTAssertTrue(refused.logText.contains("another service uses it under the same names"), refused.logText)
        let doctor = try Mpind.run(["doctor", "--state-dir", backends[0].stateFolder])
        XCTAssertEqual(doctor.code, 0, doctor.error)
        XCTAssertTrue(doctor.output.contains("note: \(database(backends[0])): service: names"), doctor.output)

        let sealed = try Mpind.run(["migrate", "--seal", "--state-dir", backends[0].stateFolder])
        XCTAssertEqual([sealed.code, sealed.output.contains(service) ? 0 : 1], [0, 0], sealed.error)
        mpind.waitForLog("names in shared stores carry the id")
        XCTAssertEqual(try client.login(alice, pin: "9999").status, 410, "the third wrong PIN")
        XCTAssertTrue(try server.run("KEYS", "*").contains(service))
        let channels = try server.run("PUBSUB", "CHANNELS")
        XCTAssertTrue(
            channels.split(separator: "\n").allSatisfy { $0 == "mpin:signals" || $0.hasSuffix(service) }, channels)
        XCTAssertEqual(mpind.stop(SIGTERM), 0)
        let other = try running(backends[0], server.url)
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 410)
        other.stop(SIGTERM)
    }

    func testACopyGetsAnIDOfItsOwn() throws {
        let state = backends[0].stateFolder
        let mpind = try running(backends[0], "memory:")
        let first = try id(backends[0])
        let renew = ["service", "renew-id", "--state-dir", state]
        let early = try Mpind.run(renew)
        XCTAssertEqual(early.code, 1)
        XCTAssertTrue(early.error.contains("stop the server first"), early.error)
        mpind.stop(SIGTERM)
        try FileManager.default.moveItem(atPath: state + "/rps.key", toPath: state + "/own.key")
        _ = try KeyFile.create(state + "/rps.key")
        let foreign = try started(backends[0], "memory:")
        foreign.waitForLog("no such text")
        XCTAssertTrue(foreign.logText.contains("bound to another key file"), foreign.logText)
        XCTAssertNotEqual(foreign.stop(SIGTERM), 0)
        try FileManager.default.removeItem(atPath: state + "/rps.key")
        try FileManager.default.moveItem(atPath: state + "/own.key", toPath: state + "/rps.key")
        let renewed = try Mpind.run(renew)
        XCTAssertEqual(renewed.code, 0, renewed.error)
        let second = try id(backends[0])
        XCTAssertNotEqual(second, first)
        XCTAssertEqual(renewed.output, second + "  in names\n")
        try running(backends[0], "memory:").stop(SIGTERM)
        let log = try String(contentsOfFile: state + "/audit/audit.jsonl", encoding: .utf8)
        XCTAssertTrue(log.contains("\"command\":\"service renew-id\""), log)
        for (arguments, code) in [
            (["show", "--database", state + "/dta1.sqlite"], 1),
            (["renew-id", "--database", state + "/rps.sqlite"], 1),
            (["renew-id", "--database", state + "/none.sqlite", "--key-file", state + "/rps.key"], 1),
        ] as [([String], Int32)] {
            XCTAssertEqual(try Mpind.run(["service"] + arguments).code, code, "\(arguments)")
        }
        XCTAssertFalse(FileManager.default.fileExists(atPath: state + "/none.sqlite"))
    }

    func testARestoreOfABackupFromBeforeThereWereIDsKeepsTheID() throws {
        let state = backends[0].stateFolder
        try running(backends[0], "memory:").stop(SIGTERM)
        let (before, copy) = (try id(backends[0]), state + "/copy.sqlite")
        XCTAssertEqual(try Mpind.run(["backup", copy, "--database", state + "/rps.sqlite"]).code, 0)
        try makeOld(copy)
        let none = try Mpind.run(["service", "show", "--database", copy])
        XCTAssertEqual(none.code, 2, none.output)
        let restored = try Mpind.run(["restore", copy, "--database", state + "/rps.sqlite"])
        XCTAssertEqual(restored.code, 0, restored.error)
        XCTAssertEqual(try id(backends[0]), before)
        try running(backends[0], "memory:").stop(SIGTERM)
    }
}

import Foundation
import LoopbackServer
import MPinSecrets
import MPinServer
import MPinService
import MPinStore
import XCTest

/// Tests that a server refuses records that others have written into its database, and the commands that give records
/// their MACs.
final class RecordSealingTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()
    private var state: String { backend.stateFolder }
    private var database: String { state + "/rps.sqlite" }
    private var older: String { state + "-older" }
    private var client: TestClient { TestClient(backend: backend) }

    override func tearDown() {
        for path in [state, state + "-copy", older, older + "-wal"] {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    private func started(_ more: [String] = []) throws -> Mpind {
        let mpind = try Mpind(backend, more)
        try mpind.waitUntilReady()
        return mpind
    }

    private func run(_ words: String...) throws -> (code: Int32, output: String, error: String) {
        try Mpind.run(words)
    }

    /// A state folder as a server of the version before has left it: its records have no MACs.
    private func makeOldState() throws {
        try makeFolder(state)
        let path = database
        try finish {
            let store = try SQLiteStore(path: path)
            _ = try await store.setting("app_id") { String(repeating: "a", count: 32) }
            await store.drain()
        }
    }

    private func sql(_ statement: String, _ path: String? = nil) throws {
        try SQLiteConnection(path: path ?? database).run(statement)
    }

    /// Exchanges the values of the two identities.
    private func exchange() throws {
        let connection = try SQLiteConnection(path: database)
        let keys = try connection.texts("SELECT key FROM item WHERE kind = 'identity' ORDER BY key")
        let values = try connection.texts("SELECT hex(value) FROM item WHERE kind = 'identity' ORDER BY key")
        XCTAssertEqual(keys.count, 2)
        for (key, value) in zip(keys, values.reversed()) {
            try connection.run("UPDATE item SET value = x'\(value)' WHERE kind = 'identity' AND key = '\(key)'")
        }
    }

    /// Copies the database of a stopped server with `cp`. Its newest changes may stand in the log beside it.
    private func copy(_ path: String, to other: String) throws {
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: other + suffix)
            guard suffix == "" || FileManager.default.fileExists(atPath: path + suffix) else { continue }
            try FileManager.default.copyItem(atPath: path + suffix, toPath: other + suffix)
        }
        try? FileManager.default.removeItem(atPath: other + "-shm")
    }

    private func seal() throws {
        let done = try run("migrate", "--seal", "--state-dir", state)
        XCTAssertEqual(done.code, 0, done.error)
        XCTAssertTrue(done.output.contains("records have got a MAC"), done.output)
    }

    func testExchangedIdentitiesAreRefusedOnceTheRecordsHaveMACs() throws {
        try makeOldState()
        var mpind = try started()
        let (alice, _) = (
            try client.register("alice@example.com", pin: "1234"), try client.register("bob@example.com", pin: "4321")
        )
        XCTAssertEqual(try client.login(alice, pin: "9999").status, 401)
        mpind.stop(SIGTERM)
        // Without MACs nobody can tell: alice's device logs in.
        try exchange()
        mpind = try started()
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        mpind.stop(SIGTERM)
        let early = try run("doctor", "--state-dir", state)
        XCTAssertTrue(early.output.contains("note: \(database): records: records have no MACs"), early.output)
        try exchange()
        try seal()
        XCTAssertEqual(
            try run("migrate", "--seal", "--state-dir", state).output, "nothing to do: all records have MACs\n")
        let port = freePorts(1)[0]
        mpind = try started(["--admin-listen", "127.0.0.1:\(port)"])
        let permit = try client.timePermit(alice)
        try exchange()
        XCTAssertEqual(try client.pass2(client.pass1(alice, pin: "1234", permit: permit)).status, 503)
        XCTAssertTrue(mpind.logText.contains("a record was refused"), mpind.logText)
        let metrics = try backend.call("GET", "/metrics", port: port).text
        XCTAssertTrue(
            metrics.contains(#"mpin_store_refused_records_total{store="lasting",table="identity"} "#), metrics)
        let doctor = try run("doctor", "--state-dir", state)
        XCTAssertEqual(doctor.code, 3, doctor.error)
        XCTAssertEqual(doctor.output.components(separatedBy: " of identity: its MAC is missing or wrong\n").count, 3)
        let listed = try run("user", "list", "--state-dir", state)
        XCTAssertTrue(listed.error.contains("of identity was refused: its MAC is missing or wrong"), listed.error)
        mpind.stop(SIGTERM)
        try exchange()
        mpind = try started()
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        mpind.stop(SIGTERM)
    }

    func testANewDatabaseHasMACsAndNobodyCanDenyIt() throws {
        var mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        mpind.waitForFile(state + "/rps.sealed")
        mpind.stop(SIGTERM)
        try sql("DELETE FROM item WHERE kind = 'setting' AND key = 'sealed'")
        mpind = try Mpind(backend)
        mpind.waitForLog("its records have no MACs")
        XCTAssertNotEqual(mpind.stop(SIGTERM), 0)
        XCTAssertTrue(mpind.logText.contains("its records have no MACs"), mpind.logText)
        let listed = try run("user", "list", "--state-dir", state)
        XCTAssertEqual(listed.code, 1)
        XCTAssertTrue(listed.error.contains("its records have no MACs"), listed.error)
    }

    func testResealTakesWhatIsThereAndIsInTheAuditLog() throws {
        var mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        _ = try client.register("bob@example.com", pin: "4321")
        let running = try run("migrate", "--reseal", "--state-dir", state)
        XCTAssertEqual(running.code, 1)
        XCTAssertTrue(running.error.contains("stop the server first"), running.error)
        mpind.stop(SIGTERM)
        try exchange()
        let done = try run("migrate", "--reseal", "--state-dir", state)
        XCTAssertEqual(done.code, 0, done.error)
        XCTAssertTrue(done.output.hasPrefix("2 records have got a MAC; 2 had a wrong one; "), done.output)
        mpind = try started()
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        mpind.stop(SIGTERM)
        let log = try String(contentsOfFile: state + "/audit/audit.jsonl", encoding: .utf8)
        XCTAssertTrue(log.contains(#""command":"migrate --reseal","service":""#), log)
        XCTAssertTrue(log.contains(#""records":"2","wrong":"2""#), log)
        XCTAssertEqual(try run("audit", "verify", "--state-dir", state).code, 0)
    }

    /// A copy beside the first service has records of its own, and the renewal of its id loses none and takes none as it is.
    func testTheRecordsOfACopyWithAnIDOfItsOwnAreItsOwn() throws {
        var mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        _ = try client.register("bob@example.com", pin: "4321")
        mpind.waitForFile(state + "/rps.sealed")
        mpind.stop(SIGTERM)
        try copy(database, to: state + "/first.sqlite")
        try exchange()
        let refused = try run("service", "renew-id", "--state-dir", state)
        XCTAssertEqual(refused.code, 1)
        XCTAssertTrue(refused.error.contains("of identity: its MAC is wrong"), refused.error)
        try exchange()
        XCTAssertEqual(try run("user", "list", "--state-dir", state).code, 0, "nothing has changed")
        // A renewal that was interrupted.
        let path = database
        let next = try finish {
            let store = try SQLiteStore(path: path)
            let next = try await ServiceID.beginRenewal(in: store, at: .now())
            await store.drain()
            return next
        }
        mpind = try Mpind(backend)
        mpind.waitForLog("repeat `mpind service renew-id`")
        XCTAssertNotEqual(mpind.stop(SIGTERM), 0)
        let renewed = try run("service", "renew-id", "--state-dir", state)
        XCTAssertEqual(renewed.output, next + "  in names\n", renewed.error)
        mpind = try started()
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        mpind.stop(SIGTERM)
        let connection = try SQLiteConnection(path: database)
        try connection.run("ATTACH '\(state)/first.sqlite' AS first")
        try connection.run(
            """
            UPDATE item SET value = (SELECT value FROM first.item f WHERE f.kind = item.kind AND f.key = item.key)
            WHERE kind = 'identity'
            """)
        XCTAssertEqual(try run("doctor", "--database", database).code, 3, "records of the first service")
    }

    func testCommandsNeedTheKeyOfTheRecords() throws {
        let mpind = try started()
        _ = try client.register("alice@example.com", pin: "1234")
        mpind.stop(SIGTERM)
        let copy = state + "-copy"
        try makeFolder(copy)
        XCTAssertEqual(try run("backup", copy + "/rps.sqlite", "--database", database).code, 0)
        let refused = try run("user", "list", "--database", copy + "/rps.sqlite")
        XCTAssertEqual(refused.code, 1)
        XCTAssertTrue(refused.error.contains("give --service-key-file"), refused.error)
        let listed = try run(
            "user", "list", "--database", copy + "/rps.sqlite", "--service-key-file", state + "/rps.key")
        XCTAssertTrue(listed.output.contains("alice@example.com"), listed.error)
        let other = try run(
            "user", "list", "--database", copy + "/rps.sqlite", "--service-key-file", state + "/rpa.key")
        XCTAssertEqual(other.code, 1)
        XCTAssertTrue(other.error.contains("another key"), other.error)
    }

    /// Somebody puts an older file back, which does not know of the wrong PINs since then.
    func testAnOlderFileIsRefusedUnlessTheOperatorAcceptsIt() throws {
        var mpind = try started()
        let (alice, bob) = (
            try client.register("alice@example.com", pin: "1234"), try client.register("bob@example.com", pin: "4321")
        )
        mpind.waitForFile(state + "/rps.sealed")
        mpind.stop(SIGTERM)
        try copy(database, to: older)
        mpind = try started()
        for pin in ["9999", "9998", "9997"] { _ = try client.login(bob, pin: pin) }
        XCTAssertEqual(try client.login(alice, pin: "9999").status, 401)
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        mpind.stop(SIGKILL)
        // The file that was there is the newest one.
        mpind = try started()
        XCTAssertEqual(try client.login(bob, pin: "4321").status, 410)
        mpind.stop(SIGTERM)
        try copy(older, to: database)
        mpind = try Mpind(backend)
        mpind.waitForLog("older than the audit log")
        XCTAssertNotEqual(mpind.stop(SIGTERM), 0)
        XCTAssertTrue(mpind.logText.contains("older than the audit log"), mpind.logText)
        mpind = try started(["--accept-older-database"])
        XCTAssertEqual(try client.login(bob, pin: "4321").status, 200)
        mpind.stop(SIGTERM)
        mpind = try started()
        XCTAssertEqual(try client.login(bob, pin: "9999").status, 401)
        mpind.stop(SIGTERM)
        XCTAssertEqual(try run("audit", "verify", "--state-dir", state).code, 0)
    }

    /// What operators do while no server runs is in the log and in the database.
    func testBlocksAndRevocationsThatAnOlderFileLacksAreFound() throws {
        var mpind = try started()
        for name in ["alice", "bob"] { _ = try client.register("\(name)@example.com", pin: "1234") }
        mpind.waitForFile(state + "/rps.sealed")
        mpind.stop(SIGTERM)
        for (command, name) in [("block", "alice"), ("revoke", "bob")] {
            try copy(database, to: older)
            XCTAssertEqual(try run("user", command, "\(name)@example.com", "--state-dir", state).code, 0)
            mpind = try started()
            mpind.stop(SIGKILL)
            try copy(older, to: database)
            mpind = try Mpind(backend)
            mpind.waitForLog("older than the audit log")
            XCTAssertNotEqual(mpind.stop(SIGTERM), 0, command)
            XCTAssertTrue(mpind.logText.contains("older than the audit log"), mpind.logText)
            try started(["--accept-older-database"]).stop(SIGTERM)
        }
    }

    /// A backup from the time before gets MACs when it is put back, and keeps what has happened since.
    func testABackupFromBeforeTheMACsIsRestored() throws {
        try makeOldState()
        var mpind = try started()
        let (alice, bob) = (
            try client.register("alice@example.com", pin: "1234"), try client.register("bob@example.com", pin: "4321")
        )
        let copy = state + "-copy"
        XCTAssertEqual(try run("backup", copy, "--state-dir", state).code, 0)
        for pin in ["9999", "9998", "9997"] { _ = try client.login(bob, pin: pin) }
        mpind.stop(SIGTERM)
        try seal()
        let restored = try run("restore", copy, "--state-dir", state)
        XCTAssertEqual(restored.code, 0, restored.error)
        XCTAssertTrue(restored.output.contains("1 identities keep"), restored.output)
        mpind = try started()
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 200)
        XCTAssertEqual(try client.login(bob, pin: "4321").status, 410)
        mpind.stop(SIGTERM)
    }
}

extension Mpind {
    /// Waits until there is a file at the path, a minute at most.
    fileprivate func waitForFile(_ path: String) {
        let end = Date(timeIntervalSinceNow: 60)
        while !FileManager.default.fileExists(atPath: path), process.isRunning, Date() < end { usleep(10_000) }
    }
}

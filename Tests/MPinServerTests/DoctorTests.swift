import Foundation
import MPinStore
import XCTest

/// Tests that a server and its operator's commands refuse databases into which others have put triggers or views, and that
/// `mpind doctor` names these.
final class DoctorTests: XCTestCase {
    private lazy var backend = Backend.onFreePorts()
    private var state: String { backend.stateFolder }
    private var copies: String { state + "-backup" }
    private var database: String { state + "/rps.sqlite" }
    private var client: TestClient { TestClient(backend: backend) }

    override func tearDown() {
        for folder in [state, copies] { try? FileManager.default.removeItem(atPath: folder) }
    }

    private func started() throws -> Mpind {
        let mpind = try Mpind(backend)
        try mpind.waitUntilReady()
        return mpind
    }

    /// Lets the database at `path` give each identity back what it is now.
    private func plantTrigger(_ path: String) throws {
        let connection = try SQLiteConnection(path: path)
        try connection.run("CREATE TABLE kept AS SELECT key, value FROM item WHERE kind = 'identity'")
        try connection.run(
            """
            CREATE TRIGGER back AFTER INSERT ON item WHEN new.kind = 'identity' BEGIN
                UPDATE item SET value = (SELECT value FROM kept WHERE kept.key = new.key)
                    WHERE kind = 'identity' AND key = new.key;
            END
            """)
    }

    func testATriggerGivesNoWrongPINBackUnderARunningServer() throws {
        let mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        try plantTrigger(database)
        XCTAssertEqual(try (0..<3).map { _ in try client.login(alice, pin: "9999").status }, [401, 401, 410])
        XCTAssertEqual(try client.login(alice, pin: "1234").status, 410)
        mpind.stop(SIGTERM)
        let doctor = try Mpind.run(["doctor", "--state-dir", state])
        XCTAssertEqual(doctor.code, 3, doctor.error)
        for name in ["trigger back", "table kept"] {
            XCTAssertTrue(doctor.output.contains("fault: \(database): schema: not of this program: \(name)\n"), name)
        }
        let refused = try Mpind.run(["--all-in-one", "--state-dir", state, "--mail-dir", state + "/mail"])
        XCTAssertEqual(refused.code, 1, refused.output)
        XCTAssertTrue((refused.output + refused.error).contains("trigger back"), refused.output + refused.error)
    }

    func testABackupWithATriggerIsRefusedAndADatabaseWithOneStillTellsItsBlocks() throws {
        let mpind = try started()
        let alice = try client.register("alice@example.com", pin: "1234")
        XCTAssertEqual(try Mpind.run(["backup", copies, "--state-dir", state]).code, 0)
        for _ in 0..<3 { _ = try client.login(alice, pin: "9999") }
        mpind.stop(SIGTERM)
        let bad = copies + "/bad.sqlite"
        try FileManager.default.copyItem(atPath: copies + "/rps.sqlite", toPath: bad)
        try plantTrigger(bad)
        let before = try Data(contentsOf: URL(fileURLWithPath: database))
        let refused = try Mpind.run(["restore", bad, "--database", database])
        XCTAssertEqual(refused.code, 1, refused.output)
        XCTAssertTrue(refused.error.contains("trigger back"), refused.error)
        XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: database)), before)
        try plantTrigger(database)
        for arguments in [["backup", copies + "/new.sqlite"], ["gc"], ["user", "list"]] {
            let answer = try Mpind.run(arguments + ["--database", database])
            XCTAssertEqual(answer.code, 1, "\(arguments)")
            XCTAssertTrue(answer.error.contains("trigger back"), answer.error)
        }
        let good = try Mpind.run(["restore", copies + "/rps.sqlite", "--database", database])
        XCTAssertEqual(good.code, 0, good.error)
        XCTAssertTrue(good.output.contains("1 identities keep"), good.output)
        XCTAssertEqual(try Mpind.run(["doctor", "--state-dir", state]).code, 0)
        try started().stop(SIGTERM)
    }

    func testAViewInThePlaceOfATrustAuthoritysTableIsFound() throws {
        try started().stop(SIGTERM)
        let sound = try Mpind.run(["doctor", "--state-dir", state])
        XCTAssertEqual(sound.output, "3 databases: nothing is wrong\n", sound.error)
        let share = try SQLiteConnection(path: state + "/dta1.sqlite")
        try share.run("ALTER TABLE item RENAME TO kept")
        try share.run("CREATE VIEW item AS SELECT * FROM kept")
        let doctor = try Mpind.run(["doctor", "--state-dir", state, "--json"])
        XCTAssertEqual(doctor.code, 3, doctor.error)
        let first = try XCTUnwrap(
            JSONSerialization.jsonObject(with: Data(doctor.output.prefix { $0 != "\n" }.utf8)) as? [String: String])
        XCTAssertEqual([first["weight"], first["check"], first["place"]], ["fault", "schema", state + "/dta1.sqlite"])
        XCTAssertEqual(try Mpind.run(["doctor"]).code, 1)
        XCTAssertEqual(try Mpind.run(["doctor", "--database", state + "/rps.key"]).code, 1)
    }
}

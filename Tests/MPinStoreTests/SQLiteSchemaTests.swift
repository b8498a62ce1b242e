import Foundation
import MPinStore
import XCTest

/// Tests that a store obeys nothing that others have put into its file, and refuses such a file.
final class SQLiteSchemaTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let key = ItemKey("identity", "alice")
    private var path = ""

    override func setUp() { path = NSTemporaryDirectory() + "mpind-schema-" + UUID().uuidString + ".sqlite" }

    override func tearDown() { remove() }

    private func remove() {
        for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private func plant(_ statements: [String]) throws {
        let connection = try SQLiteConnection(path: path)
        for statement in statements { try connection.run(statement) }
    }

    /// What an attacker plants to get each attempt back.
    private static let trigger =
        "CREATE TRIGGER back AFTER INSERT ON item WHEN new.kind = 'identity' BEGIN UPDATE item SET value = x'30'; END"

    func testATriggerThatIsPlantedWhileAStoreIsOpenIsNotObeyed() async throws {
        let store = try SQLiteStore(path: path)
        _ = try await store.create(key, StoredItem(value: Array("1".utf8)), at: now)
        try plant([Self.trigger])
        try await store.update(key, at: now, .durable) { $0?.value = Array("2".utf8) }
        let item = try await store.read(key, at: now)
        XCTAssertEqual(item?.value, Array("2".utf8))
    }

    func testAViewThatIsPutInThePlaceOfTheTableIsNotRead() async throws {
        let store = try SQLiteStore(path: path)
        _ = try await store.create(key, StoredItem(value: Array("2".utf8)), at: now)
        try plant([
            "ALTER TABLE item RENAME TO kept",
            "CREATE VIEW item AS SELECT kind, key, x'30' AS value, expires FROM kept",
        ])
        do {
            let item = try await store.read(key, at: now)
            XCTFail("read: \(String(describing: item))")
        } catch StoreError.unavailable {}
    }

    /// Functions and virtual tables that a schema names could do what no statement of ours asks for. Nor does a statement
    /// change the list of what is in the file.
    func testAConnectionTrustsNoSchemaAndDoesNotRewriteIt() throws {
        let connection = try SQLiteConnection(path: path, creates: true)
        XCTAssertEqual(try connection.texts("PRAGMA trusted_schema"), ["0"])
        try connection.run("CREATE TABLE album (name TEXT)")
        try connection.run("PRAGMA writable_schema = ON")
        XCTAssertThrowsError(try connection.run("DELETE FROM sqlite_master")) {
            XCTAssertTrue("\($0)".contains("may not be modified"), "\($0)")
        }
        XCTAssertEqual(try connection.texts("SELECT name FROM sqlite_master"), ["album"])
    }

    func testAFileWithWhatNoStepMakesIsRefused() throws {
        let planted: [(statements: [String], named: String)] = [
            ([Self.trigger], "trigger back"),
            (["CREATE TRIGGER step AFTER INSERT ON grdb_migrations BEGIN DELETE FROM item; END"], "trigger step"),
            (["CREATE VIEW seen AS SELECT 1"], "view seen"),
            (["CREATE TABLE more (a)"], "table more"),
            (["CREATE UNIQUE INDEX one ON item (value)"], "index one"),
            (["CREATE INDEX sum ON item (key || kind)"], "index sum"),
            (["ALTER TABLE item ADD COLUMN more TEXT"], "table item"),
            (["ALTER TABLE item ADD COLUMN more TEXT AS (upper(key))"], "table item"),
            (["ALTER TABLE item RENAME TO kept", "CREATE VIEW item AS SELECT * FROM kept"], "view item"),
            (["DROP INDEX item_expires"], "missing: index item_expires"),
            (["DROP TABLE item"], "missing: table item"),
            (["ALTER TABLE grdb_migrations RENAME TO kept"], "table item"),
            (["CREATE TABLE \"a\u{1b}[2J\nb\" (a)"], "table a\\u{1B}[2J\\nb"),
        ]
        for (statements, name) in planted {
            _ = try SQLiteStore(path: path)
            try plant(statements)
            XCTAssertThrowsError(try SQLiteStore(path: path), name) { error in
                guard case StoreError.unusable(let reason) = error else { return XCTFail("\(error)") }
                XCTAssertTrue(reason.contains(name), reason)
                XCTAssertFalse(reason.contains("\n"), reason)
            }
            remove()
        }
    }

    func testAFileOfAnotherProgramIsRefusedAndKept() throws {
        let other = try SQLiteConnection(path: path, creates: true)
        try other.run("CREATE TABLE album (name TEXT)")
        XCTAssertThrowsError(try SQLiteStore(path: path)) { XCTAssertTrue("\($0)".contains("table album"), "\($0)") }
        XCTAssertEqual(try other.texts("SELECT name FROM sqlite_master"), ["album"])
    }

    func testWhatSQLiteItselfAddsIsNotForeign() async throws {
        let store = try SQLiteStore(path: path)
        _ = try await store.create(key, StoredItem(value: []), at: now)
        try plant(["ANALYZE"])
        _ = try SQLiteStore(path: path)
        try plant(["VACUUM"])
        _ = try SQLiteStore(path: path)
    }
}

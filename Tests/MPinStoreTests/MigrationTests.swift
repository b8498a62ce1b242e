import Foundation
import MPinStore
import XCTest

/// Tests that the present schema takes over files of released versions (Tests/Vectors/state-*, made by those versions).
final class MigrationTests: XCTestCase {
    private static let recorded = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Vectors")
    private var path = ""

    override func setUpWithError() throws { try copy("state-0.1.0") }

    private func copy(_ version: String) throws {
        path = NSTemporaryDirectory() + "mpind-migration-" + UUID().uuidString + ".sqlite"
        try FileManager.default.copyItem(
            atPath: Self.recorded.appendingPathComponent(version + "/rps.sqlite").path, toPath: path)
        chmod(path, 0o600)
    }

    override func tearDown() { remove() }

    private func remove() {
        for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    func testMigratingTwiceIsMigratingOnce() async throws {
        // Reads the items at an early time, at which none of the recorded registrations has expired.
        let then = Moment(microseconds: 0)
        let old = try SQLiteConnection(path: path).texts("SELECT value FROM setting").first
        for _ in 0..<2 {
            let store = try SQLiteStore(path: path)
            let identities = try await store.list("identity", after: nil, limit: 10, at: then)
            let registrations = try await store.list("registration", after: nil, limit: 10, at: then)
            XCTAssertEqual([identities.count, registrations.count], [2, 4])
            let appID = try await store.setting("app_id") { "another" }
            XCTAssertEqual(appID, old)
        }
    }

    func testAFileOfTheVersionBeforeIsTakenOverAndThenRefusedByIt() async throws {
        remove()
        try copy("state-1.0.0")
        let before = try Schema.done(SQLiteConnection(path: path))
        let store = try SQLiteStore(path: path)
        let identities = try await store.list("identity", after: nil, limit: 10, at: Moment(microseconds: 0))
        XCTAssertEqual(identities.map { $0.item.value.first }, [UInt8(ascii: "{"), UInt8(ascii: "{")])
        let after = try Schema.done(SQLiteConnection(path: path))
        XCTAssertEqual(before.count, 2)
        XCTAssertTrue(after.isStrictSuperset(of: before), "what it does not know it refuses")
    }

    func testASchemaFromANewerProgramIsRefused() async throws {
        _ = try SQLiteStore(path: path)
        try SQLiteConnection(path: path).run("INSERT INTO grdb_migrations VALUES ('99: future')")
        XCTAssertThrowsError(try SQLiteStore(path: path)) { XCTAssertTrue("\($0)".contains("newer version")) }
    }
}

import Foundation
import GRDB
import MPinStore
import XCTest

/// The files of released versions under the present schema (Tests/Vectors/state-*: made by those versions).
final class MigrationTests: XCTestCase {
    private static let recorded = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Vectors/state-0.1.0/rps.sqlite")
    private var path = ""

    override func setUpWithError() throws {
        path = NSTemporaryDirectory() + "mpind-migration-" + UUID().uuidString + ".sqlite"
        try FileManager.default.copyItem(atPath: Self.recorded.path, toPath: path)
        chmod(path, 0o600)
    }

    override func tearDown() {
        for suffix in ["", "-wal", "-shm", ".lock"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    func testMigratingTwiceIsMigratingOnce() async throws {
        // Before any of the recorded registrations expires.
        let then = Moment(microseconds: 0)
        let old = try await DatabaseQueue(path: path).read { try String.fetchOne($0, sql: "SELECT value FROM setting") }
        for _ in 0..<2 {
            let store = try SQLiteStore(path: path)
            let identities = try await store.list("identity", after: nil, limit: 10, at: then)
            let registrations = try await store.list("registration", after: nil, limit: 10, at: then)
            XCTAssertEqual([identities.count, registrations.count], [2, 4])
            let appID = try await store.setting("app_id") { "another" }
            XCTAssertEqual(appID, old)
        }
    }

    func testASchemaFromANewerProgramIsRefused() async throws {
        _ = try SQLiteStore(path: path)
        try await DatabaseQueue(path: path).write {
            try $0.execute(sql: "INSERT INTO grdb_migrations VALUES ('99: future')")
        }
        XCTAssertThrowsError(try SQLiteStore(path: path)) { XCTAssertTrue("\($0)".contains("newer version")) }
    }
}

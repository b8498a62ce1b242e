import Foundation
import MPinStore
import StoreEngines
import XCTest

/// Tests how the schema of a PostgreSQL database grows while programs of several versions use it.
final class PostgresSchemaTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let k = ItemKey("a", "k")
    /// How many steps this program knows.
    private let known = 3

    /// All of them find steps missing, and wait for the lock that lets one of them change the schema.
    func testMigratorsAtTheSameTimeApplyEachStepOnce() async throws {
        let (server, url) = try newDatabase()
        try await assertEachStepIsAppliedOnce(server, url)
    }

    /// There a transaction would not see what others have committed while it waited for the lock.
    func testMigratorsInADatabaseWithAnotherIsolationApplyEachStepOnce() async throws {
        let (server, url) = try newDatabase()
        try server.set("default_transaction_isolation TO ''repeatable read''", in: url)
        try await assertEachStepIsAppliedOnce(server, url)
    }

    private func assertEachStepIsAppliedOnce(_ server: PostgresServer, _ url: String) async throws {
        hold(server, url, "SELECT pg_advisory_xact_lock(x'6d70696e'::bigint)")
        let locks =
            "SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND datname = current_database()"
        try await until { try server.run(locks + " WHERE locktype = 'advisory' AND granted", in: url) == "1" }
        let migration = Task { try await concurrently(8) { _ in try await migrate(url) } }
        try await until { try server.run(locks + " WHERE locktype = 'advisory' AND NOT granted", in: url) == "8" }
        try server.run(Self.release)
        let applied = try await migration.value.flatMap(\.self)
        XCTAssertEqual(applied.map { $0.prefix(2) }.sorted(), ["1:", "2:", "3:"])
        let needs = try server.run("SELECT left(step, 2), needs FROM mpind_schema ORDER BY step", in: url)
        XCTAssertEqual(needs, "1:|1\n2:|2\n3:|2")
    }

    /// Runs a statement in a transaction that stays open until ``release``.
    private func hold(_ server: PostgresServer, _ url: String, _ statement: String) {
        DispatchQueue.global().async { _ = try? server.run("BEGIN; \(statement); SELECT pg_sleep(600)", in: url) }
    }

    private static let release = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; %'"

    /// The steps say so, although this program does not know what they do.
    func testADatabaseThatANewerProgramHasExpandedIsUsed() async throws {
        let (server, url) = try newDatabase()
        _ = try await migrate(url)
        try server.run("INSERT INTO mpind_schema (step, needs) VALUES ('4: more', 2), ('5: more', \(known))", in: url)
        try server.run("ALTER TABLE lasting_item ADD COLUMN more integer", in: url)
        let applied = try await migrate(url)
        XCTAssertEqual(applied, [])
        let store = try await PostgresStore.opened(url)
        _ = try await store.create(k, StoredItem(value: [1]), at: now)
        let read = try await store.read(k, at: now)
        XCTAssertEqual(read, StoredItem(value: [1]))
    }

    func testADatabaseThatNeedsANewerProgramIsRefused() async throws {
        let (server, url) = try newDatabase()
        _ = try await migrate(url)
        for (row, what) in [
            ("(step, needs) VALUES ('5: less', \(known + 1))", "a step has contracted it"),
            ("(step, needs) VALUES ('4: more', 2), ('5: less', \(known + 1))", "the second of two steps has"),
            ("(step) VALUES ('99: later')", "a step does not say what it needs"),
        ] {
            try server.run("INSERT INTO mpind_schema \(row)", in: url)
            do {
                _ = try await migrate(url)
                XCTFail("migrated: \(what)")
            } catch StoreError.unusable(let reason) { XCTAssertTrue(reason.contains("newer"), reason) }
            do {
                _ = try await PostgresStore.opened(url)
                XCTFail("opened: \(what)")
            } catch StoreError.unusable(let reason) { XCTAssertTrue(reason.contains("newer"), reason) }
            try server.run("DELETE FROM mpind_schema WHERE step > '4'", in: url)
        }
    }

    /// Its table of steps has no column for what they need.
    func testADatabaseOfTheVersionBeforeIsUsedWithoutAChange() async throws {
        let (server, url) = try newDatabase()
        _ = try await migrate(url)
        try server.run("ALTER TABLE mpind_schema DROP COLUMN needs", in: url)
        let applied = try await migrate(url)
        XCTAssertEqual(applied, [])
        try server.run("INSERT INTO mpind_schema (step) VALUES ('99: later')", in: url)
        do {
            _ = try await migrate(url)
            XCTFail("opened")
        } catch StoreError.unusable(let reason) { XCTAssertTrue(reason.contains("newer"), reason) }
    }

    /// A transaction of somebody else reads the table that the second step renames. Requests that come meanwhile do not wait
    /// for its end.
    func testALockedTableIsTriedAgainAndAgain() async throws {
        let (server, url) = try newDatabase()
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Vectors/postgres-1.sql")
        try server.run(String(contentsOf: file, encoding: .utf8), in: url)
        hold(server, url, "LOCK TABLE item IN ACCESS SHARE MODE")
        let holders = "SELECT count(*) FROM pg_locks WHERE relation = 'item'::regclass AND granted"
        try await until { try server.run(holders, in: url) == "1" }
        // A busy machine may need all that time before there is a connection.
        try await until {
            do {
                _ = try await migrate(url, patience: .milliseconds(400), lockPatience: .milliseconds(20))
            } catch StoreError.unavailable(let reason) { return reason.contains("locked") }
            return false
        }
        let before = try timeouts(server)
        let migration = Task { try await migrate(url, patience: .seconds(60), lockPatience: .milliseconds(20)) }
        try await until { try timeouts(server) > before + 10 }
        XCTAssertNotEqual(try server.run("SELECT count(*) FROM item", in: url), "0")
        try server.run(Self.release)
        let applied = try await migration.value
        XCTAssertEqual(applied.map { $0.prefix(2) }, ["2:", "3:"])
    }

    /// How often a change has waited too long for a table, by the log of the server.
    private func timeouts(_ server: PostgresServer) throws -> Int {
        try String(contentsOfFile: server.folder + "/log", encoding: .utf8).split(separator: "\n")
            .count { $0.contains("lock timeout") }
    }

    private func newDatabase() throws -> (PostgresServer, String) {
        let server = try PostgresServer.shared.get()
        return (server, try server.newDatabase())
    }
}

private func migrate(
    _ url: String, patience: Duration = .seconds(20), lockPatience: Duration = .seconds(2)
) async throws -> [String] {
    guard case .postgres(let url) = try StoreURL(url) else { throw StoreError.unusable("no PostgreSQL URL") }
    return try await PostgresStore.migrate(url, patience: patience, lockPatience: lockPatience)
}

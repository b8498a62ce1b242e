import Foundation
import MPinStore
import StoreEngines
import Synchronization
import XCTest

/// Tests what a store in PostgreSQL makes of the failures by which the database keeps transactions apart. The database is
/// brought to each of them; none is made up.
final class PostgresConflictTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let (k, other) = (ItemKey("a", "1"), ItemKey("a", "2"))

    /// A store in a database of its own with these settings, and two items in it.
    private func opened(_ settings: String...) async throws -> (store: PostgresStore, url: String) {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        for setting in settings { try server.set(setting, in: url) }
        let store = try await PostgresStore.opened(url, patience: .seconds(60))
        for key in [k, other] { _ = try await store.create(key, StoredItem(value: []), at: now) }
        return (store, url)
    }

    /// Whether a change was made; not if others changed the same items each time. `before` runs before each try.
    private func isMade(_ store: PostgresStore, before: @escaping @Sendable () throws -> Void = {}) async throws -> Bool
    {
        do {
            try await store.transaction([k, other], at: now, .durable) { [k, other] items in
                try before()
                for key in [k, other] { items[key]?.value.append(1) }
            }
        } catch StoreError.conflict { return false }
        return true
    }

    private func assertMade(_ times: Int, _ store: PostgresStore, line: UInt = #line) async throws {
        for key in [k, other] {
            let item = try await store.read(key, at: now)
            XCTAssertEqual(item?.value.count, times, line: line)
        }
    }

    /// Another transaction reads what this one changes, and writes where this one has read: neither could come first
    /// (SQLSTATE 40001).
    func testAChangeThatCannotBeSerializedIsMadeOnceOrNotAtAll() async throws {
        let (store, url) = try await opened("default_transaction_isolation = ''serializable''")
        let server = try PostgresServer.shared.get()
        for failures in [1, 8] {
            let tries = Mutex(0)
            let isMade = try await isMade(store) {
                let number = tries.withLock { tries in
                    tries += 1
                    return tries
                }
                guard number <= failures else { return }
                try server.run(
                    """
                    BEGIN; SELECT FROM lasting_item WHERE key = '1';
                    INSERT INTO lasting_item VALUES ('a', 'seen \(failures) \(number)', '', NULL); COMMIT
                    """, in: url)
            }
            XCTAssertEqual(isMade, failures < 8)
            XCTAssertEqual(tries.withLock { $0 }, min(8, failures + 1))
            try await assertMade(1, store)
        }
    }

    /// All writers wait for the same row with an old view of it. Each time one succeeds, and the others begin again
    /// (SQLSTATE 40001): the last one eight times at most.
    func testWritersWithAnOldViewBeginAgain() async throws {
        let (store, url) = try await opened("default_transaction_isolation = ''repeatable read''")
        let server = try PostgresServer.shared.get()
        let holder = try PostgresSession(url)
        try holder.run("BEGIN; SELECT FROM lasting_item WHERE key = '1' FOR UPDATE")
        let writers = Task { [now, k] in
            try await concurrently(8) { _ in
                try await store.update(k, at: now, .durable) { $0?.value.append(1) }
            }
        }
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        try await until { try server.run(waiting, in: url) == "8" }
        let before = store.trips
        try holder.run("COMMIT")
        _ = try await writers.value
        XCTAssertGreaterThan(store.trips - before, 8, "nobody had to begin again: the test shows nothing")
        let item = try await store.read(k, at: now)
        XCTAssertEqual(item?.value.count, 8)
    }

    /// As `statement_timeout` does (SQLSTATE 57014).
    func testAStatementThatTheDatabaseCancelsIsUnavailableAndChangesNothing() async throws {
        let (store, url) = try await opened()
        let server = try PostgresServer.shared.get()
        let holder = try PostgresSession(url)
        try holder.run("BEGIN; SELECT FROM lasting_item WHERE key = '1' FOR UPDATE")
        let change = Task { [now, k] in try await store.update(k, at: now, .durable) { $0?.value.append(1) } }
        let cancelled =
            "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity "
            + "WHERE datname = current_database() AND wait_event_type = 'Lock'"
        try await until { try server.run(cancelled, in: url) == "1" }
        do {
            _ = try await change.value
            XCTFail("made")
        } catch StoreError.unavailable(let reason) { XCTAssertTrue(reason.contains("57014"), reason) }
        try holder.run("COMMIT")
        try await assertMade(0, store)
        let isMadeLater = try await isMade(store)
        XCTAssertTrue(isMadeLater)
    }

    /// A transaction of the test has the second row and wants the first one, again and again (SQLSTATE 40P01). The database
    /// refuses the one that has waited for `deadlock_timeout` and finds the deadlock. That is the store; on a machine that is
    /// so busy that it is not, the test begins again with a longer time.
    func testADeadlockIsRepeatedSevenTimesAndNoMore() async throws {
        let server = try PostgresServer.shared.get()
        for (failures, made) in [(1, 1), (8, 0)] {
            for milliseconds in [100, 500, 2500] {
                let (store, url) = try await opened("deadlock_timeout = \(milliseconds)")
                let blocker = Task {
                    try await onThread { try server.run(deadlocks(failures < 8 ? failures : 1000), in: url) }
                }
                try await until { try server.run(holders, in: url) == "1" }
                let isMade = try await isMade(store)
                try server.run("INSERT INTO lasting_item VALUES ('a', 'end', '', NULL)", in: url)
                do { _ = try await blocker.value } catch let failure as PostgresServer.Failure {
                    guard failure.output.contains("deadlock detected"), milliseconds < 2500 else { throw failure }
                    continue
                }
                XCTAssertEqual(isMade, made == 1)
                try await assertMade(made, store)
                break
            }
        }
    }

    /// Another transaction keeps a row longer than `lock_timeout` (SQLSTATE 55P03).
    func testARowThatIsNotFreeInTimeIsTriedSevenTimesAgain() async throws {
        let (store, url) = try await opened("lock_timeout = 50")
        let holder = try PostgresSession(url)
        try holder.run("BEGIN; SELECT FROM lasting_item WHERE key = '2' FOR UPDATE")
        let isMade = try await isMade(store)
        XCTAssertFalse(isMade)
        try holder.run("COMMIT")
        try await assertMade(0, store)
    }

    func testARowThatIsFreeAtTheSecondTryIsChangedOnce() async throws {
        let (store, url) = try await opened("lock_timeout = 300")
        let server = try PostgresServer.shared.get()
        let blocker = Task { try await onThread { try server.run(holdUntilTheSecondWait, in: url) } }
        try await until { try server.run(holders, in: url) == "1" }
        let isMade = try await isMade(store)
        XCTAssertTrue(isMade)
        _ = try await blocker.value
        try await assertMade(1, store)
    }
}

/// Locks the second row, and says so by another lock: only an update of the row would show its lock to others.
private let hold = """
    PERFORM FROM lasting_item WHERE key = '2' FOR UPDATE;
    PERFORM pg_advisory_xact_lock(0);
    """

/// Counts those who have done ``hold``.
private let holders = """
    SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND datname = current_database()
    WHERE locktype = 'advisory'
    """

/// Somebody waits for this transaction.
private let wait = "FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid"

/// Locks the second row, and asks for the first one while somebody waits for the second: until it has got it `count` times, or
/// there is an item "end". The store may come first and have the row again, so it may have failed more often.
private func deadlocks(_ count: Int) -> String {
    """
    SET deadlock_timeout = '5s'; SET statement_timeout = '60s';
    DO $$ BEGIN
        \(hold)
        FOR number IN 1..\(count) LOOP
            WHILE NOT EXISTS (SELECT \(wait)) LOOP
                IF EXISTS (SELECT FROM lasting_item WHERE key = 'end') THEN RETURN; END IF;
                PERFORM pg_sleep(0.002);
            END LOOP;
            BEGIN
                PERFORM FROM lasting_item WHERE key = '1' FOR UPDATE;
                RAISE 'gives the first row back';
            EXCEPTION WHEN raise_exception THEN NULL;
            END;
        END LOOP;
    END $$
    """
}

/// Locks the second row until somebody has waited for it and waits again.
private let holdUntilTheSecondWait = """
    SET statement_timeout = '60s';
    DO $$ DECLARE begun timestamptz; BEGIN
        \(hold)
        WHILE begun IS NULL LOOP
            SELECT waitstart INTO begun \(wait);
            PERFORM pg_sleep(0.002);
        END LOOP;
        WHILE NOT EXISTS (SELECT \(wait) AND waitstart > begun) LOOP PERFORM pg_sleep(0.002); END LOOP;
    END $$
    """

/// Does what waits on a thread of its own. Those of tasks are few.
private func onThread<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        Thread.detachNewThread { continuation.resume(with: Swift.Result { try work() }) }
    }
}

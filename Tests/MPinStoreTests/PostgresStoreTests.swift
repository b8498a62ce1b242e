import Foundation
import MPinStore
import StoreEngines
import Synchronization
import XCTest

/// Tests properties that only a store in PostgreSQL has. ``ConformanceTests`` tests the rest.
final class PostgresStoreTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let k = ItemKey("a", "k")

    func testTwoProcessesLoseNoUpdateAndMakeTheTablesOnce() async throws {
        let url = try PostgresServer.shared.get().newDatabase()
        let stores = try await concurrently(8) { _ in try await opened(url) }
        try await concurrently(80) { [now, k] writer in
            try await stores[writer % 8].update(k, at: now, .ordered) { item in
                item = StoredItem(value: (item?.value ?? []) + [1])
            }
        }
        let read = try await stores[0].read(k, at: now)
        XCTAssertEqual(read?.value.count, 80)
    }

    func testShortLivedItemsAreApartAndNotFlushed() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let (lasting, shortLived) = (try await opened(url), try await opened(url, .shortLived))
        _ = try await shortLived.create(k, StoredItem(value: [1]), at: now)
        let other = try await lasting.read(k, at: now)
        XCTAssertNil(other)
        let kinds = try server.run("SELECT relname, relpersistence FROM pg_class WHERE relname LIKE '%item'", in: url)
        XCTAssertEqual(Set(kinds.split(separator: "\n")), ["lasting_item|p", "short_lived_item|u"])
    }

    func testWhatOthersHavePutOnTheTablesIsFound() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let store = try await opened(url)
        let nothing = try await store.foreign()
        XCTAssertEqual(nothing, [])
        try server.run(
            """
            CREATE FUNCTION back() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN OLD; END';
            CREATE TRIGGER "back\u{7}" BEFORE UPDATE ON lasting_item FOR EACH ROW EXECUTE FUNCTION back();
            CREATE RULE keep AS ON DELETE TO short_lived_item DO INSTEAD NOTHING;
            ALTER TABLE bucket ENABLE ROW LEVEL SECURITY
            """, in: url)
        let found = try await store.foreign()
        XCTAssertEqual(
            found,
            [
                "not of this program: rule keep on short_lived_item",
                "not of this program: trigger back\\u{07} on lasting_item", "row security is on: bucket",
            ])
    }

    /// Both transactions find neither item. Each makes one only if the other's is absent. If each locked only rows,
    /// both would succeed.
    func testTwoTransactionsDoNotBothActOnTheAbsenceOfWhatTheOtherMakes() async throws {
        let store = try await opened(try PostgresServer.shared.get().newDatabase())
        for round in 0..<50 {
            let keys = ["1", "2"].map { ItemKey("round\(round)", $0) }
            let made = try await concurrently(2) { [now] index in
                try await store.transaction(keys, at: now, .ordered) { items in
                    guard items[keys[1 - index]] == nil else { return false }
                    items[keys[index]] = StoredItem(value: [1])
                    return true
                }
            }
            XCTAssertEqual(made.filter(\.self).count, 1)
        }
    }

    /// A pooler gives each transaction one of its two connections to the server, if it can the one that was used last. That one
    /// knows the statements of the store, and then somebody else has it.
    func testThroughAPoolerStatementsAreNotPrepared() async throws {
        let server = try PostgresServer.shared.get()
        let url = server.throughPooler(try server.newDatabase())
        for (option, works) in [("&prepared=off", true), ("", false)] {
            let store = try await opened(url + option)
            _ = try await store.read(k, at: now)
            let holder = try PostgresSession(url)
            try holder.run("BEGIN; SELECT 1")
            do {
                _ = try await store.read(k, at: now)
                XCTAssertTrue(works, "this pooler takes prepared statements: the test shows nothing")
            } catch { XCTAssertFalse(works, "\(error)") }
            try holder.run("COMMIT")
        }
        let store = try await opened(url + "&prepared=off")
        try await concurrently(40) { [now, k] _ in
            try await store.update(k, at: now, .ordered) { $0 = StoredItem(value: ($0?.value ?? []) + [1]) }
        }
        let read = try await store.read(k, at: now)
        XCTAssertEqual(read?.value.count, 40)
    }

    func testACommitWhoseAnswerIsLateHasAnUnknownOutcome() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let store = try await opened(url, patience: .seconds(1))
        try server.run(Self.sleepAtCommit, in: url)
        do {
            _ = try await store.create(k, StoredItem(value: [1]), at: now)
            XCTFail("known")
        } catch StoreError.unknownOutcome {}
        try server.run("DROP TRIGGER sleep ON lasting_item", in: url)
        _ = try await store.read(ItemKey("a", "other"), at: now)
    }

    /// A trigger that runs at the commit of a transaction that has written an item, and takes 3 seconds.
    private static let sleepAtCommit = """
        CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER sleep AFTER INSERT ON lasting_item DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION sleep()
        """

    /// A change is made again if the answer to its commit is lost. Both tries have the time of one request together.
    func testARequestDoesNotWaitTwiceForACommit() async throws {
        let server = try PostgresServer()
        let store = try await opened(server.url)
        try server.run(Self.sleepAtCommit.replacing("pg_sleep(3)", with: "pg_sleep(600)"))
        let start = ContinuousClock.now
        let request = Task { [now, k] in
            try await StorePatience.limit(to: .seconds(2)) {
                try await store.performOnce(Put(key: k, item: StoredItem(value: [1])), at: now, .durable)
            }
        }
        let sleepers = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        try await until { try server.run(sleepers) == "1" }
        try server.signal(SIGSTOP)
        let result = await request.result
        try server.signal(SIGCONT)
        XCTAssertLessThan(ContinuousClock.now - start, .seconds(15), "it waited as long as it would without a request")
        do {
            try result.get()
            XCTFail("known")
        } catch StoreError.unknownOutcome {}
        try await untilItWorks { _ = try await store.read(self.k, at: self.now) }
    }

    /// One has the only connection until its commit is cancelled; the other waits for it.
    func testTheStoreSaysWhoHasItsConnectionsAndWhoHasWaited() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let store = try await opened(url + "&pool=1")
        try server.run(Self.sleepAtCommit.replacing("pg_sleep(3)", with: "pg_sleep(600)"), in: url)
        let before = store.poolUse
        XCTAssertEqual([before.most, before.busy, before.waiting, before.waits], [1, 0, 0, 1])
        let writer = Task { [now, k] in try await store.create(k, StoredItem(value: [1]), at: now) }
        try await until { store.poolUse.busy == 1 }
        let reader = Task { [now, k] in try await store.read(k, at: now) }
        try await until { store.poolUse.waiting == 1 }
        let cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
        try await until { try server.run(cancel + " AND datname = current_database()", in: url) == "t" }
        if case .success = await writer.result { XCTFail("committed") }
        let read = try await reader.value
        XCTAssertNil(read)
        let after = store.poolUse
        XCTAssertEqual([after.busy, after.waiting, after.waits], [0, 0, 2])
        XCTAssertGreaterThan(after.waited, before.waited)
    }

    /// Each change takes a second.
    func testARequestDoesNotWaitLongerForManyChanges() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let store = try await opened(url)
        try server.run(Self.sleepAtCommit.replacing("pg_sleep(3)", with: "pg_sleep(1)"), in: url)
        do {
            try await StorePatience.limit(to: .milliseconds(2500)) {
                for number in 0..<3 {
                    _ = try await store.create(ItemKey("a", "\(number)"), StoredItem(value: [1]), at: now)
                }
            }
            XCTFail("three seconds")
        } catch StoreError.unknownOutcome {} catch StoreError.unavailable {}
    }

    /// Also while connections are opened, which takes a minute if the server does not answer.
    func testAServerThatHangsIsUnavailableInBoundedTime() async throws {
        let server = try PostgresServer()
        let store = try await opened(server.url + "&connect_timeout=60", patience: .seconds(1))
        _ = try await store.create(k, StoredItem(value: [1]), at: now)
        // Connections to another server are busy all the time.
        let other = try PostgresServer()
        let busyStore = try await opened(other.url)
        let reads = Mutex(0)
        let busy = Task { [now, k] in
            do {
                while !Task.isCancelled {
                    _ = try await busyStore.read(k, at: now)
                    reads.withLock { $0 += 1 }
                }
            } catch { if !Task.isCancelled { XCTFail("the other server: \(error)") } }
        }
        // If the deadlines depended on other connections, the test would wait for ever and not fail.
        let end = Task {
            try await Task.sleep(for: .seconds(20))
            busy.cancel()
        }
        defer {
            end.cancel()
            busy.cancel()
        }
        try server.signal(SIGSTOP)
        let before = reads.withLock { $0 }
        let start = ContinuousClock.now
        // More callers than connections: some wait for a connection, some for an answer.
        let errors = try await concurrently(20) { [now, k] _ in
            do { _ = try await store.read(k, at: now) } catch StoreError.unavailable { return true }
            return false
        }
        XCTAssertEqual(errors, Array(repeating: true, count: 20))
        XCTAssertLessThan(ContinuousClock.now - start, .seconds(15), "deadlines of a second were not kept")
        XCTAssertGreaterThan(reads.withLock { $0 } - before, 0, "the other connections were not busy")
        try server.signal(SIGCONT)
        try await untilItWorks { _ = try await store.read(self.k, at: self.now) }
    }

    func testAServerThatEndedAndCameBackIsUsedAgain() async throws {
        let server = try PostgresServer()
        let store = try await opened(server.url)
        _ = try await store.create(k, StoredItem(value: [1]), at: now)
        try await concurrently(100) { [now, k] _ in _ = try await store.read(k, at: now) }
        try server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        let read = try await store.read(k, at: now)
        XCTAssertEqual(read, StoredItem(value: [1]), "connections that have ended are replaced at once")
    }

    func testAServerThatTakesNoMoreWritesIsLeft() async throws {
        let server = try PostgresServer()
        let store = try await opened(server.url)
        _ = try await store.create(k, StoredItem(value: [1]), at: now)
        try server.run("ALTER SYSTEM SET default_transaction_read_only = on")
        try server.run("SELECT pg_reload_conf()")
        try await until {
            do { try await store.check(at: self.now) } catch StoreError.unavailable { return true }
            return false
        }
        try server.run("ALTER SYSTEM RESET default_transaction_read_only")
        try server.run("SELECT pg_reload_conf()")
        try await untilItWorks { try await store.check(at: self.now) }
    }

    /// Has the commits of a server wait for a standby that is not there, and returns when they do. Nobody waits then.
    private func loseStandby(_ server: PostgresServer, at now: Moment) async throws {
        let store = try await opened(server.url, patience: .seconds(1))
        try server.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try server.run("SELECT pg_reload_conf()")
        try await until {
            let put = Put(key: ItemKey("a", "first"), item: StoredItem(value: [1]))
            do { try await store.perform(put, at: now, .durable) } catch is StoreError { return true }
            return false
        }
        try await until { try server.run(cancelWaits) == "0" }
    }

    func testOnlyADurableChangeWaitsForTheStandby() async throws {
        let server = try PostgresServer()
        let store = try await opened(server.url, patience: .seconds(20))
        try await loseStandby(server, at: now)
        for _ in 0..<20 {
            try await store.perform(Put(key: k, item: StoredItem(value: [1]), isBlind: true), at: now, .ordered)
            try await store.transaction([k], at: now, .ordered) { [k] in $0[k] = StoredItem(value: [2]) }
        }
    }

    /// The database then says that the commit has succeeded, and warns.
    func testACommitWhoseWaitForTheStandbyWasCancelledHasAnUnknownOutcome() async throws {
        let server = try PostgresServer()
        let store = try await opened(server.url, patience: .seconds(60))
        try await loseStandby(server, at: now)
        for isBlind in [true, false] {
            let put = Put(key: k, item: StoredItem(value: [1]), isBlind: isBlind)
            let change = Task { [now] in try await store.perform(put, at: now, .durable) }
            try await until { try server.run(cancelWaits) != "0" }
            do {
                try await change.value
                XCTFail("known")
            } catch StoreError.unknownOutcome {}
        }
    }

    /// Nobody can log in while commits wait for a standby that is not there.
    func testAServerWhoseStandbyIsGoneCannotBeWritten() async throws {
        let server = try PostgresServer()
        let store = try await opened(server.url, patience: .seconds(1))
        try await store.check(at: now)
        try server.run("ALTER SYSTEM SET synchronous_standby_names = '*'")
        try server.run("SELECT pg_reload_conf()")
        try await until {
            do { try await store.check(at: self.now) } catch is StoreError { return true }
            return false
        }
        for _ in 0..<5 {
            do {
                try await store.check(at: now)
                XCTFail("written")
            } catch is StoreError {}
        }
        let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'mpind'"
        XCTAssertLessThanOrEqual(try XCTUnwrap(Int(server.run(open))), 3, "checks that wait use up all connections")
        try server.run("ALTER SYSTEM RESET synchronous_standby_names")
        try server.run("SELECT pg_reload_conf()")
        try await untilItWorks { try await store.check(at: self.now) }
    }

    /// Whether the database keeps to it is tested with machines (`make cut-test`).
    func testTheDatabaseIsToldToEndConnectionsOfLostMachines() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let store = try await opened(url)
        try server.run(
            """
            CREATE TABLE seen (name text);
            CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN INSERT INTO seen SELECT name FROM pg_settings WHERE source = ''session''; RETURN NULL; END';
            CREATE TRIGGER see AFTER INSERT ON lasting_item FOR EACH ROW EXECUTE FUNCTION see()
            """, in: url)
        _ = try await store.create(k, StoredItem(value: [1]), at: now)
        let seen = try server.run("SELECT name FROM seen", in: url).split(separator: "\n")
        let expected: Set<Substring> = [
            "idle_in_transaction_session_timeout", "tcp_keepalives_idle", "tcp_keepalives_interval",
            "tcp_keepalives_count", "tcp_user_timeout",
        ]
        XCTAssertTrue(expected.isSubset(of: seen), "\(seen)")
    }

    func testWhoIsNotThereIsUnavailableAndNamed() async throws {
        do {
            _ = try await opened("postgres:///mpin?host=/nowhere")
            XCTFail("opened")
        } catch StoreError.unavailable(let reason) { XCTAssertTrue(reason.contains("/nowhere"), reason) }
    }

    func testAURLIsReadAndItsMistakesAreNamed() throws {
        for (url, mistake) in [
            ("postgres:db", "not postgres://"), ("postgres://u:secret@db/mpin", "passfile=FILE"),
            ("postgres://u@db/mpin?password=secret", "passfile=FILE"), ("postgres://db/mpin?pool=0", "pool=0"),
            ("postgres://db/mpin?pool=x", "pool=x"), ("postgres://db/mpin?prepared=maybe", "prepared=maybe"),
            ("postgres://db/mpin?sslmode", "one value"), ("postgres://db/mpin?pool=1&pool=2", "one value"),
            // A password may contain what has a meaning in URLs.
            ("postgres://u:a/secret@db/mpin", "passfile=FILE"), ("postgres://u:a?secret@db/mpin", "one value"),
            ("postgres://u:a?pool=secret@db/mpin", "passfile=FILE"),
            ("postgres://db/mpin?password=a&secret", "one value"),
            ("postgres://u:1/2?b=secret@db/mpin", "passfile=FILE"), ("postgres://u:?b=secret@db/mpin", "passfile=FILE"),
            ("postgres://u:secret", "port"),
            ("postgres://db/mpin?sslpassword=secret", "passfile=FILE"), ("postgres://[::1]:secret/mpin", "port"),
        ] {
            XCTAssertThrowsError(try StoreURL(url), url) { error in
                XCTAssertTrue("\(error)".contains(mistake), "\(error)")
                XCTAssertFalse("\(error)".contains("secret"), "\(error)")
            }
        }
        XCTAssertNoThrow(try StoreURL("postgres://u@a:5432,b,[::1]:5432/mpin?sslmode=require").require(.shortLived))
        XCTAssertThrowsError(try StoreURL("postgres://db/mpin").file())
    }

    func testAConnectionToAnotherMachineChecksItsCertificate() throws {
        for (url, isChecked) in [
            ("postgres://db/mpin", true), ("postgres://127.0.0.1:5432/mpin", false), ("postgres:///mpin", false),
            ("postgres:///mpin?host=/run/postgresql", false), ("postgres://localhost,db/mpin", true),
            ("postgres://u@[::1]:1/mpin", false), ("postgres:///mpin?host=db", true),
            ("postgres://localhost.example/mpin", true), ("postgres://db/mpin?sslmode=disable", false),
        ] {
            guard case .postgres(let read) = try StoreURL(url) else { return XCTFail(url) }
            XCTAssertEqual(read.text.contains("sslmode=verify-full"), isChecked, read.text)
        }
    }
}

/// A change that may be made twice.
private struct Put: NamedChange {
    static let name = "put"

    let key: ItemKey
    let item: StoredItem
    /// Whether it is made in one trip.
    var isBlind = false

    var keys: [ItemKey] { [key] }

    func run(_ items: inout Items) { items[key] = item }
    func blindForm() -> BlindForm<Void>? { isBlind ? BlindForm([.put(key, item)]) { _ in } : nil }
}

/// Cancels what waits for the standby, and returns how many did.
private let cancelWaits = "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

/// Opens a store at a PostgreSQL URL.
private func opened(
    _ url: String, _ kind: PostgresStore.Kind = .lasting, patience: Duration = .seconds(20)
) async throws -> PostgresStore { try await PostgresStore.opened(url, kind, patience: patience) }

extension PostgresStore {
    static func opened(
        _ url: String, _ kind: Kind = .lasting, patience: Duration = .seconds(20)
    ) async throws -> PostgresStore {
        guard case .postgres(let url) = try StoreURL(url) else { throw StoreError.unusable("no PostgreSQL URL") }
        return try await PostgresStore(url, kind, patience: patience)
    }
}

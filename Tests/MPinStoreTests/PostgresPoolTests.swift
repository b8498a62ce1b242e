import MPinStore
import StoreEngines
import XCTest

/// Tests who waits for a connection to PostgreSQL, and for how long.
final class PostgresPoolTests: XCTestCase {
    private let now = Moment(microseconds: 1_700_000_000_000_000)
    private let k = ItemKey("a", "k")

    /// The only connection waits for a row. On a machine so busy that not all callers come before the first one gives up, the
    /// test begins again with more time.
    func testAtMostTwoThousandWaitForAConnection() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        let store = try await PostgresStore.opened(url + "&pool=1", patience: .seconds(60))
        _ = try await store.create(k, StoredItem(value: []), at: now)
        let holder = try PostgresSession(url)
        try holder.run("BEGIN; SELECT FROM lasting_item FOR UPDATE")
        let change = Task { [now, k] in try await store.update(k, at: now, .durable) { $0?.value.append(1) } }
        let waiting =
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        try await until { try server.run(waiting, in: url) == "1" }
        var seconds = 0.5
        while try await !isBounded(store, .seconds(seconds)) {
            seconds *= 2
            guard seconds <= 8 else { return XCTFail("the bound was not reached") }
        }
        try holder.run("COMMIT")
        _ = try await change.value
        let read = try await concurrently(2000) { [now, k] _ in try await store.read(k, at: now) }
        XCTAssertEqual(read, Array(repeating: StoredItem(value: [1]), count: 2000), "nobody who waits is forgotten")
    }

    /// The pool may have eight connections, and the server gives this role two. The pool tries again and again to open more.
    func testWhoeverCannotHaveANewConnectionWaitsForAnOldOne() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        _ = try await PostgresStore.opened(url).create(k, StoredItem(value: [1]), at: now)
        try make(role: "few", connections: 2, in: url)
        let store = try await PostgresStore.opened(url.replacing("user=mpin", with: "user=few"))
        for _ in 0..<5 {
            let read = try await concurrently(50) { [now, k] _ in
                try await store.update(k, at: now, .durable) { _ in }
                return try await store.read(k, at: now)
            }
            XCTAssertEqual(read, Array(repeating: StoredItem(value: [1]), count: 50))
        }
        let refused = try String(contentsOfFile: server.folder + "/log", encoding: .utf8)
            .contains("too many connections for role \"few\"")
        XCTAssertTrue(refused, "no connection was refused")
    }

    /// The only connection stands still when somebody else waits for one, and nobody comes after that one.
    func testWhoeverWaitsGetsANewConnectionOnceThatIsPossible() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        _ = try await PostgresStore.opened(url).create(k, StoredItem(value: [1]), at: now)
        try make(role: "single", connections: 1, in: url)
        let store = try await PostgresStore.opened(
            url.replacing("user=mpin", with: "user=single"), patience: .seconds(60))
        let holder = try PostgresSession(url)
        try holder.run("BEGIN; SELECT FROM lasting_item FOR UPDATE")
        let change = Task { [now, k] in try await store.update(k, at: now, .durable) { _ in } }
        let locked = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'single' AND wait_event_type = 'Lock'"
        try await until { try server.run(locked) == "1" }
        let read = Task { [now, k] in try await store.read(k, at: now) }
        try await until {
            try String(contentsOfFile: server.folder + "/log", encoding: .utf8).contains("for role \"single\"")
        }
        try server.run("ALTER ROLE single CONNECTION LIMIT 2")
        let item = try await read.value
        XCTAssertEqual(item, StoredItem(value: [1]))
        try holder.run("COMMIT")
        try await change.value
    }

    /// Makes a role that may use all tables, over so many connections.
    private func make(role: String, connections: Int, in url: String) throws {
        let server = try PostgresServer.shared.get()
        try server.run("CREATE ROLE \(role) LOGIN CONNECTION LIMIT \(connections)", in: url)
        try server.run("GRANT ALL ON ALL TABLES IN SCHEMA public TO \(role)", in: url)
    }

    func testAServerThatGivesNoConnectionIsUnavailable() async throws {
        let server = try PostgresServer.shared.get()
        let url = try server.newDatabase()
        _ = try await PostgresStore.opened(url)
        try make(role: "nobody", connections: 0, in: url)
        let none = url.replacing("user=mpin", with: "user=nobody")
        do {
            _ = try await PostgresStore.opened(none)
            XCTFail("opened")
        } catch StoreError.unavailable(let reason) { XCTAssertTrue(reason.contains("too many connections"), reason) }
        try server.run("ALTER ROLE nobody CONNECTION LIMIT 1")
        try await until { (try? await PostgresStore.opened(none)) != nil }
    }

    /// Ten more than may wait ask for a connection. Returns whether ten were refused, and at once; fewer, if the first had
    /// given up before the last one came.
    private func isBounded(_ store: PostgresStore, _ patience: Duration) async throws -> Bool {
        let errors = try await concurrently(2010) { [now, k] _ in
            let start = ContinuousClock.now
            do {
                _ = try await StorePatience.limit(to: patience) { try await store.read(k, at: now) }
            } catch StoreError.unavailable(let reason) { return (reason, ContinuousClock.now - start) }
            return ("", .zero)
        }
        let refused = errors.filter { $0.0.contains("too many wait for a connection") }
        let late = errors.filter { $0.0.contains("no free connection in time") }
        XCTAssertLessThanOrEqual(refused.count, 10)
        return refused.count == 10 && refused.count + late.count == errors.count
            && refused.allSatisfy { $0.1 < patience }
    }
}

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

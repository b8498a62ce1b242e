import MPinService
import MPinStore

/// A store whose operations are timed and whose failures are counted.
struct MeteredStore: Store {
    private let store: any Store
    private let metrics: Metrics

    init(_ store: any Store, metrics: Metrics) {
        self.store = store
        self.metrics = metrics
    }

    func create(_ table: String, _ key: String, _ item: StoredItem, at now: Moment) async throws -> Bool {
        try await metered("create") { try await store.create(table, key, item, at: now) }
    }

    func read(_ table: String, _ key: String, at now: Moment) async throws -> StoredItem? {
        try await metered("read") { try await store.read(table, key, at: now) }
    }

    func update<Result: Sendable>(
        _ table: String, _ key: String, at now: Moment, durable: Bool,
        _ change: @escaping @Sendable (inout StoredItem?) throws -> Result
    ) async throws -> Result {
        try await metered("update") { try await store.update(table, key, at: now, durable: durable, change) }
    }

    func take(_ table: String, _ key: String, at now: Moment) async throws -> StoredItem? {
        try await metered("take") { try await store.take(table, key, at: now) }
    }

    func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await metered("list") { try await store.list(table, after: key, limit: limit, at: now) }
    }

    func collect(at now: Moment) async throws -> Int {
        try await metered("collect") { try await store.collect(at: now) }
    }

    /// A refusal that the change itself makes is no failure of the store.
    private func metered<Result>(_ operation: String, _ work: () async throws -> Result) async throws -> Result {
        let start = ContinuousClock.now
        defer { metrics.observe(.storeSeconds, since: start, [operation]) }
        do { return try await work() } catch let error as ServiceError { throw error } catch {
            metrics.count(.storeErrors, [operation])
            throw error
        }
    }
}

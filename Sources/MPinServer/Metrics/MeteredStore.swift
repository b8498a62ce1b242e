import MPinService
import MPinStore

/// A store that measures the time of its operations and counts its failures.
struct MeteredStore: Store {
    private let store: any Store
    private let name: String
    private let metrics: Metrics

    /// `name`: what the store keeps, for the metrics' label.
    init(_ store: any Store, _ name: String, metrics: Metrics) {
        self.store = store
        self.name = name
        self.metrics = metrics
    }

    var isNear: Bool { store.isNear }
    var expiresByItself: Bool { store.expiresByItself }

    func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try await metered("read") { try await store.read(key, at: now) }
    }

    func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        try await metered("update") { try await store.transaction(keys, at: now, durability, change) }
    }

    func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome {
        try await metered(Change.name) { try await store.perform(change, at: now, durability) }
    }

    func take(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try await metered("take") { try await store.take(key, at: now) }
    }

    func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await metered("list") { try await store.list(table, after: key, limit: limit, at: now) }
    }

    func collect(at now: Moment, limit: Int) async throws -> Int {
        try await metered("collect") { try await store.collect(at: now, limit: limit) }
    }

    func check(at now: Moment) async throws { try await metered("check") { try await store.check(at: now) } }

    func time() async throws -> Moment? { try await store.time() }

    /// Measures an operation. Errors that the closure of a change throws are not failures of the store and are not
    /// counted.
    private func metered<Result>(_ operation: String, _ work: () async throws -> Result) async throws -> Result {
        let start = ContinuousClock.now
        defer { metrics.observe(.storeSeconds, since: start, [name, operation]) }
        do { return try await work() } catch let error as StoreError {
            metrics.count(.storeErrors, [name, operation, error.kind])
            throw error
        }
    }
}

extension StoreError {
    /// What the metrics call this error.
    var kind: String {
        switch self {
        case .unusable: "unusable"
        case .unavailable: "unavailable"
        case .unknownOutcome: "unknown"
        case .conflict: "conflict"
        }
    }
}

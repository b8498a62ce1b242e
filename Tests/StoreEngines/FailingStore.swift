package import MPinStore
import Synchronization

/// A store of which some tables fail as soon as a test says so, as if the disk were full.
package struct FailingStore: Store {
    /// The tables that fail. Several stores may share it.
    package final class Faults: Sendable {
        private let tables = Mutex<Set<String>>([])

        package init() {}

        /// From now on these tables fail, and no others.
        package func set(_ tables: Set<String>) { self.tables.withLock { $0 = tables } }

        fileprivate func check(_ table: String) throws {
            guard !tables.withLock({ $0.contains(table) }) else { throw StoreError.unavailable("\(table) fails") }
        }
    }

    private let store: any Store
    private let faults: Faults

    package init(_ store: any Store, _ faults: Faults) {
        self.store = store
        self.faults = faults
    }

    package var isNear: Bool { store.isNear }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try faults.check(key.table)
        return try await store.read(key, at: now)
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        for key in keys { try faults.check(key.table) }
        return try await store.transaction(keys, at: now, durability, change)
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try faults.check(table)
        return try await store.list(table, after: key, limit: limit, at: now)
    }

    package func collect(at now: Moment, limit: Int) async throws -> Int {
        try await store.collect(at: now, limit: limit)
    }
}

package import MPinStore
import Synchronization

/// A store that makes every change, but throws `unknownOutcome` after every third one, as if its answer were lost.
package final class ForgetfulStore: Store {
    private let store: any Store
    private let count = Mutex(0)

    package init(_ store: any Store) { self.store = store }

    package var isNear: Bool { store.isNear }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try await store.read(key, at: now)
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        let result = try await store.transaction(keys, at: now, durability, change)
        let number = count.withLock { count in
            count += 1
            return count
        }
        guard number % 3 != 0 else { throw StoreError.unknownOutcome("the answer was lost") }
        return result
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await store.list(table, after: key, limit: limit, at: now)
    }

    package func collect(at now: Moment, limit: Int) async throws -> Int {
        try await store.collect(at: now, limit: limit)
    }
}

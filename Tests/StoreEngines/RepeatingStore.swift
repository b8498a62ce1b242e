package import MPinStore

/// A store that runs every closure twice and discards the changes of the first run. A test then fails if its code
/// relies on a closure running only once.
package struct RepeatingStore: Store {
    private let store: any Store

    package init(_ store: any Store) { self.store = store }

    package var isNear: Bool { store.isNear }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try await store.read(key, at: now)
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        try await store.transaction(keys, at: now, durability) { items in
            var dropped = items
            _ = try? change(&dropped)
            return try change(&items)
        }
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await store.list(table, after: key, limit: limit, at: now)
    }

    package func check(at now: Moment) async throws { try await store.check(at: now) }

    package func collect(at now: Moment, limit: Int) async throws -> Int {
        try await store.collect(at: now, limit: limit)
    }
}

package import MPinStore

/// A store that makes every change by its blind form if it has one, as an engine on another machine does.
package struct BlindStore: Store {
    private let store: any Store

    package init(_ store: any Store) { self.store = store }

    package var isNear: Bool { false }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try await store.read(key, at: now)
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        try await store.transaction(keys, at: now, durability, change)
    }

    package func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome {
        if let form = try change.blindForm() {
            let writes = form.writes
            let results = try await store.transaction(writes.flatMap(\.keys), at: now, durability) { items in
                writes.map { $0.make(in: &items) }
            }
            if let outcome = try form.outcome(results) { return outcome }
        }
        return try await store.transaction(change.keys, at: now, durability) { try change.run(&$0) }
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await store.list(table, after: key, limit: limit, at: now)
    }

    package func collect(at now: Moment, limit: Int) async throws -> Int {
        try await store.collect(at: now, limit: limit)
    }

    package func check(at now: Moment) async throws { try await store.check(at: now) }
}

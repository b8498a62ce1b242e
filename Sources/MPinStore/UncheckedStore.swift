/// Reads the values of a store without their MACs (``RecordMAC``), right or wrong, for who does not have the key. It changes
/// nothing.
package struct UncheckedStore: Store {
    private let store: any Store

    package init(_ store: any Store) { self.store = store }

    package var isNear: Bool { store.isNear }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        try await store.read(key, at: now).map(RecordMAC.stripped)
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        throw StoreError.unusable("this store can only be read")
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await store.list(table, after: key, limit: limit, at: now).map { key, item in
            (key: key, item: RecordMAC.stripped(item))
        }
    }

    package func collect(at now: Moment, limit: Int) async throws -> Int { 0 }
    package func check(at now: Moment) async throws { try await store.check(at: now) }
    package func time() async throws -> Moment? { try await store.time() }
}

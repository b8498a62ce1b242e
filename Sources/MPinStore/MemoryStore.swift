import Synchronization

/// A store in the memory of this process. Its items are lost when the process ends.
package final class MemoryStore: Store {
    private struct Tables {
        private(set) var items: [String: [String: StoredItem]] = [:]
        /// The keys of items, by the first whole second at which they have expired. ``collect(_:_:)`` reads them. An
        /// entry remains when its item gets another expiry or is deleted.
        private var ends: [Int64: [ItemKey]] = [:]

        func live(_ key: ItemKey, _ now: Moment) -> StoredItem? {
            items[key.table]?[key.key].flatMap { $0.isLive(at: now) ? $0 : nil }
        }

        mutating func put(_ item: StoredItem?, _ key: ItemKey) {
            let before = items[key.table]?[key.key]
            items[key.table, default: [:]][key.key] = item
            guard let end = item?.expires.map(Self.end), end != before?.expires.map(Self.end) else { return }
            ends[end, default: []].append(key)
        }

        /// Deletes at most `limit` expired items and returns their number.
        mutating func collect(_ now: Moment, _ limit: Int) -> Int {
            var count = 0
            for second in ends.keys.filter({ $0 * 1_000_000 <= now.microseconds }).sorted() {
                while let key = ends[second]?.last {
                    guard count < limit else { return count }
                    ends[second]?.removeLast()
                    guard items[key.table]?[key.key]?.isLive(at: now) == false else { continue }
                    items[key.table]?[key.key] = nil
                    count += 1
                }
                ends[second] = nil
            }
            return count
        }

        private static func end(_ moment: Moment) -> Int64 { (moment.microseconds + 999_999) / 1_000_000 }
    }

    private let tables = Mutex(Tables())

    package let isNear = true

    package init() {}

    /// The number of items, including expired ones that are not collected yet.
    package var count: Int { tables.withLock { $0.items.values.reduce(0) { $0 + $1.count } } }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        tables.withLock { $0.live(key, now) }
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        let keys = ItemKey.inOrder(keys)
        return try tables.withLock { tables in
            var items = Items(keys.map { ($0, tables.live($0, now)) })
            let result = try change(&items)
            for (key, item) in zip(keys, try items.changed()) { tables.put(item, key) }
            return result
        }
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        let items = tables.withLock { $0.items[table] ?? [:] }
        let rest = items.filter { entry in
            entry.value.isLive(at: now) && key.map { ItemKey.precedes($0, entry.key) } ?? true
        }
        return rest.sorted { ItemKey.precedes($0.key, $1.key) }.prefix(limit).map { (key: $0.key, item: $0.value) }
    }

    package func collect(at now: Moment, limit: Int) async throws -> Int {
        tables.withLock { $0.collect(now, limit) }
    }

    package func check(at now: Moment) async throws {}
}

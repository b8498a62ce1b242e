import Synchronization

/// A store in the memory of this process. Its items are lost when the process ends.
package final class MemoryStore: Store {
    private struct Tables {
        private(set) var items: [String: [String: StoredItem]] = [:]
        /// The keys of items, by the first whole second at which they have expired. ``collect(_:limit:looks:)`` reads them. An
        /// entry remains when its item gets another expiry or is deleted.
        private var ends: [Int64: [ItemKey]] = [:]
        /// Keys added to `ends` since the last time that ``tidy(_:)`` collected.
        private var added = 0

        func live(_ key: ItemKey, _ now: Moment) -> StoredItem? {
            items[key.table]?[key.key].flatMap { $0.isLive(at: now) ? $0 : nil }
        }

        mutating func put(_ item: StoredItem?, _ key: ItemKey) {
            let before = items[key.table]?[key.key]
            items[key.table, default: [:]][key.key] = item
            guard let end = item?.expires.map(Self.end), end != before?.expires.map(Self.end) else { return }
            ends[end, default: []].append(key)
            added += 1
        }

        /// Collects expired items as soon as enough keys were added. It looks at more keys than were added since the last
        /// time, so that expired items need little more memory than live ones, however fast new items come.
        mutating func tidy(_ now: Moment) {
            guard added >= Self.share else { return }
            added = 0
            _ = collect(now, looks: 2 * Self.share)
        }

        /// The number of added keys after which ``tidy(_:)`` collects.
        private static let share = 500

        /// Deletes at most `limit` expired items and returns their number. Looks at `looks` keys at most.
        mutating func collect(_ now: Moment, limit: Int = .max, looks: Int = .max) -> Int {
            var (count, looks) = (0, looks)
            for second in ends.keys.filter({ $0 * 1_000_000 <= now.microseconds }).sorted() {
                while let key = ends[second]?.last {
                    guard count < limit, looks > 0 else { return count }
                    looks -= 1
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
            tables.tidy(now)
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
        tables.withLock { $0.collect(now, limit: limit) }
    }

    package func check(at now: Moment) async throws {}
}

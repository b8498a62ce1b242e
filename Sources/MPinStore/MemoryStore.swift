import Synchronization

/// The state in this process's memory: for what is dead before the process is up again.
package final class MemoryStore: Store {
    private typealias Tables = [String: [String: StoredItem]]
    private let tables = Mutex<Tables>([:])

    package let keepsObjects = true

    package init() {}

    /// Items, those that have expired since the last ``collect(at:)`` included.
    package var count: Int { tables.withLock { $0.values.reduce(0) { $0 + $1.count } } }

    package func create(_ table: String, _ key: String, _ item: StoredItem, at now: Moment) async throws -> Bool {
        tables.withLock { tables in
            guard Self.live(tables, table, key, now) == nil else { return false }
            tables[table, default: [:]][key] = item
            return true
        }
    }

    package func read(_ table: String, _ key: String, at now: Moment) async throws -> StoredItem? {
        tables.withLock { Self.live($0, table, key, now) }
    }

    package func update<Result: Sendable>(
        _ table: String, _ key: String, at now: Moment, durable: Bool,
        _ change: @escaping @Sendable (inout StoredItem?) throws -> Result
    ) async throws -> Result {
        try tables.withLock { tables in
            var item = Self.live(tables, table, key, now)
            let result = try change(&item)
            tables[table, default: [:]][key] = item
            return result
        }
    }

    package func take(_ table: String, _ key: String, at now: Moment) async throws -> StoredItem? {
        tables.withLock { tables in
            let item = Self.live(tables, table, key, now)
            tables[table]?[key] = nil
            return item
        }
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        let live = tables.withLock { $0[table, default: [:]].filter { $0.value.isLive(at: now) } }
        let rest = live.filter { entry in key.map { Self.precedes($0, entry.key) } ?? true }
        return rest.sorted { Self.precedes($0.key, $1.key) }.prefix(limit).map { (key: $0.key, item: $0.value) }
    }

    package func collect(at now: Moment) async throws -> Int {
        tables.withLock { tables in
            var count = 0
            for (name, items) in tables {
                let live = items.filter { $0.value.isLive(at: now) }
                count += items.count - live.count
                tables[name] = live
            }
            return count
        }
    }

    private static func live(_ tables: Tables, _ table: String, _ key: String, _ now: Moment) -> StoredItem? {
        tables[table]?[key].flatMap { $0.isLive(at: now) ? $0 : nil }
    }

    /// The order of a file's index: by bytes.
    private static func precedes(_ left: String, _ right: String) -> Bool {
        left.utf8.lexicographicallyPrecedes(right.utf8)
    }
}

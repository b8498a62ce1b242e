import GRDB
import Synchronization

/// The state in a SQLite file.
///
/// Write-ahead log: a process killed at any moment loses nothing that was answered for. A sync to the disk at every
/// commit is for writes that ask for it.
package final class SQLiteStore: Store {
    private let lock: DatabaseLock
    private let writer: BatchWriter
    /// Readers never wait for the writer.
    private let reader: Mutex<SQLiteConnection>

    /// Opens or creates the file and brings its schema up to date; refuses a schema from a newer program.
    package init(path: String) throws {
        lock = try DatabaseLock(sharing: path)
        try Self.migrate(path)
        writer = try BatchWriter(path: path)
        reader = Mutex(try SQLiteConnection(path: path))
    }

    /// Before the last reference to the store goes, where the file must then be closed.
    package func drain() async { await writer.drain() }

    private static func migrate(_ path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        // A pool sets the write-ahead log up.
        let pool = try DatabasePool(path: path, configuration: configuration)
        let migrator = Migrations.rps
        guard try !pool.read({ try migrator.hasBeenSuperseded($0) }) else {
            throw StoreError.unusable("made by a newer version of this program")
        }
        try migrator.migrate(pool)
        try pool.close()
    }

    package func create(_ table: String, _ key: String, _ item: StoredItem, at now: Moment) async throws -> Bool {
        try await writer.write(durable: true) { connection in
            guard try Self.item(connection, table, key, now) == nil else { return false }
            try Self.put(connection, table, key, item)
            return true
        }
    }

    package func read(_ table: String, _ key: String, at now: Moment) async throws -> StoredItem? {
        try reader.withLock { try Self.item($0, table, key, now) }
    }

    package func update<Result: Sendable>(
        _ table: String, _ key: String, at now: Moment, durable: Bool,
        _ change: @escaping @Sendable (inout StoredItem?) throws -> Result
    ) async throws -> Result {
        try await writer.write(durable: durable) { connection in
            let old = try Self.item(connection, table, key, now)
            var item = old
            let result = try change(&item)
            if let item {
                // Unchanged, it is written for its sync alone.
                if durable || item != old { try Self.put(connection, table, key, item) }
            } else if old != nil {
                try Self.delete(connection, table, key)
            }
            return result
        }
    }

    package func take(_ table: String, _ key: String, at now: Moment) async throws -> StoredItem? {
        try await writer.write(durable: true) { connection in
            guard let item = try Self.item(connection, table, key, now) else { return nil }
            try Self.delete(connection, table, key)
            return item
        }
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try reader.withLock { connection in
            var items: [(key: String, item: StoredItem)] = []
            let sql = """
                SELECT value, expires, key FROM item WHERE kind = ? AND key \(key == nil ? ">=" : ">") ?
                AND (expires IS NULL OR expires > ?) ORDER BY key LIMIT ?
                """
            let values: [SQLiteConnection.Value] = [
                .text(table), .text(key ?? ""), .integer(now.microseconds), .integer(Int64(limit)),
            ]
            try connection.run(sql, values) { items.append(($0.text(2), Self.item($0))) }
            return items
        }
    }

    package func collect(at now: Moment) async throws -> Int {
        try await writer.write { connection in
            try connection.run("DELETE FROM item WHERE expires <= ?", [.integer(now.microseconds)])
            return connection.changes
        }
    }
}

extension SQLiteStore {
    private static func item(
        _ connection: SQLiteConnection, _ table: String, _ key: String, _ now: Moment
    ) throws -> StoredItem? {
        var item: StoredItem?
        try connection.run(
            "SELECT value, expires FROM item WHERE kind = ? AND key = ? AND (expires IS NULL OR expires > ?)",
            [.text(table), .text(key), .integer(now.microseconds)]
        ) { item = Self.item($0) }
        return item
    }

    private static func item(_ row: SQLiteConnection.Row) -> StoredItem {
        StoredItem(value: row.bytes(0), expires: row.integer(1).map(Moment.init))
    }

    private static func put(
        _ connection: SQLiteConnection, _ table: String, _ key: String, _ item: StoredItem
    ) throws {
        try connection.run(
            "INSERT OR REPLACE INTO item (kind, key, value, expires) VALUES (?, ?, ?, ?)",
            [.text(table), .text(key), .bytes(item.value), .integer(item.expires?.microseconds)])
    }

    private static func delete(_ connection: SQLiteConnection, _ table: String, _ key: String) throws {
        try connection.run("DELETE FROM item WHERE kind = ? AND key = ?", [.text(table), .text(key)])
    }
}

import Glibc
import Synchronization

/// A store in a SQLite file.
///
/// It uses a write-ahead log, so a process that is killed loses no change that was reported as done. Only durable
/// changes are also synced to the disk at commit. With `erases` there is no such log.
package final class SQLiteStore: WholeStore {
    private let path: String
    private let lock: DatabaseLock
    private let writer: BatchWriter
    /// The connection for reads while the writer is busy. With a write-ahead log, they never wait for the writer.
    private let reader: Mutex<SQLiteConnection>

    /// How many pages the connection for reads keeps. They become stale with each write.
    private static let readerKilobytes = 256

    package let isNear = true

    /// Opens or creates the file and brings its schema up to date. Refuses a file of a newer program, and one with tables,
    /// triggers or views that no step of `schema` makes, unless `allowsForeign`. One of the steps must contain
    /// ``Schema/itemTable``. With `erases`, deleted and replaced data is overwritten, and there
    /// is no write-ahead log that would still contain it; but then reads have to wait for writes. With `isAlone`, no
    /// other process can open the file meanwhile.
    package init(
        path: String, schema: Schema = .items, erases: Bool = false, isAlone: Bool = false, allowsForeign: Bool = false
    ) throws {
        self.path = path
        guard let lock = try isAlone ? DatabaseLock(replacing: path) : DatabaseLock(sharing: path) else {
            throw StoreError.unusable("in use: stop the server first")
        }
        self.lock = lock
        try unavailable { try Self.upgrade(path, schema, erases, allowsForeign) }
        writer = try BatchWriter(path: path, erases: erases)
        let reader = try SQLiteConnection(path: path)
        try unavailable { try reader.run("PRAGMA cache_size = -\(Self.readerKilobytes)") }
        self.reader = Mutex(reader)
    }

    /// Waits until the writer is idle. To close the file, call this before the last reference to the store is released.
    package func drain() async { await writer.drain() }

    private static func upgrade(
        _ path: String, _ schema: Schema, _ erases: Bool, _ allowsForeign: Bool
    ) throws {
        let connection = try SQLiteConnection(path: path, creates: true, erases: erases)
        try schema.upgrade(connection, allowsForeign: allowsForeign)
        try connection.run("PRAGMA journal_mode = \(erases ? "DELETE" : "WAL")")
    }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        let found = try unavailable { try writer.readIfIdle { try Self.item($0, key, now) } }
        if let found { return found }
        return try unavailable { try reader.withLock { try Self.item($0, key, now) } }
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        let (keys, isDurable) = (ItemKey.inOrder(keys), durability == .durable)
        return try await writer.write(durable: isDurable) { connection in
            let before = try keys.map { try Self.item(connection, $0, now) }
            var items = Items(zip(keys, before).map { ($0, $1) })
            let result = try change(&items)
            var changes: [(ItemKey, StoredItem?)] = []
            for ((key, old), new) in zip(zip(keys, before), try items.changed()) {
                // A durable change also writes items that are unchanged, because only a write is synced.
                if old != new || isDurable && new != nil { changes.append((key, new)) }
            }
            try Self.write(connection, changes)
            return result
        }
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        let sql = """
            SELECT value, expires, key FROM item WHERE kind = ? AND key \(key == nil ? ">=" : ">") ?
            AND (expires IS NULL OR expires > ?) ORDER BY key LIMIT ?
            """
        let values: [SQLiteConnection.Value] = [
            .text(table), .text(key ?? ""), .integer(now.microseconds), .integer(Int64(limit)),
        ]
        return try unavailable {
            try reader.withLock { connection in
                var items: [(key: String, item: StoredItem)] = []
                try connection.run(sql, values) { items.append(($0.text(2), Self.item($0))) }
                return items
            }
        }
    }

    package func collect(at now: Moment, limit: Int) async throws -> Int {
        try await writer.write { connection in
            let sql = """
                DELETE FROM item WHERE (kind, key) IN (SELECT kind, key FROM item WHERE expires <= ? LIMIT ?)
                """
            try connection.run(sql, [.integer(now.microseconds), .integer(Int64(limit))])
            return connection.changes
        }
    }

    package func items(
        after key: ItemKey?, limit: Int, at now: Moment
    ) async throws -> [(key: ItemKey, item: StoredItem)] {
        let sql = """
            SELECT value, expires, kind, key FROM item WHERE (kind, key) > (?, ?)
            AND (expires IS NULL OR expires > ?) ORDER BY kind, key LIMIT ?
            """
        let values: [SQLiteConnection.Value] = [
            .text(key?.table ?? ""), .text(key?.key ?? ""), .integer(now.microseconds), .integer(Int64(limit)),
        ]
        return try unavailable {
            try reader.withLock { connection in
                var items: [(key: ItemKey, item: StoredItem)] = []
                try connection.run(sql, values) { items.append((ItemKey($0.text(2), $0.text(3)), Self.item($0))) }
                return items
            }
        }
    }

    /// A store that was opened with `isAlone` stays alone.
    package func requireAlone() {}

    /// Throws if the store cannot be written, or if the file at the path is gone.
    package func check(at now: Moment) async throws {
        guard access(path, F_OK) == 0 else { throw StoreError.unavailable("\(path): no such file") }
        let probe = StoredItem(value: [], expires: Moment(microseconds: now.microseconds + 60_000_000))
        try await update(ItemKey("health", "probe"), at: now, .ordered) { $0 = probe }
    }
}

extension SQLiteStore {
    /// Writes all changes or none. The savepoint undoes these changes only, because the transaction also contains other
    /// writes.
    private static func write(_ connection: SQLiteConnection, _ changes: [(ItemKey, StoredItem?)]) throws {
        guard changes.count > 1 else { return try changes.forEach { try write(connection, $0, $1) } }
        try connection.run("SAVEPOINT change")
        do {
            for (key, item) in changes { try write(connection, key, item) }
        } catch {
            try? connection.run("ROLLBACK TO change")
            try? connection.run("RELEASE change")
            throw error
        }
        try connection.run("RELEASE change")
    }

    private static func write(_ connection: SQLiteConnection, _ key: ItemKey, _ item: StoredItem?) throws {
        guard let item else {
            return try connection.run(
                "DELETE FROM item WHERE kind = ? AND key = ?", [.text(key.table), .text(key.key)])
        }
        try connection.run(
            "INSERT OR REPLACE INTO item (kind, key, value, expires) VALUES (?, ?, ?, ?)",
            [.text(key.table), .text(key.key), .bytes(item.value), .integer(item.expires?.microseconds)])
    }

    private static func item(_ connection: SQLiteConnection, _ key: ItemKey, _ now: Moment) throws -> StoredItem? {
        var item: StoredItem?
        try connection.run(
            "SELECT value, expires FROM item WHERE kind = ? AND key = ? AND (expires IS NULL OR expires > ?)",
            [.text(key.table), .text(key.key), .integer(now.microseconds)]
        ) { item = Self.item($0) }
        return item
    }

    private static func item(_ row: SQLiteConnection.Row) -> StoredItem {
        StoredItem(value: row.bytes(0), expires: row.integer(1).map(Moment.init))
    }
}

import Foundation
import GRDB

/// The state in a SQLite file.
///
/// Write-ahead log: a process killed at any moment loses nothing that was answered for. A sync to the disk at every
/// commit is for writes that ask for it.
package final class SQLiteStore: Store {
    private let pool: DatabasePool
    private let writer: BatchWriter

    /// Opens or creates the file and brings its schema up to date; refuses a schema from a newer program.
    package init(path: String) throws {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        pool = try DatabasePool(path: path, configuration: configuration)
        let migrator = Migrations.rps
        guard try !pool.read({ try migrator.hasBeenSuperseded($0) }) else {
            throw StartError("\(path): made by a newer version of this program")
        }
        try migrator.migrate(pool)
        writer = BatchWriter(pool)
    }

    package func create(_ table: String, _ key: String, _ item: StoredItem, at now: Moment) async throws -> Bool {
        try await writer.write(durable: true) { db in
            guard try Self.item(db, table, key, now) == nil else { return false }
            try Self.put(db, table, key, item)
            return true
        }
    }

    package func read(_ table: String, _ key: String, at now: Moment) async throws -> StoredItem? {
        // One statement needs no transaction around it.
        try await pool.unsafeRead { try Self.item($0, table, key, now) }
    }

    package func update<Result: Sendable>(
        _ table: String, _ key: String, at now: Moment, durable: Bool,
        _ change: @escaping @Sendable (inout StoredItem?) throws -> Result
    ) async throws -> Result {
        try await writer.write(durable: durable) { db in
            let old = try Self.item(db, table, key, now)
            var item = old
            let result = try change(&item)
            if let item {
                // Unchanged, it is written for its sync alone.
                if durable || item != old { try Self.put(db, table, key, item) }
            } else if old != nil {
                try Self.delete(db, table, key)
            }
            return result
        }
    }

    package func take(_ table: String, _ key: String, at now: Moment) async throws -> StoredItem? {
        try await writer.write(durable: true) { db in
            guard let item = try Self.item(db, table, key, now) else { return nil }
            try Self.delete(db, table, key)
            return item
        }
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        try await pool.unsafeRead { db in
            let rows = try db.cachedStatement(
                sql: """
                    SELECT key, value, expires FROM item WHERE kind = ? AND key \(key == nil ? ">=" : ">") ?
                    AND (expires IS NULL OR expires > ?) ORDER BY key LIMIT ?
                    """)
            let arguments: StatementArguments = [table, key ?? "", now.microseconds, limit]
            return try Row.fetchAll(rows, arguments: arguments).map { ($0["key"], Self.item($0)) }
        }
    }

    package func collect(at now: Moment) async throws -> Int {
        try await writer.write { db in
            try db.execute(sql: "DELETE FROM item WHERE expires <= ?", arguments: [now.microseconds])
            return db.changesCount
        }
    }

    private static func item(_ db: Database, _ table: String, _ key: String, _ now: Moment) throws -> StoredItem? {
        let statement = try db.cachedStatement(
            sql: "SELECT value, expires FROM item WHERE kind = ? AND key = ? AND (expires IS NULL OR expires > ?)")
        return try Row.fetchOne(statement, arguments: [table, key, now.microseconds]).map(item)
    }

    private static func item(_ row: Row) -> StoredItem {
        let expires: Int64? = row["expires"]
        return StoredItem(value: Array(row["value"] as Data), expires: expires.map(Moment.init))
    }

    private static func put(_ db: Database, _ table: String, _ key: String, _ item: StoredItem) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO item (kind, key, value, expires) VALUES (?, ?, ?, ?)")
            .execute(arguments: [table, key, Data(item.value), item.expires?.microseconds])
    }

    private static func delete(_ db: Database, _ table: String, _ key: String) throws {
        try db.cachedStatement(sql: "DELETE FROM item WHERE kind = ? AND key = ?").execute(arguments: [table, key])
    }
}

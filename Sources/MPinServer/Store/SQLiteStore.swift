import Foundation
import GRDB

/// The state of one RPS in a SQLite file.
///
/// Write-ahead log: a process killed at any moment loses nothing that was answered for. What must also survive a power
/// failure (registrations, wrong PINs, blocks) is written with a sync to the disk; pass 1 records and tokens, which are
/// dead before the machine is up again, are not worth one.
package final class SQLiteStore: Store {
    private let pool: DatabasePool

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
    }

    func write<T: Sendable>(
        durable: Bool = false, _ body: @escaping @Sendable (Database) throws -> T
    ) async throws -> T {
        try await pool.writeWithoutTransaction { db in
            try db.execute(sql: durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
            var result: T?
            try db.inTransaction(.immediate) {
                result = try body(db)
                return .commit
            }
            guard let result else { throw DatabaseError(resultCode: .SQLITE_INTERNAL) }
            return result
        }
    }

    func read<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        try await pool.read(body)
    }

    package func setting(_ name: String, orMake make: @escaping @Sendable () throws -> String) async throws -> String {
        try await write(durable: true) { db in
            if let value = try String.fetchOne(db, sql: "SELECT value FROM setting WHERE name = ?", arguments: [name]) {
                return value
            }
            let value = try make()
            try db.execute(sql: "INSERT INTO setting (name, value) VALUES (?, ?)", arguments: [name, value])
            return value
        }
    }

    package func collect(at now: Moment) async throws -> Int {
        try await write { db in
            var count = 0
            for table in ["registration", "pass1", "token"] {
                try db.execute(sql: "DELETE FROM \(table) WHERE expires <= ?", arguments: [now.microseconds])
                count += db.changesCount
            }
            return count
        }
    }
}

import CSQLite
import Glibc
import MPinSecrets

/// A connection to a SQLite file, for one thread at a time. It compiles each statement once. It obeys no triggers and views
/// of the file, because whoever could write to the file may have put them there.
package final class SQLiteConnection {
    package enum Value {
        case text(String)
        case bytes([UInt8])
        case integer(Int64?)
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
        /// Whether the reason is that another process has the lock.
        var isBusy = false
        /// Whether the reason is that the disk failed (SQLITE_IOERR).
        var isDiskError = false
    }

    /// A row of a result. It is valid only in the closure that gets it.
    package struct Row {
        fileprivate let statement: OpaquePointer

        /// The value of a column; empty for NULL.
        package func text(_ column: Int32) -> String {
            sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
        }

        package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

        /// The value of a column; empty for NULL.
        package func bytes(_ column: Int32) -> [UInt8] {
            let count = Int(sqlite3_column_bytes(statement, column))
            guard let start = sqlite3_column_blob(statement, column) else { return [] }
            return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
        }

        /// The value of a column; nil for NULL.
        package func integer(_ column: Int32) -> Int64? {
            isNull(column) ? nil : sqlite3_column_int64(statement, column)
        }

        package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
    }

    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = [:]
    private var syncsAtCommit: Bool?

    /// Milliseconds for which the connection waits for a lock of another process.
    private static let busyTimeout: Int32 = 5000

    /// Opens a file, or with `:memory:` a database that ends with the connection. If `creates`, a missing file is made. If
    /// `erases`, deleted data is overwritten.
    package init(path: String, creates: Bool = false, erases: Bool = false) throws {
        try Self.requirePlainFiles(path)
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
        let status = sqlite3_open_v2(path, &handle, flags, nil)
        guard let handle else { throw Failure(description: "\(path): no memory") }
        self.handle = handle
        guard status == SQLITE_OK else { throw failure() }
        guard mpin_sqlite3_distrust_file(handle) == SQLITE_OK else {
            throw Failure(description: "SQLite: triggers and views cannot be switched off")
        }
        sqlite3_busy_timeout(handle, Self.busyTimeout)
        if erases { try run("PRAGMA secure_delete = ON") }
    }

    /// Throws if the path or that of a journal names something else than a regular file: SQLite would wait for ever for the
    /// other end of a FIFO in the place of its journal, which it opens first.
    private static func requirePlainFiles(_ path: String) throws {
        // SQLite follows a link to the database, and has the journals beside its target.
        let real = realpath(path, nil)
        defer { free(real) }
        let target = real.map { String(cString: $0) } ?? path
        for file in [path] + ["-journal", "-wal", "-shm"].map({ target + $0 }) where PlainFile.mayWait(file) {
            throw Failure(description: "\(file): not a regular file")
        }
    }

    /// Begins a transaction that writes; false if another process is writing and `waits` is false.
    func beginWriting(waits: Bool) throws -> Bool {
        if !waits { sqlite3_busy_timeout(handle, 0) }
        defer { if !waits { sqlite3_busy_timeout(handle, Self.busyTimeout) } }
        do { try run("BEGIN IMMEDIATE") } catch let failure as Failure where failure.isBusy && !waits { return false }
        return true
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    /// Runs one statement with these values, and calls `row` with each row of its result.
    package func run(_ sql: String, _ values: [Value] = [], row: (Row) -> Void = { _ in }) throws {
        let statement = try compiled(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { bind(value, to: statement, at: Int32(index + 1)) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: row(Row(statement: statement))
            case SQLITE_DONE: return
            default: throw failure()
            }
        }
    }

    /// Runs one statement and returns the first column of all rows of its result.
    package func texts(_ sql: String) throws -> [String] {
        var texts: [String] = []
        try run(sql) { texts.append($0.text(0)) }
        return texts
    }

    /// Runs `body` in a transaction. If it throws, the error is passed on and nothing is changed.
    package func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        _ = try beginWriting(waits: true)
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            if isInTransaction { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Runs `body`, whose reads all see the same state of the file.
    func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try run("BEGIN")
        defer { try? run("COMMIT") }
        return try body()
    }

    /// Sets whether later transactions sync to the disk. The setting is remembered, because SQLite would compile the
    /// pragma anew each time.
    func syncAtCommit(_ isWanted: Bool) throws {
        guard syncsAtCommit != isWanted else { return }
        try run(isWanted ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
        syncsAtCommit = isWanted
    }

    /// The number of rows that the last statement changed.
    package var changes: Int { Int(sqlite3_changes(handle)) }

    /// Whether a transaction is open. When the disk is full, SQLite itself ends the transaction.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    private func compiled(_ sql: String) throws -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil) == SQLITE_OK,
            let statement
        else { throw failure() }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: Value, to statement: OpaquePointer, at index: Int32) {
        // -1 is SQLITE_TRANSIENT, which makes SQLite copy the bytes.
        let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .text(let text): sqlite3_bind_text(statement, index, text, Int32(text.utf8.count), copied)
        // SQLite would take an empty blob for NULL, because its pointer may be null.
        case .bytes(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
        case .bytes(let bytes): sqlite3_bind_blob(statement, index, bytes, Int32(bytes.count), copied)
        case .integer(let number?): sqlite3_bind_int64(statement, index, number)
        case .integer(nil): sqlite3_bind_null(statement, index)
        }
    }

    private func failure() -> Failure {
        let code = sqlite3_errcode(handle) & 0xff
        return Failure(
            description: "SQLite: " + String(cString: sqlite3_errmsg(handle)), isBusy: code == SQLITE_BUSY,
            isDiskError: code == SQLITE_IOERR)
    }
}

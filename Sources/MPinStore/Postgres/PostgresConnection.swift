import CPostgres
import Glibc

/// A statement with the values of its parameters.
struct PostgresCommand {
    enum Value {
        case text(String)
        case bytes([UInt8])
        case integer(Int64?)
    }

    let sql: String
    let values: [Value]

    init(_ sql: String, _ values: [Value]) {
        self.sql = sql
        self.values = values
    }

    init(_ sql: String, _ values: Value...) { self.init(sql, values) }
}

/// What a statement has returned.
struct PostgresResult {
    /// The bytes of each column of each row; nil for NULL.
    var rows: [[[UInt8]?]] = []
    /// The number of rows that the statement has changed or returned.
    var count = 0
}

/// Why an exchange with the server failed.
enum PostgresFailure: Error {
    /// The server refused a statement. The connection can be used again after a rollback.
    case refused(state: String, message: String)
    /// The connection ended while commands were on their way, so they may have been carried out.
    case lost(String)
    /// There was no connection, so nothing was sent.
    case unreachable(String)
}

/// A connection to a PostgreSQL server, for one thread at a time. Only ``init(_:)`` waits.
///
/// It uses libpq's pipeline: all commands of one exchange are sent together, and their answers come together (manual of
/// PostgreSQL 15, section 34.5). Commands between two exchanges of a transaction are therefore one trip to the server.
final class PostgresConnection {
    private let handle: OpaquePointer
    private let preparesStatements: Bool
    /// The names of the statements that the server has prepared, by their text.
    private var prepared: [String: String] = [:]
    private var lastName = 0
    private var steps: [Step] = []
    private var results: [PostgresResult] = []
    private var failure: PostgresFailure?
    /// Whether the server has warned (SQLSTATE 01000). So it says that a commit is not at the standby, because somebody has
    /// cancelled the wait for it (`pg_cancel_backend`): the change may be gone after a failover.
    private let hasWarned = UnsafeMutablePointer<Int32>.allocate(capacity: 1)

    /// An answer that the server still owes, in the order of the commands.
    private enum Step {
        case prepared(sql: String, name: String)
        case result
    }

    /// Opens a connection. Waits until it is there or `connect_timeout` is over.
    init(_ url: PostgresURL) throws {
        guard mpin_PQ_is_available() == 1 else {
            throw StoreError.unusable("postgres: needs libpq.so.5 of PostgreSQL 14 or later (Debian: libpq5)")
        }
        guard let handle = mpin_PQconnectdb(url.text) else { throw PostgresFailure.unreachable("no memory") }
        self.handle = handle
        hasWarned.initialize(to: 0)
        preparesStatements = url.preparesStatements
        guard mpin_PQstatus(handle) == CONNECTION_OK, mpin_PQsetnonblocking(handle, 1) == 0,
            mpin_PQenterPipelineMode(handle) == 1
        else { throw PostgresFailure.unreachable(message) }
        mpin_PQwatchWarnings(handle, hasWarned)
    }

    deinit {
        mpin_PQfinish(handle)
        hasWarned.deallocate()
    }

    /// The socket. It stays the same as long as the connection.
    var descriptor: Int32 { mpin_PQsocket(handle) }

    /// Hands commands to libpq. ``advance()`` sends them and reads the answers.
    func send(_ commands: [PostgresCommand]) throws(PostgresFailure) {
        results = []
        failure = nil
        hasWarned.pointee = 0
        for command in commands {
            try sent(prepareIfNeeded(command) && send(command))
            steps.append(.result)
        }
        try sent(mpin_PQpipelineSync(handle) == 1)
    }

    /// Sends and reads as much as is possible now. Nil if answers are still missing; then `needsToWrite` says whether
    /// libpq has more to send.
    func advance() throws(PostgresFailure) -> [PostgresResult]? {
        try sent(mpin_PQconsumeInput(handle) == 1)
        try sent(mpin_PQflush(handle) >= 0)
        while mpin_PQisBusy(handle) == 0 {
            // libpq says by a null pointer that a command has no further result.
            guard let result = mpin_PQgetResult(handle) else {
                guard mpin_PQstatus(handle) == CONNECTION_OK else { throw .lost(message) }
                continue
            }
            defer { mpin_PQclear(result) }
            if mpin_PQresultStatus(result) == PGRES_PIPELINE_SYNC { return try end() }
            take(result)
        }
        return nil
    }

    var needsToWrite: Bool { mpin_PQflush(handle) == 1 }

    /// Whether the server has ended the connection between two exchanges. First reads what the server has said before.
    var hasEnded: Bool {
        for _ in 0..<4 {
            var byte: UInt8 = 0
            let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            if count < 0 { return errno != EAGAIN && errno != EINTR }
            guard count > 0, mpin_PQconsumeInput(handle) == 1 else { return true }
        }
        return mpin_PQstatus(handle) != CONNECTION_OK
    }

    private func end() throws(PostgresFailure) -> [PostgresResult] {
        steps = []
        if let failure { throw failure }
        guard hasWarned.pointee == 0 else { throw .lost("PostgreSQL: a commit is perhaps not at the standby") }
        return results
    }

    private func take(_ result: OpaquePointer) {
        let step = steps.isEmpty ? nil : steps.removeFirst()
        switch mpin_PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
            if case .prepared(let sql, let name) = step { prepared[sql] = name } else { results.append(read(result)) }
        // A command after one that failed was not carried out.
        case PGRES_PIPELINE_ABORTED: break
        default:
            let state = mpin_PQresultState(result).map { String(cString: $0) } ?? ""
            let text = mpin_PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
            failure = failure ?? .refused(state: state, message: Self.oneLine(text))
        }
    }

    private func read(_ result: OpaquePointer) -> PostgresResult {
        let columns = mpin_PQnfields(result)
        let rows = (0..<mpin_PQntuples(result)).map { row in
            (0..<columns).map { column -> [UInt8]? in
                guard mpin_PQgetisnull(result, row, column) == 0, let start = mpin_PQgetvalue(result, row, column)
                else { return nil }
                let count = Int(mpin_PQgetlength(result, row, column))
                return [UInt8](UnsafeRawBufferPointer(start: start, count: count))
            }
        }
        let count = mpin_PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        return PostgresResult(rows: rows, count: count)
    }

    /// Lets the server prepare a statement that this connection has not used before. An unnamed statement needs none.
    private func prepareIfNeeded(_ command: PostgresCommand) -> Bool {
        guard preparesStatements, name(of: command) == nil else { return true }
        lastName += 1
        let name = "s\(lastName)"
        steps.append(.prepared(sql: command.sql, name: name))
        return mpin_PQsendPrepare(handle, name, command.sql) == 1
    }

    /// The name of a prepared statement, or of one whose preparation was sent before in the same exchange.
    private func name(of command: PostgresCommand) -> String? {
        if let name = prepared[command.sql] { return name }
        for case .prepared(let sql, let name) in steps where sql == command.sql { return name }
        return nil
    }

    private func send(_ command: PostgresCommand) -> Bool {
        Self.withPointers(command.values) { values, lengths, formats in
            let count = Int32(lengths.count)
            guard preparesStatements else {
                return mpin_PQsendQueryParams(handle, command.sql, count, values, lengths, formats)
            }
            return mpin_PQsendQueryPrepared(handle, name(of: command) ?? "", count, values, lengths, formats)
        } == 1
    }

    /// Calls `use` with the values in PostgreSQL's binary form: a text as UTF-8, an integer as 8 bytes, big-endian.
    private static func withPointers<Result>(
        _ values: [PostgresCommand.Value],
        _ use: (_ values: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Result
    ) -> Result {
        var (bytes, ranges): ([UInt8], [Range<Int>?]) = ([], [])
        for value in values {
            let start = bytes.count
            switch value {
            case .text(let text): bytes += text.utf8
            case .bytes(let octets): bytes += octets
            case .integer(let number?): withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
            case .integer(nil):
                ranges.append(nil)
                continue
            }
            ranges.append(start..<bytes.count)
        }
        // The added byte gives empty values a place, too.
        bytes.append(0)
        return bytes.withUnsafeBytes { bytes in
            let start = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            return use(
                ranges.map { range in range.flatMap { start?.advanced(by: $0.lowerBound) } },
                ranges.map { Int32($0?.count ?? 0) }, ranges.map { _ in 1 })
        }
    }

    private func sent(_ isSent: Bool) throws(PostgresFailure) { guard isSent else { throw .lost(message) } }

    private var message: String {
        Self.oneLine(mpin_PQerrorMessage(handle).map { String(cString: $0) } ?? "no memory")
    }

    private static func oneLine(_ text: String) -> String {
        "PostgreSQL: " + text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
}

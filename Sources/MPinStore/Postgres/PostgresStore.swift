/// A store in a PostgreSQL database, which any number of processes share.
///
/// A transaction is two trips to the server: one reads and locks its items, one writes and commits. It locks rows in the
/// order of their keys. A key without a row cannot be locked; if another transaction makes the row meanwhile, this one starts
/// again. A transaction with several keys locks these also by their names (advisory locks). Otherwise two transactions could
/// each act upon the absence of what the other one is making.
///
/// A change that has a ``BlindForm`` is one trip, which it shares with others (``WriteBatches``).
package final class PostgresStore: WholeStore {
    /// Which items a store holds. The raw value is the name of their table.
    package enum Kind: String {
        case lasting = "lasting_item"
        /// Items in an UNLOGGED table: nothing is flushed for them, and they are gone after a crash of the server.
        case shortLived = "short_lived_item"
    }

    private let pool: PostgresPool
    let kind: Kind
    /// What tables are called. A store of lasting items has no names of others in it.
    let names: ServiceNames
    private let statements: Statements
    let sql: BlindStatements
    let batches = WriteBatches<PostgresCommand, PostgresResult>()
    let batchesWithoutFlush = WriteBatches<PostgresCommand, PostgresResult>()
    /// How long one call may take, waiting for a connection included.
    let patience: Duration
    /// What ``check(at:)`` writes. Stores of other processes must not wait for this one.
    private let probe = ItemKey("health", "probe \(UInt64.random(in: 0...UInt64.max))")

    package let isNear = false

    /// How often the store has waited for an answer of the server.
    package var trips: Int { pool.trips.value }
    package var poolUse: PoolUse {
        var use = pool.use
        use.waiting += batches.waiting + batchesWithoutFlush.waiting
        return use
    }

    /// How often a transaction starts again because others changed the same items.
    private static let tries = 8

    private init(
        opening url: PostgresURL, _ kind: Kind, names: ServiceNames = ServiceNames(), patience: Duration
    ) {
        pool = PostgresPool(url)
        self.kind = kind
        self.names = names
        statements = Statements(table: kind.rawValue)
        sql = BlindStatements(table: kind.rawValue)
        self.patience = patience
    }

    /// Connects to the database and brings its schema up to date.
    package convenience init(
        _ url: PostgresURL, _ kind: Kind, names: ServiceNames = ServiceNames(), patience: Duration = .seconds(5)
    ) async throws {
        self.init(opening: url, kind, names: names, patience: patience)
        _ = try await upgrade(lockPatience: .seconds(2))
    }

    /// Brings the schema of a database up to date and returns the names of the steps that were missing. Waits at most
    /// `lockPatience` at a time for a table that others have locked.
    package static func migrate(
        _ url: PostgresURL, patience: Duration = .seconds(60), lockPatience: Duration = .seconds(2)
    ) async throws -> [String] {
        try await PostgresStore(opening: url, .lasting, patience: patience).upgrade(lockPatience: lockPatience)
    }

    private func upgrade(lockPatience: Duration) async throws -> [String] {
        try await again { link, deadline in
            try await PostgresSchema.upgrade(link, lockPatience: lockPatience, by: deadline)
        }
    }

    /// What somebody has added to our tables: triggers, rules, row security, and what is there in the place of a table.
    package func foreign() async throws -> [String] {
        try await single(PostgresCommand(PostgresSchema.foreign)).rows.compactMap { row in
            row.first.flatMap(\.self).map { String(decoding: $0, as: UTF8.self).escaped }
        }.sorted()
    }

    package func read(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        let key = names.own(key)
        let command = PostgresCommand(statements.read, .text(key.table), .text(key.key), .integer(now.microseconds))
        return try await single(command).rows.first.flatMap(Self.item)
    }

    package func list(
        _ table: String, after key: String?, limit: Int, at now: Moment
    ) async throws -> [(key: String, item: StoredItem)] {
        let command = PostgresCommand(
            key == nil ? statements.listFromStart : statements.listAfter, .text(names.own(table)), .text(key ?? ""),
            .integer(now.microseconds), .integer(Int64(limit)))
        return try await page(command).rows.compactMap { row in
            guard let item = Self.item(row), row.count == 3, let key = row[2] else { return nil }
            return (key: String(decoding: key, as: UTF8.self), item: item)
        }
    }

    package func items(
        after key: ItemKey?, limit: Int, at now: Moment
    ) async throws -> [(key: ItemKey, item: StoredItem)] {
        let command = PostgresCommand(
            statements.all, .text(key?.table ?? ""), .text(key?.key ?? ""), .integer(now.microseconds),
            .integer(Int64(limit)))
        return try await page(command).rows.compactMap { row in
            guard let item = Self.item(row), row.count == 4, let table = row[2], let key = row[3] else { return nil }
            return (ItemKey(String(decoding: table, as: UTF8.self), String(decoding: key, as: UTF8.self)), item)
        }
    }

    /// Servers keep their connections open, so the database knows of them. It lists a connection for a moment after the
    /// end of its process.
    package func requireAlone() async throws {
        for _ in 0..<20 {
            let others = try await single(PostgresCommand(Statements.others)).rows.first?.first.flatMap(Self.moment)
            if others?.microseconds == 0 { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw StoreError.unusable("others are connected to the database: stop all servers first")
    }

    package func take(_ key: ItemKey, at now: Moment) async throws -> StoredItem? {
        let key = names.own(key)
        let command = PostgresCommand(statements.take, .text(key.table), .text(key.key))
        let item = try await single(command, isChange: true).rows.first.flatMap(Self.item)
        return item?.isLive(at: now) == true ? item : nil
    }

    package func time() async throws -> Moment? {
        let command = PostgresCommand("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")
        return try await single(command).rows.first?.first.flatMap(Self.moment)
    }

    /// Writes as durably as a login does: while a commit waits for a synchronous standby that is not there, nobody can log in.
    /// If one waits already, there is no other: the server keeps each connection whose commit waits, also when nobody waits
    /// for it any more, and would have none left.
    package func check(at now: Moment) async throws {
        guard try await single(PostgresCommand(Statements.waiting)).rows.isEmpty else {
            throw StoreError.unavailable("PostgreSQL: commits wait for a synchronous standby")
        }
        let item = StoredItem(value: [], expires: Moment(microseconds: now.microseconds + 60_000_000))
        try await update(probe, at: now, .durable) { $0 = item }
    }

    package func collect(at now: Moment, limit: Int) async throws -> Int {
        try await single(PostgresCommand(statements.collect, .integer(now.microseconds), .integer(Int64(limit)))).count
    }

    package func transaction<Result: Sendable>(
        _ keys: [ItemKey], at now: Moment, _ durability: Durability,
        _ change: @escaping @Sendable (inout Items) throws -> Result
    ) async throws -> Result {
        let keys = ItemKey.inOrder(keys)
        return try await again { [self] link, deadline in
            // The names may change meanwhile.
            let stored = keys.map(names.own)
            let rows = try await begin(link, stored, durability, by: deadline)
            var items = Items(zip(keys, rows).map { ($0, $1?.isLive(at: now) == true ? $1 : nil) })
            let result = try change(&items)
            let writes = zip(zip(stored, rows), try items.changed()).compactMap { old, new in
                write(old.0, old.1, new, at: now, isDurable: durability == .durable)
            }
            try await commit(link, writes, by: deadline)
            return result
        }
    }
}

extension PostgresStore {
    /// Begins a transaction and returns the rows of the keys, expired ones included.
    private func begin(
        _ link: PostgresLink, _ keys: [ItemKey], _ durability: Durability, by deadline: ContinuousClock.Instant
    ) async throws -> [StoredItem?] {
        var commands = durability == .durable ? [.begin] : [PostgresCommand.begin, .withoutFlush]
        if keys.count > 1 {
            commands += keys.map { PostgresCommand(statements.lockName, .text($0.table), .text($0.key)) }
        }
        commands += keys.map { PostgresCommand(statements.lockRow, .text($0.table), .text($0.key)) }
        return try await link.exchange(commands, by: deadline).suffix(keys.count).map {
            $0.rows.first.flatMap(Self.item)
        }
    }

    /// The command that makes `new` of the row `old`. Nil if there is nothing to do. A durable change also writes items
    /// that are unchanged, because only a write is flushed.
    private func write(
        _ key: ItemKey, _ old: StoredItem?, _ new: StoredItem?, at now: Moment, isDurable: Bool
    ) -> PostgresCommand? {
        guard let new else {
            return old.map { _ in PostgresCommand(statements.delete, .text(key.table), .text(key.key)) }
        }
        if new == old, !isDurable { return nil }
        return PostgresCommand(
            old == nil ? statements.insert : statements.update, .text(key.table), .text(key.key), .bytes(new.value),
            .integer(new.expires?.microseconds))
    }

    /// Writes and commits. If the answer to the commit is lost, the outcome is unknown.
    private func commit(
        _ link: PostgresLink, _ writes: [PostgresCommand], by deadline: ContinuousClock.Instant
    ) async throws {
        do { _ = try await link.exchange(writes + [.commit], by: deadline) } catch {
            guard case .lost(let reason) = error as? PostgresFailure, !writes.isEmpty else { throw error }
            throw StoreError.unknownOutcome(reason)
        }
    }

    /// Runs one statement as a transaction of its own.
    private func single(_ command: PostgresCommand, isChange: Bool = false) async throws -> PostgresResult {
        try await exchange([command], isChange: isChange).first ?? PostgresResult()
    }

    /// Runs a statement that reads a page of a list. There may be any number of pages, so each has all the time.
    private func page(_ command: PostgresCommand) async throws -> PostgresResult {
        try await StorePatience.limit(to: patience) { try await single(command) }
    }

    /// Runs statements as one transaction, in one trip. They are repeated after a lost connection, unless they change
    /// what the caller must know.
    func exchange(_ commands: [PostgresCommand], isChange: Bool) async throws -> [PostgresResult] {
        try await again { link, deadline in
            do { return try await link.exchange(commands, by: deadline) } catch {
                guard case .lost(let reason) = error as? PostgresFailure, isChange else { throw error }
                throw StoreError.unknownOutcome(reason)
            }
        }
    }

    /// Runs statements as one transaction, in one trip, once. Nil if nothing was done.
    func attempt(
        _ commands: [PostgresCommand], by deadline: ContinuousClock.Instant
    ) async throws -> [PostgresResult]? {
        do {
            return try await pool.withLink(by: deadline) { try await $0.exchange(commands, by: deadline) }
        } catch let failure as PostgresFailure {
            guard case .lost(let reason) = failure else { return nil }
            throw StoreError.unknownOutcome(reason)
        }
    }

    /// Runs `body` with a connection until it succeeds, at most eight times: a lost connection or a conflict with others
    /// leaves nothing changed. `body` gets the moment when it must give up. Throws ``StoreError``, and errors that are not
    /// the store's.
    private func again<Result: Sendable>(
        _ body: (PostgresLink, ContinuousClock.Instant) async throws -> Result
    ) async throws -> Result {
        try await StorePatience.call(atMost: patience) { deadline in
            var reason = "PostgreSQL: the request has no time left"
            for _ in 0..<Self.tries {
                guard deadline - .now > StorePatience.least else { throw StoreError.unavailable(reason) }
                do {
                    return try await pool.withLink(by: deadline) { try await body($0, deadline) }
                } catch let failure as PostgresFailure {
                    if let error = failure.error { throw error }
                    reason = failure.reason
                }
            }
            throw StoreError.conflict
        }
    }

    static func item(_ row: [[UInt8]?]) -> StoredItem? {
        guard row.count >= 2, let value = row[0] else { return nil }
        return StoredItem(value: value, expires: moment(row[1]))
    }

    private static func moment(_ bytes: [UInt8]?) -> Moment? {
        bytes.map { bytes in
            Moment(microseconds: Int64(truncatingIfNeeded: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }))
        }
    }
}

extension PostgresFailure {
    var reason: String {
        switch self {
        case .refused(let state, let message): "\(message) (SQLSTATE \(state))"
        case .lost(let reason), .unreachable(let reason): reason
        }
    }

    /// Whether the server has become a standby (SQLSTATE 25006), so that all its connections are of no use.
    var isOfStandby: Bool {
        if case .refused("25006", _) = self { true } else { false }
    }

    /// The error for the store's caller; nil if another try may succeed at once. These are a lost connection, and what
    /// other transactions cause: a serialization failure, a deadlock, a lock that is not available, and a row that
    /// another transaction has made (SQLSTATE 40001, 40P01, 55P03, 23505; appendix A of PostgreSQL's manual).
    fileprivate var error: StoreError? {
        switch self {
        case .lost: nil
        case .unreachable: .unavailable(reason)
        case .refused(let state, _):
            ["40001", "40P01", "55P03", "23505", "25006"].contains(state) ? nil : .unavailable(reason)
        }
    }
}

/// The texts of the statements for one table of items.
private struct Statements {
    let read: String
    let listFromStart: String
    let listAfter: String
    let all: String
    let take: String
    let collect: String
    /// Counts the connections of others to this database. PostgreSQL hides from a role what kind of process works for another
    /// role; the database's own processes have none.
    static let others = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND coalesce(backend_type, 'client backend') = 'client backend'
            AND usesysid IS NOT NULL AND pid <> pg_backend_pid()
        """
    /// Finds a commit of this user that waits for a synchronous standby. One that is there needs less than a second.
    static let waiting = """
        SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'SyncRep'
            AND state_change < clock_timestamp() - interval '1 second' LIMIT 1
        """
    let lockName = "SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2, 0))"
    let lockRow: String
    let insert: String
    let update: String
    let delete: String

    init(table: String) {
        read = """
            SELECT value, expires FROM \(table) WHERE kind = $1 AND key = $2 AND (expires IS NULL OR expires > $3)
            """
        func list(_ comparison: String) -> String {
            """
            SELECT value, expires, key FROM \(table) WHERE kind = $1 AND key \(comparison) $2
            AND (expires IS NULL OR expires > $3) ORDER BY key LIMIT $4
            """
        }
        (listFromStart, listAfter) = (list(">="), list(">"))
        all = """
            SELECT value, expires, kind, key FROM \(table) WHERE (kind, key) > ($1, $2)
            AND (expires IS NULL OR expires > $3) ORDER BY kind, key LIMIT $4
            """
        take = "DELETE FROM \(table) WHERE kind = $1 AND key = $2 RETURNING value, expires"
        // Rows that another process is working on are left for its next turn.
        collect = """
            DELETE FROM \(table) WHERE (kind, key) IN (
                SELECT kind, key FROM \(table) WHERE expires <= $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
            """
        lockRow = "SELECT value, expires FROM \(table) WHERE kind = $1 AND key = $2 FOR UPDATE"
        insert = "INSERT INTO \(table) (kind, key, value, expires) VALUES ($1, $2, $3, $4)"
        update = "UPDATE \(table) SET value = $3, expires = $4 WHERE kind = $1 AND key = $2"
        delete = "DELETE FROM \(table) WHERE kind = $1 AND key = $2"
    }
}

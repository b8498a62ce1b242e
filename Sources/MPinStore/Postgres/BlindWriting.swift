extension PostgresStore {
    /// Makes a change in one trip if it has a blind form, and otherwise as a transaction.
    package func perform<Change: NamedChange>(
        _ change: Change, at now: Moment, _ durability: Durability
    ) async throws -> Change.Outcome {
        if let form = try change.blindForm() {
            let results = try await write(form.writes, form.place, at: now, durability)
            if let outcome = try form.outcome(results) { return outcome }
        }
        return try await transaction(change.keys, at: now, durability) { try change.run(&$0) }
    }

    /// Makes the writes in one transaction and one trip, perhaps together with those of others. If the answer is lost, the
    /// outcome is unknown.
    private func write(
        _ writes: [BlindWrite], _ place: ItemKey?, at now: Moment, _ durability: Durability
    ) async throws -> [BlindWrite.Result?] {
        // A short-lived table is not logged, so there is no flush.
        let skipsFlush = durability != .durable && kind == .lasting
        // If a write may touch either of two items, the order of the change's writes matters.
        let place = place ?? writes.first { $0.keys.count > 1 }?.place
        let steps = writes.map { (place: place ?? $0.place, command: sql.command($0.named(names.own), at: now)) }
        let results =
            if let made = try await together(steps, skipsFlush: skipsFlush) { made } else {
                try await apart(steps.map(\.command), skipsFlush: skipsFlush)
            }
        return zip(writes, results).map { write, result in
            guard let row = result.rows.first, let item = Self.item(row) else { return nil }
            return BlindWrite.Result(write.key(of: row), item)
        }
    }

    /// Makes a change together with others. Nil if nothing was done, because a row is locked or a command was refused.
    private func together(
        _ steps: [WriteBatches<PostgresCommand, PostgresResult>.Step], skipsFlush: Bool
    ) async throws -> [PostgresResult]? {
        let batches = skipsFlush ? batchesWithoutFlush : batches
        let settings = skipsFlush ? PostgresCommand.withoutFlushOrLongWait : .withoutLongWait
        return try await StorePatience.call(atMost: patience) { deadline in
            try await batches.make(steps, by: deadline) { commands, deadline in
                try await attempt([settings] + commands, by: deadline).map { Array($0.dropFirst()) }
            }
        }
    }

    private func apart(_ commands: [PostgresCommand], skipsFlush: Bool) async throws -> [PostgresResult] {
        let settings = skipsFlush ? [PostgresCommand.withoutFlush] : []
        return Array(try await exchange(settings + commands, isChange: true).dropFirst(settings.count))
    }
}

extension BlindWrite {
    /// The place of its row in the order in which rows are locked.
    fileprivate var place: ItemKey {
        switch self {
        case .put(let key, _), .append(let key, _, _), .replace(let key, _, _), .take(let key, _), .look(let key): key
        case .appendOrFill(_, _, let slot, _, _): slot
        }
    }

    /// The same write under other names.
    fileprivate func named(_ name: (ItemKey) -> ItemKey) -> BlindWrite {
        switch self {
        case .put(let key, let item): .put(name(key), item)
        case .append(let key, let bytes, let otherwise): .append(name(key), bytes, otherwise: otherwise)
        case .appendOrFill(let key, let bytes, let slot, let beginning, let first):
            .appendOrFill(name(key), bytes, slot: name(slot), beginning: beginning, first: first)
        case .replace(let key, let old, let new): .replace(name(key), old: old, new: new)
        case .take(let key, let beginning): .take(name(key), beginning: beginning)
        case .look(let key): .look(name(key))
        }
    }

    /// The key of the row that the write has returned.
    fileprivate func key(of row: [[UInt8]?]) -> ItemKey {
        switch self {
        case .put(let key, _), .append(let key, _, _), .replace(let key, _, _), .take(let key, _), .look(let key): key
        case .appendOrFill(let key, _, let slot, _, _): row.count > 2 && row[2] == [1] ? key : slot
        }
    }
}

/// The texts of the statements of blind writes for one table. Each returns value and expiry of the row that it has
/// written or deleted.
struct BlindStatements {
    private let put: String
    private let append: String
    private let appendOrPut: String
    private let appendOrFill: String
    private let replace: String
    private let take: String
    private let look: String

    init(table: String) {
        let isLive = "(expires IS NULL OR expires > $3)"
        put = """
            INSERT INTO \(table) (kind, key, value, expires) VALUES ($1, $2, $3, $4)
            ON CONFLICT (kind, key) DO UPDATE SET value = $3, expires = $4 RETURNING value, expires
            """
        append = """
            UPDATE \(table) SET value = value || $4 WHERE kind = $1 AND key = $2 AND \(isLive) RETURNING value, expires
            """
        appendOrPut = """
            INSERT INTO \(table) AS there (kind, key, value, expires) VALUES ($1, $2, $4, $5)
            ON CONFLICT (kind, key) DO UPDATE SET expires = $5, value =
                CASE WHEN there.expires IS NULL OR there.expires > $3 THEN there.value || $6 ELSE $4 END
            RETURNING value, expires
            """
        // One statement, so that a known identity, an unknown one, and the first unknown one in a slot take equally
        // long.
        let filled = """
            CASE WHEN substring(there.value FOR octet_length($6::bytea)) = $6
                THEN there.value ELSE $7::bytea END || $5::bytea
            """
        appendOrFill = """
            WITH changed AS (
                UPDATE \(table) AS there SET value = CASE WHEN kind = $1 AND key = $2 THEN value || $5::bytea ELSE \(filled) END
                WHERE (kind, key) = (
                    SELECT kind, key FROM \(table) WHERE kind = $1 AND key = $2 UNION ALL SELECT $3, $4 LIMIT 1)
                RETURNING value, expires, kind = $1 AND key = $2
            ), made AS (
                INSERT INTO \(table) AS there (kind, key, value)
                SELECT $3, $4, $7::bytea || $5::bytea WHERE NOT EXISTS (SELECT FROM changed)
                ON CONFLICT (kind, key) DO UPDATE SET value = \(filled)
                RETURNING value, expires, false
            )
            SELECT * FROM changed UNION ALL SELECT * FROM made
            """
        replace = """
            UPDATE \(table) SET value = $5 WHERE kind = $1 AND key = $2 AND \(isLive) AND value = $4
            RETURNING value, expires
            """
        take = """
            DELETE FROM \(table) WHERE kind = $1 AND key = $2 AND \(isLive)
                AND substring(value FOR octet_length($4::bytea)) = $4 RETURNING value, expires
            """
        look = "SELECT value, expires FROM \(table) WHERE kind = $1 AND key = $2 AND \(isLive)"
    }

    func command(_ write: BlindWrite, at now: Moment) -> PostgresCommand {
        let now = PostgresCommand.Value.integer(now.microseconds)
        switch write {
        case .put(let key, let item):
            return .init(put, key, .bytes(item.value), .integer(item.expires?.microseconds))
        case .append(let key, let bytes, nil): return .init(append, key, now, .bytes(bytes))
        case .append(let key, let bytes, let otherwise?):
            return .init(
                appendOrPut, key, now, .bytes(otherwise.value), .integer(otherwise.expires?.microseconds),
                .bytes(bytes))
        case .appendOrFill(let key, let bytes, let slot, let beginning, let first):
            return .init(
                appendOrFill, key, .text(slot.table), .text(slot.key), .bytes(bytes), .bytes(beginning), .bytes(first))
        case .replace(let key, let old, let new): return .init(replace, key, now, .bytes(old), .bytes(new))
        case .take(let key, let beginning): return .init(take, key, now, .bytes(beginning))
        case .look(let key): return .init(look, key, now)
        }
    }
}

extension PostgresCommand {
    static let begin = PostgresCommand("BEGIN")
    static let commit = PostgresCommand("COMMIT")
    /// Without a flush, a commit survives the end of the server process, but not a power failure.
    /// The setting holds until the end of the transaction, also of one without BEGIN (manual of PostgreSQL 15, section 55.2.3).
    static let withoutFlush = PostgresCommand("SELECT set_config('synchronous_commit', 'off', true)")
    /// A change that others wait for does not wait long for a row that somebody has locked.
    fileprivate static let withoutLongWait = PostgresCommand("SELECT set_config('lock_timeout', '100ms', true)")
    fileprivate static let withoutFlushOrLongWait = PostgresCommand(
        "SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '100ms', true)")

    /// A statement whose first parameters are the table and the key of an item.
    fileprivate init(_ sql: String, _ key: ItemKey, _ values: Value...) {
        self.init(sql, [.text(key.table), .text(key.key)] + values)
    }
}

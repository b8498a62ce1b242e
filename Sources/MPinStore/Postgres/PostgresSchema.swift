/// The steps that make the tables in a PostgreSQL database. Each is applied once, by one process. A released step is
/// never changed; new ones are added at the end.
///
/// Servers of two versions share the database during an upgrade. So a version adds what it needs by a step with which the
/// version before can work (it expands), and only a later version takes away what nobody uses any more (it contracts).
/// Each step says which programs can still work, and the database keeps it for programs that do not know the step.
enum PostgresSchema {
    private struct Step {
        let name: String
        /// How many steps a program must know to work with a database that has this one.
        let needs: Int
        let statements: [String]
    }

    private static let steps = [
        Step(
            name: "1: tables of items", needs: 1,
            statements: itemTable("item", "") + itemTable("short_lived_item", "UNLOGGED ")),
        Step(
            name: "2: changes are appended to items", needs: 2,
            // A server of the version before does not know what was appended, and would judge too many wrong PINs. If one
            // still runs, it no longer finds its table and refuses all logins. Its one-time tokens have another form.
            statements: [
                "ALTER TABLE item RENAME TO lasting_item", "ALTER INDEX item_expires RENAME TO lasting_item_expires",
                "ALTER INDEX item_pkey RENAME TO lasting_item_pkey",
                "DELETE FROM short_lived_item WHERE kind IN ('token', 'unknown_token')",
            ]),
        Step(
            name: "3: buckets of rate limits", needs: 2,
            // When a bucket is full again, in microseconds since 1970 by the clock of the database.
            statements: [
                """
                CREATE UNLOGGED TABLE bucket (key text COLLATE "C" PRIMARY KEY, full_again bigint NOT NULL)
                    WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)
                """
            ]),
    ]

    /// The statements that make a table of items. Names are ordered by their bytes. The free room
    /// in each page (fillfactor) lets PostgreSQL put a changed item beside the old one, without work on the indexes.
    private static func itemTable(_ name: String, _ kind: String) -> [String] {
        [
            """
            CREATE \(kind)TABLE \(name) (
                kind text COLLATE "C" NOT NULL,
                key text COLLATE "C" NOT NULL,
                value bytea NOT NULL,
                expires bigint,
                PRIMARY KEY (kind, key)
            ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)
            """,
            "CREATE INDEX \(name)_expires ON \(name) (expires) WHERE expires IS NOT NULL",
        ]
    }

    /// The number of the advisory lock that a process holds while it changes the schema: "mpin" in ASCII.
    private static let lock: Int64 = 0x6d70_696e

    /// Applies the steps that the database does not have yet, and returns their names. A change waits for a table no longer
    /// than `lockPatience`, because all later statements on the table wait behind it. Then these have a pause, and it tries
    /// again until shortly before the deadline. Throws ``StoreError/unusable(_:)`` for a database that needs a newer program,
    /// and for a role that may not change it.
    static func upgrade(
        _ link: PostgresLink, lockPatience: Duration, by deadline: ContinuousClock.Instant
    ) async throws -> [String] {
        while true {
            // Most starts find all steps, and then need no right to make tables.
            if try await missing(link, by: deadline).isEmpty { return [] }
            do {
                return try await applyMissing(link, waiting: min(lockPatience, (deadline - .now) / 2), by: deadline)
            } catch PostgresFailure.refused("55P03", let message) {
                _ = try await link.exchange([PostgresCommand("ROLLBACK")], by: deadline)
                guard deadline - .now > StorePatience.least + lockPatience / 4 else {
                    throw StoreError.unavailable("others keep a table locked that must be changed: \(message)")
                }
                try await Task.sleep(for: lockPatience / 4)
            } catch PostgresFailure.refused("42501", let message) {
                throw StoreError.unusable("\(message): run `mpind migrate` as the owner of the tables")
            }
        }
    }

    /// Applies the missing steps in one transaction, one process after the other.
    private static func applyMissing(
        _ link: PostgresLink, waiting: Duration, by deadline: ContinuousClock.Instant
    ) async throws -> [String] {
        _ = try await link.exchange(
            [
                // The steps are looked up after the wait for the lock, and must then be seen.
                PostgresCommand("BEGIN ISOLATION LEVEL READ COMMITTED"),
                PostgresCommand("SELECT pg_advisory_xact_lock($1)", .integer(lock)),
            ],
            by: deadline)
        let timeout = max(1, Int64(waiting / .milliseconds(1)))
        _ = try await link.exchange(
            [
                PostgresCommand("SELECT set_config('lock_timeout', $1, true)", .text("\(timeout)ms")),
                PostgresCommand(
                    "CREATE TABLE IF NOT EXISTS mpind_schema (step text PRIMARY KEY, applied timestamptz DEFAULT now())"
                ),
                // Older versions made the table without it. Every program knows the steps that were applied then.
                PostgresCommand("ALTER TABLE mpind_schema ADD COLUMN IF NOT EXISTS needs integer"),
            ], by: deadline)
        let steps = try await missing(link, by: deadline)
        for step in steps {
            let done = PostgresCommand(
                "INSERT INTO mpind_schema (step, needs) VALUES ($1, $2::bigint)", .text(step.name),
                .integer(Int64(step.needs)))
            _ = try await link.exchange(step.statements.map { PostgresCommand($0) } + [done], by: deadline)
        }
        _ = try await link.exchange([PostgresCommand("COMMIT")], by: deadline)
        return steps.map(\.name)
    }

    /// Finds what a role with the right to change our tables has put on them.
    static let foreign = """
        WITH ours AS (
            SELECT oid, relname, relkind, relrowsecurity FROM pg_class WHERE oid IN (
                to_regclass('lasting_item'), to_regclass('short_lived_item'), to_regclass('bucket'),
                to_regclass('mpind_schema')))
        SELECT 'not of this program: trigger ' || tgname || ' on ' || relname
            FROM pg_trigger JOIN ours ON ours.oid = tgrelid WHERE NOT tgisinternal
        UNION ALL SELECT 'not of this program: rule ' || rulename || ' on ' || relname
            FROM pg_rewrite JOIN ours ON ours.oid = ev_class
        UNION ALL SELECT 'row security is on: ' || relname FROM ours WHERE relrowsecurity
        UNION ALL SELECT 'not a table: ' || relname FROM ours WHERE relkind NOT IN ('r', 'p')
        """

    /// The steps that the database does not have. Throws ``StoreError/unusable(_:)`` if it has a step of a newer program
    /// with which this one cannot work.
    private static func missing(_ link: PostgresLink, by deadline: ContinuousClock.Instant) async throws -> [Step] {
        let found = try await link.exchange(
            [PostgresCommand("SELECT to_regclass('mpind_schema') IS NOT NULL")], by: deadline)
        guard found.first?.rows.first?.first == [1] else { return steps }
        // The table may have no column `needs`.
        let query = PostgresCommand("SELECT step, to_jsonb(mpind_schema) ->> 'needs' FROM mpind_schema")
        let rows = try await link.exchange([query], by: deadline).first?.rows ?? []
        let there = rows.map { row in row.map { $0.map { String(decoding: $0, as: UTF8.self) } } }
        var missing = steps
        for row in there where row.count == 2 {
            if let known = missing.firstIndex(where: { $0.name == row[0] }) {
                missing.remove(at: known)
            } else if row[1].flatMap({ Int($0) }).map({ $0 > steps.count }) ?? true {
                throw StoreError.unusable("made by a newer version of this program")
            }
        }
        return missing
    }
}

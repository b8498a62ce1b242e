/// The steps that make the tables in a PostgreSQL database. Each is applied once, by one process. A released step is
/// never changed; new ones are added at the end.
enum PostgresSchema {
    private static let steps = [
        (name: "1: tables of items", statements: itemTable("item", "") + itemTable("short_lived_item", "UNLOGGED ")),
        (
            name: "2: changes are appended to items",
            // A server of the version before does not know what was appended, and would judge too many wrong PINs. If one
            // still runs, it no longer finds its table and refuses all logins. Its one-time tokens have another form.
            statements: [
                "ALTER TABLE item RENAME TO lasting_item", "ALTER INDEX item_expires RENAME TO lasting_item_expires",
                "ALTER INDEX item_pkey RENAME TO lasting_item_pkey",
                "DELETE FROM short_lived_item WHERE kind IN ('token', 'unknown_token')",
            ]
        ),
        (
            name: "3: buckets of rate limits",
            // When a bucket is full again, in microseconds since 1970 by the clock of the database.
            statements: [
                """
                CREATE UNLOGGED TABLE bucket (key text COLLATE "C" PRIMARY KEY, full_again bigint NOT NULL)
                    WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02)
                """
            ]
        ),
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

    /// Applies the steps that the database does not have yet. Throws ``StoreError/unusable(_:)`` for a database of a
    /// newer program.
    static func upgrade(_ link: PostgresLink, by deadline: ContinuousClock.Instant) async throws {
        // Most starts find all steps, and then need no right to make tables.
        if try await missing(link, by: deadline).isEmpty { return }
        _ = try await link.exchange(
            [PostgresCommand("BEGIN"), PostgresCommand("SELECT pg_advisory_xact_lock($1)", .integer(lock))],
            by: deadline)
        _ = try await link.exchange(
            [
                // A change that waits for a table makes all later statements on it wait, too.
                PostgresCommand("SET LOCAL lock_timeout = '2s'"),
                PostgresCommand(
                    "CREATE TABLE IF NOT EXISTS mpind_schema (step text PRIMARY KEY, applied timestamptz DEFAULT now())"
                ),
            ], by: deadline)
        for step in try await missing(link, by: deadline) {
            let done = PostgresCommand("INSERT INTO mpind_schema (step) VALUES ($1)", .text(step.name))
            _ = try await link.exchange(step.statements.map { PostgresCommand($0) } + [done], by: deadline)
        }
        _ = try await link.exchange([PostgresCommand("COMMIT")], by: deadline)
    }

    private static func missing(
        _ link: PostgresLink, by deadline: ContinuousClock.Instant
    ) async throws -> [(name: String, statements: [String])] {
        let found = try await link.exchange(
            [PostgresCommand("SELECT to_regclass('mpind_schema') IS NOT NULL")], by: deadline)
        guard found.first?.rows.first?.first == [1] else { return steps }
        let result = try await link.exchange([PostgresCommand("SELECT step FROM mpind_schema")], by: deadline)
        let done = Set((result.first?.rows ?? []).map { String(decoding: ($0.first ?? nil) ?? [], as: UTF8.self) })
        guard done.isSubset(of: steps.map(\.name)) else {
            throw StoreError.unusable("made by a newer version of this program")
        }
        return steps.filter { !done.contains($0.name) }
    }
}

/// The steps that make the tables of a database file. Each is applied once. A released step is never changed; new ones
/// are added at the end.
package struct Schema: Sendable {
    package struct Step: Sendable {
        let name: String
        let statements: [String]

        package init(_ name: String, _ statements: [String]) {
            self.name = name
            self.statements = statements
        }
    }

    private let steps: [Step]

    package init(_ steps: [Step]) { self.steps = steps }

    /// Applies the steps that the file does not have yet. Throws ``StoreError/unusable(_:)`` for a file of a newer
    /// program, and, unless `allowsForeign`, for one that contains what no step makes.
    package func upgrade(_ connection: SQLiteConnection, allowsForeign: Bool = false) throws {
        if !allowsForeign { try requireOwn(connection) }
        guard try missing(connection) > 0 else { return }
        try connection.transaction {
            try connection.run(Self.table)
            // The steps are looked up again, because another process may have applied some in the meantime.
            let done = try Self.done(connection)
            for step in steps where !done.contains(step.name) { try Self.apply(step, connection) }
        }
    }

    private static func apply(_ step: Step, _ connection: SQLiteConnection) throws {
        for statement in step.statements { try connection.run(statement) }
        try connection.run("INSERT INTO grdb_migrations (identifier) VALUES (?)", [.text(step.name)])
    }

    /// Makes the table of the applied steps.
    private static let table =
        "CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)"

    /// The number of steps that the file does not have yet. Throws ``StoreError/unusable(_:)`` for a file of a newer
    /// program.
    package func missing(_ connection: SQLiteConnection) throws -> Int {
        let done = try Self.done(connection)
        guard done.isSubset(of: steps.map(\.name)) else {
            throw StoreError.unusable("made by a newer version of this program")
        }
        return steps.count - done.count
    }

    /// The names of the applied steps. Their table has the name and form that the library GRDB gives it, because
    /// earlier versions of this program used GRDB.
    package static func done(_ connection: SQLiteConnection) throws -> Set<String> {
        guard try tables(connection).contains("grdb_migrations") else { return [] }
        return Set(try connection.texts("SELECT identifier FROM grdb_migrations"))
    }

    package static func tables(_ connection: SQLiteConnection) throws -> Set<String> {
        Set(try connection.texts("SELECT name FROM sqlite_master WHERE type = 'table'"))
    }
}

extension Schema {
    /// A table, an index, a view or a trigger.
    private struct Object: Hashable {
        let type: String
        let name: String
        let table: String
        /// The statement that makes it, with one blank for each gap; empty if SQLite has made it.
        let sql: String

        /// SQLite's own tables: the numbers of rows that were counted up, and what `ANALYZE` has found.
        var isInternal: Bool { type == "table" && ["sqlite_sequence", "sqlite_stat1", "sqlite_stat4"].contains(name) }

        /// The type and the name, for messages.
        var shown: String { type + " " + String(name.prefix(64)).escaped }
    }

    /// What the file contains that no applied step makes, and what it should contain and does not. Empty if the file is as
    /// this program makes it.
    package func foreign(_ connection: SQLiteConnection) throws -> [String] {
        let (found, done) = try connection.snapshot { (try Self.objects(connection), try Self.done(connection)) }
        guard !found.isEmpty else { return [] }
        let expected = try expected(after: done)
        let strange = found.subtracting(expected).map { "not of this program: \($0.shown)" }
        let names = Set(found.map(\.shown))
        let absent = expected.filter { !names.contains($0.shown) }.map { "missing: \($0.shown)" }
        return strange.sorted() + absent.sorted()
    }

    /// Throws ``StoreError/unusable(_:)`` if one of the tables that the applied steps make is not there. What else the file
    /// contains does not matter to who only reads it.
    package func requireTables(_ connection: SQLiteConnection) throws {
        _ = try missing(connection)
        if let absent = try foreign(connection).first(where: { $0.hasPrefix("missing: table ") }) {
            throw StoreError.unusable(absent)
        }
    }

    /// Throws ``StoreError/unusable(_:)`` if the file contains what no step makes, such as a trigger that gives wrong PINs
    /// back, or a view in the place of a table.
    package func requireOwn(_ connection: SQLiteConnection) throws {
        // A file of a newer program contains what this one does not know.
        _ = try missing(connection)
        let foreign = try foreign(connection)
        guard foreign.isEmpty else {
            let more = foreign.count > 3 ? ", and \(foreign.count - 3) more" : ""
            throw StoreError.unusable(
                "somebody has changed its schema: " + foreign.prefix(3).joined(separator: ", ") + more)
        }
    }

    /// What a file contains after these steps.
    private func expected(after done: Set<String>) throws -> Set<Object> {
        let model = try SQLiteConnection(path: ":memory:")
        try model.run(Self.table)
        for step in steps where done.contains(step.name) { try Self.apply(step, model) }
        return try Self.objects(model)
    }

    private static func objects(_ connection: SQLiteConnection) throws -> Set<Object> {
        var objects: Set<Object> = []
        try connection.run("SELECT type, name, tbl_name, sql FROM sqlite_master") { row in
            let sql = row.text(3).split(whereSeparator: \.isWhitespace).joined(separator: " ")
            objects.insert(Object(type: row.text(0), name: row.text(1), table: row.text(2), sql: sql))
        }
        return objects.filter { !$0.isInternal }
    }
}

extension String {
    /// The text in ASCII, for one line of a message: whoever can write to a database can give things any name.
    var escaped: String { unicodeScalars.map { $0.escaped(asASCII: true) }.joined() }
}

/// The schema of rps.sqlite.
extension Schema {
    package static let items = Schema([
        Step("1: registration and login", first), Step("2: tables of items", second),
        // This step does not change the table. It stops earlier versions, which cannot read packed identities, from
        // opening the file.
        Step("3: identities are packed", []),
    ])

    /// In these tables, hashes have 32 bytes and times are microseconds since 1970.
    private static let first = [
        "CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
        """
        CREATE TABLE registration (
            id_hash BLOB PRIMARY KEY,
            mpin_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            reg_ott_hash BLOB NOT NULL,
            active INTEGER NOT NULL,
            issued INTEGER NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE identity (
            id_hash BLOB PRIMARY KEY,
            mpin_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            registered INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0
        ) STRICT
        """,
        """
        CREATE TABLE pass1 (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id_hash BLOB NOT NULL,
            u BLOB NOT NULL,
            y BLOB NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX pass1_id ON pass1 (id_hash)",
        """
        CREATE TABLE token (
            ott_hash BLOB PRIMARY KEY,
            id_hash BLOB NOT NULL,
            status INTEGER NOT NULL,
            expires INTEGER NOT NULL
        ) STRICT
        """,
        "CREATE INDEX registration_expires ON registration (expires)",
        "CREATE INDEX pass1_expires ON pass1 (expires)",
        "CREATE INDEX token_expires ON token (expires)",
    ]

    /// The statements that make the table of a ``SQLiteStore``'s items.
    package static let itemTable = [
        """
        CREATE TABLE item (
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            value BLOB NOT NULL,
            expires INTEGER,
            PRIMARY KEY (kind, key)
        ) STRICT, WITHOUT ROWID
        """,
        "CREATE INDEX item_expires ON item (expires) WHERE expires IS NOT NULL",
    ]

    /// Copies the items of all kinds into one table, their values in JSON, with times in microseconds since 1970. Pass
    /// 1 records and tokens are not copied, because they are valid for a minute at most.
    private static let second =
        itemTable + [
            "INSERT INTO item SELECT 'setting', name, CAST(json_quote(value) AS BLOB), NULL FROM setting",
            """
            INSERT INTO item SELECT 'registration', lower(hex(id_hash)), CAST(json_object(
                'id', mpin_id, 'userID', user_id, 'regOTTHash', lower(hex(reg_ott_hash)),
                'isActive', json(iif(active, 'true', 'false')), 'isIssued', json(iif(issued, 'true', 'false'))
            ) AS BLOB), expires FROM registration
            """,
            """
            INSERT INTO item SELECT 'identity', lower(hex(id_hash)), CAST(json_object(
                'mpinID', mpin_id, 'userID', user_id, 'keyID', '1', 'registered', registered, 'attempts', attempts,
                'failuresSinceSuccess', attempts
            ) AS BLOB), NULL FROM identity
            """,
        ] + ["setting", "registration", "identity", "pass1", "token"].map { "DROP TABLE \($0)" }
}

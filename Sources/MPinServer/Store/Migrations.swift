import GRDB

/// The schema of rps.sqlite. A released migration is never changed: a new one goes behind it.
enum Migrations {
    static var rps: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: registration and login") { db in
            for statement in first { try db.execute(sql: statement) }
        }
        return migrator
    }

    /// Hashes are 32 bytes, times microseconds since 1970.
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
}

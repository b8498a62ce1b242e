package import GRDB

/// The schema of rps.sqlite. A released migration is never changed: a new one goes behind it.
package enum Migrations {
    package static var rps: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: registration and login") { db in
            for statement in first { try db.execute(sql: statement) }
        }
        migrator.registerMigration("2: tables of items") { db in
            for statement in second { try db.execute(sql: statement) }
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

    /// Items of every kind in one table, their values in JSON, the times in it in microseconds since 1970. Pass 1
    /// records and tokens, good for a minute at most, are not taken along.
    private static let second =
        [
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

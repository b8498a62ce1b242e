import MPinStore

/// The schema of a D-TA's file. A released step is never changed; new ones are added at the end.
enum MasterShareSchema {
    static let shares = Schema([
        Schema.Step("1: master share", [first]), Schema.Step("2: rotation and passphrase", second),
    ])

    private static let first = """
        CREATE TABLE master_share (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            sealed BLOB NOT NULL,
            start_time TEXT NOT NULL
        ) STRICT
        """

    /// `sealed` is NULL once a retired share is erased; `served_until` is NULL for the current one, and there is only
    /// one. The number of an erased share is not given out again.
    private static let second = [
        "ALTER TABLE master_share RENAME TO master_share_1",
        """
        CREATE TABLE master_share (
            key_id INTEGER PRIMARY KEY,
            sealed BLOB,
            start_time TEXT NOT NULL,
            served_until TEXT
        ) STRICT
        """,
        "INSERT INTO master_share (key_id, sealed, start_time) SELECT id, sealed, start_time FROM master_share_1",
        "DROP TABLE master_share_1",
        "CREATE UNIQUE INDEX one_current ON master_share (served_until IS NULL) WHERE served_until IS NULL",
        """
        CREATE TABLE passphrase (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            salt BLOB NOT NULL,
            passes INTEGER NOT NULL,
            kibibytes INTEGER NOT NULL
        ) STRICT
        """,
    ]
}

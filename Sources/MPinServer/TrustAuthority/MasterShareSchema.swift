package import MPinStore

/// The schema of a D-TA's database file. A released step is never changed; new ones are added at the end.
package enum MasterShareSchema {
    package static let shares = Schema([
        Schema.Step(firstStep, [first]), Schema.Step("2: rotation and passphrase", second),
        Schema.Step("3: tables of items", Schema.itemTable + third),
    ])

    /// The name of the first step. Every database of a D-TA contains it, and no other database does.
    static let firstStep = "1: master share"

    private static let first = """
        CREATE TABLE master_share (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            sealed BLOB NOT NULL,
            start_time TEXT NOT NULL
        ) STRICT
        """

    /// The column `sealed` is NULL after a retired share was erased. `served_until` is NULL for the current share, of
    /// which there is only one. The number of an erased share is not used again.
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

    /// Copies the rows into items, with the sealed shares and the salts in hex.
    private static let third = [
        """
        INSERT INTO item SELECT 'master_share', CAST(key_id AS TEXT), CAST(json_object(
            'sealed', iif(sealed IS NULL, NULL, lower(hex(sealed))), 'startTime', start_time,
            'servedUntil', served_until
        ) AS BLOB), NULL FROM master_share
        """,
        """
        INSERT INTO item SELECT 'passphrase', CAST(id AS TEXT), CAST(json_object(
            'salt', lower(hex(salt)), 'passes', passes, 'kibibytes', kibibytes
        ) AS BLOB), NULL FROM passphrase
        """,
        "DROP TABLE master_share",
        "DROP TABLE passphrase",
    ]
}

import MPinSecrets
import MPinStore

/// Makes files of D-TAs in the formats of earlier versions.
enum OldAuthorityFile {
    /// Makes a file of the first release, with one share.
    static func plant(_ path: String, _ master: [UInt8], _ key: SecretBytes, start: String) throws {
        let database = try empty(path, ["1: master share"])
        try database.run(
            """
            CREATE TABLE master_share (
                id INTEGER PRIMARY KEY CHECK (id = 1), sealed BLOB NOT NULL, start_time TEXT NOT NULL
            ) STRICT
            """)
        try database.run(
            "INSERT INTO master_share VALUES (1, ?, ?)", [.bytes(try box(master, key, start)), .text(start)])
    }

    /// Makes a file of the later versions, which could rotate shares, but stored them in a table of their own and not
    /// as items of a ``Store``.
    static func withRows(_ path: String) throws -> SQLiteConnection {
        let database = try empty(path, ["1: master share", "2: rotation and passphrase"])
        try database.run(
            """
            CREATE TABLE master_share (
                key_id INTEGER PRIMARY KEY, sealed BLOB, start_time TEXT NOT NULL, served_until TEXT
            ) STRICT
            """)
        try database.run(
            "CREATE UNIQUE INDEX one_current ON master_share (served_until IS NULL) WHERE served_until IS NULL")
        try database.run(
            """
            CREATE TABLE passphrase (
                id INTEGER PRIMARY KEY CHECK (id = 1), salt BLOB NOT NULL, passes INTEGER NOT NULL,
                kibibytes INTEGER NOT NULL
            ) STRICT
            """)
        return database
    }

    /// Returns a sealed master share. `place` is sealed with it as associated data, to tie the share to its row of the
    /// file: the key id (left out for the first share) and the start time.
    static func box(_ master: [UInt8], _ key: SecretBytes, _ place: String) throws -> [UInt8] {
        try SealedBox.seal(
            master.span, key: key, associatedData: Array("libmpin D-TA master share \(place)".utf8))
    }

    private static func empty(_ path: String, _ steps: [String]) throws -> SQLiteConnection {
        let database = try SQLiteConnection(path: path, creates: true)
        try database.run("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        for step in steps { try database.run("INSERT INTO grdb_migrations VALUES (?)", [.text(step)]) }
        return database
    }
}

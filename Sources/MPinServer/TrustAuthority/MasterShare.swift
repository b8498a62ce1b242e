import Foundation
import GRDB
import MPinCrypto
package import MPinSecrets

/// A D-TA's master secret share and when it was made.
package struct MasterShare: Sendable {
    /// Scalar in 1..<r, 32 bytes.
    package let secret: SecretBytes
    package let startTime: Moment

    /// Opens the share that lies sealed in the SQLite file, or makes it there, once, from the system's generator.
    package static func load(database path: String, sealKey: SecretBytes, now: Moment) throws -> MasterShare {
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        try migrator.migrate(database)
        return try database.write { db in
            if let row = try Row.fetchOne(db, sql: "SELECT sealed, start_time FROM master_share") {
                return try opened(row["sealed"], startTime: row["start_time"], sealKey: sealKey)
            }
            let share = try generated(at: now)
            let box = try SealedBox.seal(share.secret.span, key: sealKey, associatedData: purpose(share.startTime))
            try db.execute(
                sql: "INSERT INTO master_share (id, sealed, start_time) VALUES (1, ?, ?)",
                arguments: [Data(box), share.startTime.iso])
            return share
        }
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1: master share") { db in
            try db.execute(
                sql: """
                    CREATE TABLE master_share (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        sealed BLOB NOT NULL,
                        start_time TEXT NOT NULL
                    ) STRICT
                    """)
        }
        return migrator
    }

    private static func generated(at now: Moment) throws -> MasterShare {
        let secret = SecretBytes(count: MPinSize.scalar)
        var bytes = secret.mutableSpan
        try RandomScalar.generate(into: &bytes, random: systemRandom)
        return MasterShare(secret: secret, startTime: Moment(microseconds: now.seconds * 1_000_000))
    }

    private static func opened(_ box: Data, startTime: String, sealKey: SecretBytes) throws -> MasterShare {
        guard let start = Moment(startTime) else { throw StartError("the stored master share has no start time") }
        do {
            let secret = try SealedBox.open(Array(box), key: sealKey, associatedData: purpose(start))
            return MasterShare(secret: secret, startTime: start)
        } catch {
            throw StartError("the stored master share does not open under this key file")
        }
    }

    /// Ties a box to its use and to the time that clients are told.
    private static func purpose(_ startTime: Moment) -> [UInt8] {
        Array("libmpin D-TA master share \(startTime.iso)".utf8)
    }
}

import Foundation
import GRDB
import MPinSecrets
import MPinService
package import MPinStore

/// The SQLite file of a D-TA: its master shares, each sealed, and nothing else.
package final class MasterShareDatabase: Sendable {
    private let lock: DatabaseLock
    private let database: DatabaseQueue
    private let key: SecretBytes
    /// Whether the file was made now, with a first share.
    let isNew: Bool

    /// Opens the file, or creates it with a first share. Throws `StartError` where `seal` does not open its shares.
    package init(path: String, seal: Seal, now: Moment) throws {
        lock = try DatabaseLock(sharing: path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        let database = try DatabaseQueue(path: path, configuration: configuration)
        guard try !database.read({ try MasterShareSchema.migrator.hasBeenSuperseded($0) }) else {
            throw StartError("made by a newer version of this program")
        }
        try MasterShareSchema.migrator.migrate(database)
        self.database = database
        (key, isNew) = try database.write { db in
            let (key, isNew) = (try Self.sealingKey(db, seal), try Self.rows(db).isEmpty)
            if isNew { try Self.insert(db, .generated(keyID: "1", at: now), key: key) }
            return (key, isNew)
        }
        try checkSeal(seal)
    }

    /// Opens the file of a D-TA that has run before.
    package convenience init(existing path: String, seal: Seal, now: Moment) throws {
        guard FileManager.default.fileExists(atPath: path) else { throw StartError("\(path): no such database") }
        do { try self.init(path: path, seal: seal, now: now) } catch let error as StartError {
            throw StartError("\(path): \(error)")
        }
    }

    /// The shares that are not erased, oldest first.
    package func shares() throws -> [MasterShare] {
        try database.read { db in try Self.rows(db).compactMap { try self.opened($0) } }
    }

    /// Makes a new current share; the one before it is served until `end`.
    package func rotate(serveOldUntil end: Moment, at now: Moment) throws -> MasterShare {
        try database.write { db in
            let newest = try Int.fetchOne(db, sql: "SELECT max(key_id) FROM master_share") ?? 0
            let share = try MasterShare.generated(keyID: String(newest + 1), at: now)
            try db.execute(
                sql: "UPDATE master_share SET served_until = ? WHERE served_until IS NULL", arguments: [end.iso])
            try Self.insert(db, share, key: key)
            return share
        }
    }

    /// Erases the shares that are no longer served; the number of them.
    package func eraseRetired(at now: Moment) throws -> Int {
        let count = try database.write { db in
            // The pages that held a share are overwritten, too.
            try db.execute(sql: "PRAGMA secure_delete = ON")
            try db.execute(
                sql: "UPDATE master_share SET sealed = NULL WHERE sealed IS NOT NULL AND served_until <= ?",
                arguments: [now.iso])
            return db.changesCount
        }
        return count
    }
}

extension MasterShareDatabase {
    private static func rows(_ db: Database) throws -> [Row] {
        try Row.fetchAll(db, sql: "SELECT * FROM master_share ORDER BY key_id")
    }

    private static func insert(_ db: Database, _ share: MasterShare, key: SecretBytes) throws {
        let box = try SealedBox.seal(
            share.secret.span, key: key, associatedData: purpose(share.keyID, share.startTime))
        try db.execute(
            sql: "INSERT INTO master_share (key_id, sealed, start_time) VALUES (?, ?, ?)",
            arguments: [Int(share.keyID), Data(box), share.startTime.iso])
    }

    /// Nil for an erased share.
    private func opened(_ row: Row) throws -> MasterShare? {
        guard let box = row["sealed"] as Data? else { return nil }
        let keyID = String(row["key_id"] as Int)
        guard let start = Moment(row["start_time"]) else {
            throw StartError("master share \(keyID) has no start time")
        }
        let secret = try SealedBox.open(Array(box), key: key, associatedData: Self.purpose(keyID, start))
        let end = row["served_until"] as String?
        // An end that cannot be read has passed: better no share than one for ever.
        return MasterShare(
            keyID: keyID, secret: secret, startTime: start,
            servedUntil: end.map { Moment($0) ?? Moment(microseconds: 0) })
    }

    private func checkSeal(_ seal: Seal) throws {
        do { _ = try shares() } catch is SealedBox.Failure {
            throw StartError("the stored master share does not open under this \(seal.name)")
        }
    }

    /// Ties a box to its use, its key id and the time that clients are told. The first share keeps the words of the
    /// release that knew no other.
    private static func purpose(_ keyID: String, _ startTime: Moment) -> [UInt8] {
        Array("libmpin D-TA master share \(keyID == "1" ? "" : "\(keyID) ")\(startTime.iso)".utf8)
    }

    /// The key of the boxes. Under a passphrase all of them share one salt, so that a start derives one key.
    private static func sealingKey(_ db: Database, _ seal: Seal) throws -> SecretBytes {
        let stored = try Row.fetchOne(db, sql: "SELECT salt, passes, kibibytes FROM passphrase")
        switch seal {
        case .key(let key):
            guard stored == nil else {
                throw StartError("the master share is sealed by a passphrase, not by a key file")
            }
            return key
        case .passphrase(let passphrase):
            if let stored { return try derived(passphrase, derivation(stored)) }
            guard try rows(db).isEmpty else {
                throw StartError("the master share is sealed by a key file, not by a passphrase")
            }
            let fresh = Argon2id(passes: 3, kibibytes: kibibytes, salt: try randomBytes(Argon2id.saltSize))
            try db.execute(
                sql: "INSERT INTO passphrase (id, salt, passes, kibibytes) VALUES (1, ?, ?, ?)",
                arguments: [fresh.map { Data($0.salt) }, fresh?.passes, fresh?.kibibytes])
            return try derived(passphrase, fresh)
        }
    }

    /// 256 MiB: a D-TA derives its key once a start, on a machine that does nothing else.
    private static let kibibytes: UInt32 = 256 << 10

    private static func derivation(_ row: Row) -> Argon2id? {
        Argon2id(passes: row["passes"], kibibytes: row["kibibytes"], salt: Array(row["salt"] as Data))
    }

    private static func derived(_ passphrase: SecretBytes, _ derivation: Argon2id?) throws -> SecretBytes {
        guard let derivation else { throw StartError("the stored passphrase parameters are out of bounds") }
        guard let key = derivation.key(passphrase) else {
            throw StartError(
                "not enough memory to derive a key from the passphrase (\(derivation.kibibytes >> 10) MiB)")
        }
        return key
    }
}

import Foundation
import MPinSecrets
import MPinService
package import MPinStore
import Synchronization

/// The SQLite file of a D-TA: its master shares, each sealed, and nothing else.
package final class MasterShareDatabase: Sendable {
    private let lock: DatabaseLock
    private let database: Mutex<SQLiteConnection>
    private let key: SecretBytes
    /// Whether `init` has created the file, with a first share.
    let isNew: Bool

    /// Opens the file, or creates it with a first share. Throws `StartError` if `seal` does not open its shares.
    package init(path: String, seal: Seal, now: Moment) throws {
        lock = try DatabaseLock(sharing: path)
        let connection = try SQLiteConnection(path: path, creates: true)
        do { try MasterShareSchema.shares.upgrade(connection) } catch StoreError.unusable(let reason) {
            throw StartError(reason)
        }
        (key, isNew) = try connection.transaction {
            let (key, isNew) = (try Self.sealingKey(connection, seal), try Self.rows(connection).isEmpty)
            if isNew { try Self.insert(connection, .generated(keyID: "1", at: now), key: key) }
            return (key, isNew)
        }
        do { _ = try Self.shares(connection, key: key) } catch is SealedBox.Failure {
            throw StartError("the stored master share does not open under this \(seal.name)")
        }
        database = Mutex(connection)
    }

    /// Opens the file of a D-TA that has run before.
    package convenience init(existing path: String, seal: Seal, now: Moment) throws {
        guard FileManager.default.fileExists(atPath: path) else { throw StartError("\(path): no such database") }
        do { try self.init(path: path, seal: seal, now: now) } catch let error as StartError {
            throw StartError("\(path): \(error)")
        }
    }

    /// The shares that are not erased, oldest first.
    package func shares() throws -> [MasterShare] { try database.withLock { try Self.shares($0, key: key) } }

    /// Makes a new current share; the one before it is served until `end`.
    package func rotate(serveOldUntil end: Moment, at now: Moment) throws -> MasterShare {
        try database.withLock { try Self.rotate($0, key: key, serveOldUntil: end, at: now) }
    }

    /// Erases the shares that are no longer served and returns their number.
    package func eraseRetired(at now: Moment) throws -> Int {
        try database.withLock { try Self.eraseRetired($0, at: now) }
    }
}

extension MasterShareDatabase {
    private struct Row {
        let keyID: Int64
        let sealed: [UInt8]?
        let startTime: String
        let servedUntil: String?
    }

    private static func rows(_ connection: SQLiteConnection) throws -> [Row] {
        var rows: [Row] = []
        try connection.run("SELECT key_id, sealed, start_time, served_until FROM master_share ORDER BY key_id") {
            rows.append(
                Row(
                    keyID: $0.integer(0) ?? 0, sealed: $0.isNull(1) ? nil : $0.bytes(1), startTime: $0.text(2),
                    servedUntil: $0.optionalText(3)))
        }
        return rows
    }

    private static func rotate(
        _ connection: SQLiteConnection, key: SecretBytes, serveOldUntil end: Moment, at now: Moment
    ) throws -> MasterShare {
        try connection.transaction {
            let newest = try rows(connection).last?.keyID ?? 0
            let share = try MasterShare.generated(keyID: String(newest + 1), at: now)
            try connection.run(
                "UPDATE master_share SET served_until = ? WHERE served_until IS NULL", [.text(end.iso)])
            try insert(connection, share, key: key)
            return share
        }
    }

    private static func eraseRetired(_ connection: SQLiteConnection, at now: Moment) throws -> Int {
        // This also overwrites the pages of the file that contained a share.
        try connection.run("PRAGMA secure_delete = ON")
        return try connection.transaction {
            try connection.run(
                "UPDATE master_share SET sealed = NULL WHERE sealed IS NOT NULL AND served_until <= ?",
                [.text(now.iso)])
            return connection.changes
        }
    }

    private static func insert(_ connection: SQLiteConnection, _ share: MasterShare, key: SecretBytes) throws {
        let box = try SealedBox.seal(
            share.secret.span, key: key, associatedData: purpose(share.keyID, share.startTime))
        try connection.run(
            "INSERT INTO master_share (key_id, sealed, start_time) VALUES (?, ?, ?)",
            [.integer(Int64(share.keyID)), .bytes(box), .text(share.startTime.iso)])
    }

    private static func shares(_ connection: SQLiteConnection, key: SecretBytes) throws -> [MasterShare] {
        try rows(connection).compactMap { try opened($0, key: key) }
    }

    /// Opens the share of a row; nil if it was erased.
    private static func opened(_ row: Row, key: SecretBytes) throws -> MasterShare? {
        guard let box = row.sealed else { return nil }
        let keyID = String(row.keyID)
        guard let start = Moment(row.startTime) else { throw StartError("master share \(keyID) has no start time") }
        let secret = try SealedBox.open(box, key: key, associatedData: purpose(keyID, start))
        // An unreadable end counts as past, so that the share is not served for ever.
        return MasterShare(
            keyID: keyID, secret: secret, startTime: start,
            servedUntil: row.servedUntil.map { Moment($0) ?? Moment(microseconds: 0) })
    }

    /// Binds a box to its use, its key id and the time that clients get. The first share has the text of the release
    /// that had only one.
    private static func purpose(_ keyID: String, _ startTime: Moment) -> [UInt8] {
        Array("libmpin D-TA master share \(keyID == "1" ? "" : "\(keyID) ")\(startTime.iso)".utf8)
    }

    /// The key of the boxes. Under a passphrase all of them share one salt, so that a start derives one key.
    private static func sealingKey(_ connection: SQLiteConnection, _ seal: Seal) throws -> SecretBytes {
        let stored = try derivations(connection).first
        switch seal {
        case .key(let key):
            guard stored == nil else {
                throw StartError("the master share is sealed by a passphrase, not by a key file")
            }
            return key
        case .passphrase(let passphrase):
            if let stored { return try derived(passphrase, stored) }
            guard try rows(connection).isEmpty else {
                throw StartError("the master share is sealed by a key file, not by a passphrase")
            }
            let fresh = Argon2id(passes: 3, kibibytes: kibibytes, salt: try randomBytes(Argon2id.saltSize))
            guard let fresh else { return try derived(passphrase, nil) }
            try connection.run(
                "INSERT INTO passphrase (id, salt, passes, kibibytes) VALUES (1, ?, ?, ?)",
                [.bytes(fresh.salt), .integer(Int64(fresh.passes)), .integer(Int64(fresh.kibibytes))])
            return try derived(passphrase, fresh)
        }
    }

    /// 256 MiB. A D-TA derives its key only once at each start, on a machine that does nothing else.
    private static let kibibytes: UInt32 = 256 << 10

    /// The parameters for the stored passphrase; nil if they are out of bounds.
    private static func derivations(_ connection: SQLiteConnection) throws -> [Argon2id?] {
        var found: [Argon2id?] = []
        try connection.run("SELECT salt, passes, kibibytes FROM passphrase") { row in
            guard let passes = row.integer(1).flatMap({ UInt32(exactly: $0) }),
                let kibibytes = row.integer(2).flatMap({ UInt32(exactly: $0) })
            else { return found.append(nil) }
            found.append(Argon2id(passes: passes, kibibytes: kibibytes, salt: row.bytes(0)))
        }
        return found
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

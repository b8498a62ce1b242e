import Foundation
import GRDB
import Glibc
import MPinSecrets

/// Copies of a part's database, taken while the server runs, and put back while it does not.
package enum Backup {
    /// Writes a consistent copy of a running server's database to a new file that only its owner can read. Master
    /// shares stay sealed in it; their key or passphrase is not in it.
    package static func save(_ database: String, to path: String) throws -> DatabaseKind {
        guard access(database, F_OK) == 0 else { throw StartError("\(database): no such database") }
        guard access(path, F_OK) != 0 else { throw StartError("\(path): exists") }
        let draft = try Self.draft(path)
        defer { unlink(draft) }
        do {
            var configuration = Configuration()
            configuration.busyMode = .timeout(5)
            try DatabaseQueue(path: database, configuration: configuration)
                .vacuum(into: draft)
        } catch { throw StartError("\(database): cannot be copied (\(error))") }
        let kind = try DatabaseKind(checking: draft)
        try finish(draft)
        guard link(draft, path) == 0 else { throw StartError("\(path): \(String(cString: strerror(errno)))") }
        try syncFolder(of: path)
        return kind
    }

    /// What a restore did.
    package struct Restored: Sendable {
        package let kind: DatabaseKind
        /// Where the database lies that was there before.
        package var replaced: String?
        /// Identities that were blocked, revoked or tried since the backup and stay so; nil: the old file cannot be read.
        package var carriedOver: Int?
    }

    /// Puts a copy of the backup in the place of the database, which is moved aside. `seal`: also checks that a D-TA's
    /// shares open.
    ///
    /// An older state would forgive what has happened since: so each identity keeps the blocks, the revocation and the
    /// wrong PINs that the old file knows of. What was registered after the backup is gone.
    package static func restore(
        _ path: String, to database: String, seal: Seal?, at now: Moment
    ) async throws -> Restored {
        guard access(path, F_OK) == 0 else { throw StartError("\(path): no such file") }
        guard let lock = try DatabaseLock(replacing: database) else {
            throw StartError("\(database): in use; stop the server first")
        }
        defer { withExtendedLifetime(lock) {} }
        let draft = try Self.draft(database)
        defer { for suffix in suffixes { unlink(draft + suffix) } }
        try FileManager.default.copyItem(atPath: path, toPath: draft)
        guard chmod(draft, 0o600) == 0 else { throw StartError("\(draft): \(String(cString: strerror(errno)))") }
        var restored = Restored(kind: try DatabaseKind(checking: draft))
        if restored.kind == .dta, let seal {
            do { _ = try MasterShareDatabase(path: draft, seal: seal, now: now) } catch {
                throw StartError("\(path): \(error)")
            }
        }
        if access(database, F_OK) == 0 {
            let present = try? DatabaseKind(checking: database)
            guard present == nil || present == restored.kind else {
                throw StartError("\(path): of another part of the server than \(database)")
            }
            let aside = "\(database).before-\(now.isoWithMicroseconds)"
            if present == nil {
                try moveAside(database, to: aside)
            } else {
                // A copy: there is a whole database under the name at every moment.
                try finish(database)
                try FileManager.default.copyItem(atPath: database, toPath: aside)
            }
            restored.replaced = aside
            if present == .rps { restored.carriedOver = try await carryOver(from: aside, to: draft, at: now) }
            unlink(aside + ".lock")
        }
        try finish(draft)
        guard rename(draft, database) == 0 else { throw StartError("\(database): \(String(cString: strerror(errno)))") }
        try syncFolder(of: database)
        return restored
    }

    private static let suffixes = ["", "-wal", "-shm", "-journal", ".lock"]

    private static func draft(_ path: String) throws -> String { "\(path).\(Hex.encode(try randomBytes(8))).new" }

    /// A damaged database with what belongs to it: its log must not be taken for that of the new one.
    private static func moveAside(_ database: String, to aside: String) throws {
        for suffix in suffixes.dropLast() where access(database + suffix, F_OK) == 0 {
            guard rename(database + suffix, aside + suffix) == 0 else {
                throw StartError("\(database): \(String(cString: strerror(errno)))")
            }
        }
    }

    private static func carryOver(from old: String, to draft: String, at now: Moment) async throws -> Int {
        let (old, new) = (try identities(old), try identities(draft))
        var (count, key): (Int, String?) = (0, nil)
        while true {
            let page = try await old.list(after: key, limit: 500, at: now)
            for (key, record) in page where try await new.contains(key, at: now) {
                let changed = try await new.update(key, at: now) { entry in
                    let before = entry?.value
                    entry?.value.keepStricter(record)
                    return entry?.value != before
                }
                count += changed ? 1 : 0
            }
            guard let last = page.last else { return count }
            key = last.key
        }
    }

    private static func identities(_ path: String) throws -> Table<IdentityRecord> {
        Table("identity", in: try SQLiteStore(path: path))
    }
}

extension Backup {
    /// Brings a copy to the disk as one file.
    private static func finish(_ path: String) throws {
        let database = try DatabaseQueue(path: path)
        try database.writeWithoutTransaction { db in try db.execute(sql: "PRAGMA journal_mode = DELETE") }
        try database.close()
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0, fsync(file) == 0 else { throw StartError("\(path): \(String(cString: strerror(errno)))") }
        close(file)
    }

    private static func syncFolder(of path: String) throws {
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}

extension IdentityRecord {
    /// The worse of both, as far as logins are refused by it.
    fileprivate mutating func keepStricter(_ other: IdentityRecord) {
        blocked = blocked || other.blocked
        revoked = revoked || other.revoked
        blockedUntil = [blockedUntil, other.blockedUntil].compactMap(\.self).max()
        attempts = max(attempts, other.attempts)
        failuresSinceSuccess = max(failuresSinceSuccess, other.failuresSinceSuccess)
    }
}

import Foundation
import Glibc
import MPinSecrets
import MPinService
package import MPinStore

/// Replaces a database by a copy of a backup. The old database is kept under another name.
///
/// The backup does not contain what happened after it. So each identity keeps the blocks, the revocation and the wrong
/// PINs of the replaced database. Registrations after the backup are lost, and their users are told so
/// (``LostRegistrations``).
///
/// All checks and copies are made in `init`. So if several databases are restored, none of them is replaced before the
/// copies for all are ready.
package final class Restore {
    /// The result of a restore.
    package struct Outcome: Sendable {
        package let kind: DatabaseKind
        /// The path of the replaced database.
        package var replaced: String?
        /// How many identities keep a block, a revocation or wrong PINs from the time after the backup; nil for a D-TA,
        /// or if the replaced database cannot be read.
        package var carriedOver: Int?
    }

    private let lock: DatabaseLock
    private let database: String
    /// The key of the server, if it is that of an RPS.
    private let service: ServiceDatabase
    private let draft: String
    private let aside: String
    private let kind: DatabaseKind
    /// Whether the current database is intact and `aside` is a copy of it.
    private var isCopied = false
    private var isDone = false
    private var carriedOver: Int?

    /// Checks the backup at `path` and prepares its copy. If `seal` is given, it must open the shares of a D-TA's
    /// backup. `serviceKeyFile`: the key file of an RPS; nil for the one beside the database.
    package init(
        _ path: String, to database: String, seal: Seal?, serviceKeyFile: String? = nil, at now: Moment
    ) async throws {
        guard access(path, F_OK) == 0 else { throw StartError("\(path): no such file") }
        guard let lock = try DatabaseLock(replacing: database) else {
            throw StartError("\(database): in use; stop the server first")
        }
        self.lock = lock
        self.database = database
        service = ServiceDatabase(database, keyFile: serviceKeyFile)
        aside = "\(database).before-\(now.isoWithMicroseconds)"
        draft = try Backup.draft(database)
        do {
            try Self.copy(path, to: draft)
            kind = try DatabaseKind(checking: draft, of: path)
        } catch {
            Self.remove(draft)
            throw error
        }
        if kind == .dta, let seal {
            do { try await Self.checkShares(in: draft, seal, at: now) } catch {
                throw StartError("\(path): \(error)")
            }
        }
        if access(database, F_OK) == 0 { try await copyCurrent(path, at: now) }
        if kind == .rps {
            try await noteLost(in: draft, at: now)
            try await keepTokens(of: isCopied ? aside : nil, in: draft, at: now)
            try await bindRecords(of: draft)
        }
        try Backup.finish(draft)
    }

    deinit {
        Self.remove(draft)
        if isCopied, !isDone { Self.remove(aside) }
    }

    /// Replaces the database by the prepared copy.
    package func run() throws -> Outcome {
        var outcome = Outcome(kind: kind, carriedOver: carriedOver)
        if access(database, F_OK) == 0 { outcome.replaced = aside }
        if outcome.replaced != nil, !isCopied { try rename(database, aside) }
        isDone = true
        // SQLite would take a remaining log of the old database for one of the new database.
        for suffix in Self.logs where access(database + suffix, F_OK) == 0 {
            try rename(database + suffix, aside + suffix)
        }
        try rename(draft, database)
        try Backup.syncFolder(of: database)
        return outcome
    }

    private static let logs = ["-wal", "-shm", "-journal"]

    private static func remove(_ path: String) { for suffix in ["", ".lock"] + logs { unlink(path + suffix) } }

    private func rename(_ old: String, _ new: String) throws {
        guard Glibc.rename(old, new) == 0 else { throw StartError("\(old): \(String(cString: strerror(errno)))") }
    }

    /// Copies the file at `path` to a new file, which only the owner of its folder can read.
    private static func copy(_ path: String, to draft: String) throws {
        let source: FileHandle
        do { source = FileHandle(fileDescriptor: try PlainFile.open(path).file, closeOnDealloc: true) } catch {
            throw StartError("\(error)")
        }
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StartError("\(draft): \(String(cString: strerror(errno)))") }
        giveToFolderOwner(file, draft)
        let target = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        while let part = try source.read(upToCount: 1 << 20), !part.isEmpty { try target.write(contentsOf: part) }
        try target.close()
    }
}

extension Restore {
    /// Copies the current database to `aside`, if it is intact. So it need not be renamed, and there is a database of
    /// this name at every moment. Takes over what has happened to its identities since the backup, also if somebody has put
    /// triggers or views into it: no connection obeys them.
    private func copyCurrent(_ path: String, at now: Moment) async throws {
        guard let present = try? DatabaseKind(checking: database, allowsForeign: true),
            (try? present.schema.requireTables(SQLiteConnection(path: database))) != nil
        else { return }
        guard present == kind else { throw StartError("\(path): of another part of the server than \(database)") }
        try Backup.finish(database)
        isCopied = true
        try Self.copy(database, to: aside)
        if present == .rps { carriedOver = try await carryOver(from: aside, to: draft, at: now) }
        unlink(aside + ".lock")
    }

    private static func checkShares(in draft: String, _ seal: Seal, at now: Moment) async throws {
        let store = try SQLiteStore(path: draft, schema: MasterShareSchema.shares, erases: true)
        _ = try await MasterShareDatabase(in: store, seal: seal, now: now)
        await store.drain()
    }

    private func noteLost(in draft: String, at now: Moment) async throws {
        let file = try SQLiteStore(path: draft)
        let store = try await service.bound(file, isOlder: true)
        try await LostRegistrations.note(in: store, at: now)
        try await ActivationCodes(in: store).clear(at: now)
        await file.drain()
    }

    /// Gives MACs to the records of a backup from the time before the server's records had them.
    private func bindRecords(of draft: String) async throws {
        guard service.keyFile != nil else { return }
        let file = try SQLiteStore(path: draft)
        try await RecordSealing(service).follow(file)
        await file.drain()
    }

    /// Lets the database have the admin tokens and the service tokens of the replaced one, which is at the path `old`.
    private func keepTokens(of old: String?, in draft: String, at now: Moment) async throws {
        let file = try SQLiteStore(path: draft)
        let store = try await service.bound(file, isOlder: true)
        var present: (any Store)?
        if let old {
            present = try await service.bound(try SQLiteStore(path: old, allowsForeign: true), isOlder: true)
        }
        try await AdminTokens(in: store).replace(by: present.map { AdminTokens(in: $0) }, at: now)
        try await ProjectTokens(in: store).replace(by: present.map { ProjectTokens(in: $0) }, at: now)
        await file.drain()
        if let old { unlink(old + ".lock") }
    }

    /// Takes over the id of a service whose backup is from before there were ids, and what has been refused since the backup.
    /// Suspensions of the present database are taken without a look at their MACs: they can only make the new one stricter.
    private func carryOver(from old: String, to draft: String, at now: Moment) async throws -> Int {
        let (file, present) = (try SQLiteStore(path: draft), try SQLiteStore(path: old, allowsForeign: true))
        try await ServiceID.keep(from: present, in: file, at: now)
        let store = try await service.bound(file, isOlder: true)
        let count = try await Self.carryOver(from: present, to: Table("identity", in: store), at: now)
        try await Suspensions(in: store).add(allOf: Suspensions(in: UncheckedStore(present)), at: now)
        await file.drain()
        return count
    }

    /// Takes over what the records of the present database refuse, also those with a wrong MAC: they can only make the new
    /// ones stricter. A record that cannot be read is left out.
    private static func carryOver(
        from old: SQLiteStore, to new: Table<IdentityRecord>, at now: Moment
    ) async throws -> Int {
        var (count, key): (Int, String?) = (0, nil)
        while true {
            let page = try await old.list(new.name, after: key, limit: 500, at: now)
            for (key, item) in page where try await new.contains(key, at: now) {
                guard let record = try? IdentityRecord(stored: RecordMAC.stripped(item).value) else { continue }
                let changed = try await new.update(key, at: now) { entry in
                    let before = entry?.value
                    entry?.value.mergeRefusals(record)
                    return entry?.value != before
                }
                count += changed ? 1 : 0
            }
            guard let last = page.last else { return count }
            key = last.key
        }
    }
}

extension IdentityRecord {
    /// Takes the stricter value of the two records for each member that can make the server refuse a login or the
    /// shares.
    fileprivate mutating func mergeRefusals(_ other: IdentityRecord) {
        if other.isBlockedByOperator { blockByOperator() }
        if other.isSuspended { suspend() }
        blocked = blocked || other.blocked
        revoked = revoked || other.revoked
        if other.isReplaced { successor = other.successor }
        isProven = isProven || other.isProven
        blockedUntil = [blockedUntil, other.blockedUntil].compactMap(\.self).max()
        attempts = max(attempts, other.attempts)
        failuresSinceSuccess = max(failuresSinceSuccess, other.failuresSinceSuccess)
    }
}

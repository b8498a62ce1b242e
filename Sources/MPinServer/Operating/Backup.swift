import Foundation
import Glibc
import MPinSecrets
import MPinService
import MPinStore

/// Copies a part's database while the server runs.
package enum Backup {
    /// Writes a consistent copy of a running server's database to a new file that only its owner can read. Master
    /// shares stay sealed; the copy does not contain their key or passphrase.
    package static func save(_ database: String, to path: String) throws -> DatabaseKind {
        guard access(database, F_OK) == 0 else { throw StartError("\(database): no such database") }
        guard access(path, F_OK) != 0 else { throw StartError("\(path): exists") }
        let draft = try Self.draft(path)
        defer { unlink(draft) }
        do { try SQLiteConnection(path: database).run("VACUUM INTO ?", [.text(draft)]) } catch {
            throw StartError("\(database): cannot be copied (\(error))")
        }
        let kind = try DatabaseKind(checking: draft, of: database)
        try finish(draft)
        guard link(draft, path) == 0 else { throw StartError("\(path): \(String(cString: strerror(errno)))") }
        try syncFolder(of: path)
        return kind
    }

    static func draft(_ path: String) throws -> String { "\(path).\(Hex.encode(try randomBytes(8))).new" }
}

extension Backup {
    /// Turns the database at `path` into a single file, without a write-ahead log, and syncs it to the disk.
    static func finish(_ path: String) throws {
        try SQLiteConnection(path: path).run("PRAGMA journal_mode = DELETE")
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0, fsync(file) == 0 else { throw StartError("\(path): \(String(cString: strerror(errno)))") }
        close(file)
    }

    static func syncFolder(of path: String) throws {
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}

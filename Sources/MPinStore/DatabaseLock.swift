import Glibc

/// Keeps a database file from being replaced while somebody has it open. The system lets go of it when the process ends,
/// however it ends.
///
/// The lock lies in a file of its own: closing any other descriptor of a SQLite file would take SQLite's own locks away.
package final class DatabaseLock: Sendable {
    private let file: Int32

    /// For who opens the database. Waits for a restore that is going on.
    package convenience init(sharing database: String) throws { try self.init(database, LOCK_SH) }

    /// For who replaces it; nil while it is open anywhere.
    package convenience init?(replacing database: String) throws {
        do { try self.init(database, LOCK_EX | LOCK_NB) } catch let error as Failure where error.code == EWOULDBLOCK {
            return nil
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let path: String
        let code: Int32

        var description: String { "\(path): \(String(cString: strerror(code)))" }
    }

    private init(_ database: String, _ operation: Int32) throws {
        let path = database + ".lock"
        let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW
        var file = open(path, flags | O_CREAT | O_EXCL, 0o600)
        if file >= 0 { leaveToServer(file, path) } else { file = open(path, flags) }
        guard file >= 0 else { throw Failure(path: path, code: errno) }
        guard flock(file, operation) == 0 else {
            let code = errno
            close(file)
            throw Failure(path: path, code: code)
        }
        self.file = file
    }

    deinit { close(file) }
}

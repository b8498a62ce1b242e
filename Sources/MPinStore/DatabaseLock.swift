import Glibc
import MPinSecrets

/// Prevents a database file from being replaced while a process has it open. The system releases the lock when the
/// process ends.
///
/// The lock is on a separate file, because SQLite loses its own locks on the database as soon as this process closes
/// any other descriptor of it.
package final class DatabaseLock: Sendable {
    private let file: Int32

    /// Takes the lock of a process that opens the database. Waits while a restore is running.
    package convenience init(sharing database: String) throws { try self.init(database, LOCK_SH) }

    /// Takes the lock of a process that replaces the database. Nil while another process has the database open.
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
        let flags = O_RDWR | O_NOFOLLOW
        let file: Int32
        if let made = try? PlainFile.open(path, flags | O_CREAT | O_EXCL) {
            giveToFolderOwner(made.file, path)
            file = made.file
        } else {
            file = try PlainFile.open(path, flags).file
        }
        guard flock(file, operation) == 0 else {
            let code = errno
            close(file)
            throw Failure(path: path, code: code)
        }
        self.file = file
    }

    deinit { close(file) }
}

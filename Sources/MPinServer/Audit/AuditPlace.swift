import Foundation
import Glibc
package import MPinSecrets
import MPinService

/// The files of an audit log, and how it names users.
package struct AuditPlace: Sendable {
    package enum Users: String, Sendable, CaseIterable {
        case plain
        /// A keyed hash, which is the same in all lines of one user. Without the key nobody can find the user by
        /// hashing names.
        case hashed
        /// Not at all. A line has only the SHA-256 of the M-Pin ID, which contains random bytes. So when a user is
        /// deleted, nothing is left that leads from the lines to the user.
        case identities
    }

    package let log: String
    /// The file of the ``AuditHead``, in the folder of the key.
    package let head: String
    package let key: SecretBytes
    package let users: Users

    /// Reads the key. Throws if its file is in the log's folder or below it.
    package init(log: String, keyFile: String, users: Users = .plain) throws {
        let (logFolder, keyFolder) = (Self.folder(log), Self.folder(keyFile))
        guard !(keyFolder + "/").hasPrefix(logFolder == "/" ? "/" : logFolder + "/") else {
            throw AuditError.keyBesideLog(keyFile)
        }
        self.log = log
        head = "\(keyFolder)/\((log as NSString).lastPathComponent).head"
        key = try loadKey(keyFile)
        self.users = users
    }

    /// The log of a server with all parts in one process.
    package init(stateDir: String, users: Users = .plain) throws {
        try self.init(log: stateDir + "/audit/audit.jsonl", keyFile: stateDir + "/audit.key", users: users)
    }

    /// The name by which the log's lines call `user`. Empty if they have no names of users.
    package func name(_ user: String) -> String {
        let user = UserID.normal(user)
        return switch users {
        case .plain: user
        case .identities: ""
        case .hashed: Hex.encode(Array(HMACSHA256.tag(Array("libmpin audit user\n\(user)".utf8), key: key).prefix(16)))
        }
    }

    /// Opens the head or the current file of the log. Refuses a link, and anything on which opening or reading may wait:
    /// whoever can write to the folder could have put it there. The caller closes the descriptor.
    static func open(_ path: String, _ flags: Int32) throws(AuditError) -> Int32 {
        do { return try PlainFile.open(path, flags | O_NOFOLLOW).file } catch {
            guard case .system(_, let code) = error else { throw .notRegular(path) }
            throw .system(path, code)
        }
    }

    /// The folder of a file, with all symbolic links resolved.
    private static func folder(_ path: String) -> String {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard let real = realpath(folder, nil) else { return folder }
        defer { free(real) }
        return String(cString: real)
    }
}

import Foundation
package import MPinSecrets
import MPinService

/// The files of an audit log, and how it names users.
package struct AuditPlace: Sendable {
    package enum Users: String, Sendable, CaseIterable {
        case plain
        /// A keyed hash: the same for all lines of one user, and nobody without the key can try names.
        case hashed
    }

    package let log: String
    /// ``AuditHead``, in the folder of the key.
    package let head: String
    package let key: SecretBytes
    package let users: Users

    /// Refuses a key in the log's folder or below it.
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

    /// What stands in a line for `user`.
    package func name(_ user: String) -> String {
        let user = UserID.normal(user)
        return switch users {
        case .plain: user
        case .hashed: Hex.encode(Array(HMACSHA256.tag(Array("libmpin audit user\n\(user)".utf8), key: key).prefix(16)))
        }
    }

    /// The folder of a file, with all links followed.
    private static func folder(_ path: String) -> String {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard let real = realpath(folder, nil) else { return folder }
        defer { free(real) }
        return String(cString: real)
    }
}

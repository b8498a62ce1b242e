import Glibc
import MPinSecrets
import MPinService
import MPinStore

/// A file beside the server's own key, which says that the records of its database have MACs. So whoever can write to the
/// database cannot make the server take records without MACs again.
package struct SealedMark: Sendable {
    private let path: String

    /// `keyFile`: the path of the server's own key file.
    package init(keyFile: String) {
        path = (keyFile.hasSuffix(".key") ? String(keyFile.dropLast(".key".utf8.count)) : keyFile) + ".sealed"
    }

    /// Whether a server with this key has seen MACs.
    var isThere: Bool { access(path, F_OK) == 0 || errno != ENOENT }

    /// Makes the file if it is not there. Throws `StartError`.
    func make() throws {
        guard !isThere else { return }
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw StartError("\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        giveToFolderOwner(file, path)
        guard fsync(file) == 0 else { throw StartError("\(path): \(String(cString: strerror(errno)))") }
        try Backup.syncFolder(of: path)
    }

    /// Throws `StartError` if all records of the database had MACs, and it denies that now.
    func require(_ state: Binding.State) throws {
        guard state != .complete, isThere else { return }
        throw StartError(
            "its records have no MACs, but this server's had: \(path) says so. If the database is an earlier one that may be"
                + " used, run `mpind migrate --reseal`")
    }
}

import Foundation
package import Glibc
import MPinSecrets
package import MPinService

/// The folders on the way to a folder. Whoever may change one of them can put another folder in the place of the next.
package struct FolderPath {
    /// The user and the group that may change them, beside root.
    let user: uid_t
    let group: gid_t

    /// The largest number of links on a way, as in Linux.
    private static let mostLinks = 40

    /// Those of this process. Kubernetes gives a volume to a group (`fsGroup`).
    package init(user: uid_t = geteuid(), group: gid_t = getegid()) { (self.user, self.group) = (user, group) }

    /// Throws if others may change the folder at `path` or one on the way to it, links followed. A folder that is not there
    /// is made later, below those that were looked at.
    package func requireOwn(_ path: String) throws(StartError) {
        let start = path.hasPrefix("/") ? "" : FileManager.default.currentDirectoryPath + "/"
        var (rest, folder, links) = (Self.names(start + path), "", 0)
        try requireOwn("/", stat(of: "/"))
        while let name = rest.popLast() {
            guard name != ".." else {
                folder = String(folder.prefix(upTo: folder.lastIndex(of: "/") ?? folder.startIndex))
                continue
            }
            let next = folder + "/" + name
            guard let status = stat(of: next) else { return }
            guard status.st_mode & S_IFMT == S_IFLNK else {
                folder = next
                try requireOwn(folder, status)
                continue
            }
            links += 1
            guard links <= Self.mostLinks, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: next)
            else { throw StartError("\(next): a link that leads nowhere") }
            if target.hasPrefix("/") { folder = "" }
            rest += Self.names(target)
        }
    }

    /// The names of a path, the last one first.
    private static func names(_ path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.reversed().map(String.init)
    }

    private func stat(of path: String) -> stat? {
        var status = Glibc.stat()
        return lstat(path, &status) == 0 ? status : nil
    }

    private func requireOwn(_ folder: String, _ status: stat?) throws(StartError) {
        guard let status else { return }
        let above = "so the state folder can be replaced"
        guard status.st_uid == 0 || status.st_uid == user || !UserNamespace.has(status.st_uid) else {
            throw StartError("\(folder): belongs to user \(status.st_uid), \(above): it must be root's or this user's")
        }
        // In a folder with the sticky bit, such as /tmp, nobody may rename or remove what belongs to others.
        guard status.st_mode & S_ISVTX == 0 else { return }
        guard status.st_mode & S_IWOTH == 0 else {
            throw StartError("\(folder): others may write there, \(above): chmod o-w \(folder)")
        }
        guard status.st_mode & S_IWGRP == 0 || status.st_gid == group else {
            throw StartError("\(folder): group \(status.st_gid) may write there, \(above): chmod g-w \(folder)")
        }
    }
}

/// The user namespace of this process. In a container, the folders above may belong to users of the machine that have no
/// number inside; all of these have the same one.
private enum UserNamespace {
    /// Whether a number stands for one user.
    static func has(_ user: uid_t) -> Bool {
        guard let map = try? PlainFile.text("/proc/self/uid_map") else { return true }
        return map.split(separator: "\n").contains { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 3 else { return true }
            return numbers[0] <= UInt64(user) && UInt64(user) - numbers[0] < numbers[2]
        }
    }
}

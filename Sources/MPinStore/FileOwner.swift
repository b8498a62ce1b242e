import Glibc

/// What an operator makes as root is for the server to go on with, whose folder it is in. `file`: opened without following
/// a link, for the folder is not root's.
package func leaveToServer(_ file: Int32, _ path: String) {
    var (folder, found) = (stat(), stat())
    let folderPath = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard geteuid() == 0, fstat(file, &found) == 0, found.st_nlink == 1, stat(folderPath, &folder) == 0 else { return }
    fchown(file, folder.st_uid, folder.st_gid)
}

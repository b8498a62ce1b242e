import Glibc

/// Gives `file`, which root has made at `path`, to the owner of the folder in which it is, so that the server can use
/// it. Does nothing if this process is not root. `file` must have been opened without following links, because the
/// folder's owner could have put a link there.
package func giveToFolderOwner(_ file: Int32, _ path: String) {
    var (folder, found) = (stat(), stat())
    let folderPath = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard geteuid() == 0, fstat(file, &found) == 0, found.st_nlink == 1, stat(folderPath, &folder) == 0 else { return }
    fchown(file, folder.st_uid, folder.st_gid)
}

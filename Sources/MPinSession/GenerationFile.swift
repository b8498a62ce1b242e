import Glibc
import MPinSecrets

/// The file of 8 bytes with which processes of libmpin 1.0 tell each other of changes: they have mapped it, and read the
/// session again when its number differs. It is not made here, and nobody here reads it, because a mapping of a file
/// ends the process when somebody shortens the file. But where it is, its number must go on, or those processes would use
/// the tokens of a session that was logged out.
enum GenerationFile {
    private static let size = 8

    /// Moves the number on to the next even one; an odd one is that of a writer that has died. Only the process with the
    /// lock of the session may call this. Does nothing if the file is not one that such a process has made.
    static func advance(_ path: String) {
        guard let (file, status) = try? PlainFile.open(path, O_RDWR | O_NOFOLLOW) else { return }
        defer { close(file) }
        var number: UInt64 = 0
        guard status.st_size == size, status.st_nlink == 1, status.st_uid == geteuid(),
            pread(file, &number, size, 0) == size
        else { return }
        number = (number | 1) &+ 1
        // A failure has no remedy: the old process reads the change when it starts again.
        _ = pwrite(file, &number, size, 0)
    }
}

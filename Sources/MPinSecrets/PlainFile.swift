package import Glibc

/// Opens files whose paths come from a user. Refuses a FIFO and any other object on which opening or reading may block.
package enum PlainFile {
    /// Why a file cannot be read.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        /// The system refused; `errno` has the reason.
        case system(path: String, errno: Int32)
        /// The path names a folder, FIFO, socket or device.
        case notRegular(path: String)
        /// The file is larger than allowed, or is not UTF-8.
        case content(path: String)

        /// A description for the user, in one line.
        package var description: String {
            switch self {
            case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
            case .notRegular(let path): "\(path): not a regular file"
            case .content(let path): "\(path): too long, or no UTF-8"
            }
        }
    }

    /// Opens a file, by default for reading, and returns its descriptor and what `fstat` reports. The caller closes the
    /// descriptor. If `flags` create the file, it gets the mode `mode`. With O_NOFOLLOW, a link is no regular file.
    package static func open(
        _ path: String, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o600
    ) throws(Failure) -> (file: Int32, status: stat) {
        var file: Int32
        repeat {
            // Without O_NONBLOCK, opening a FIFO waits until another process opens its other end.
            file = Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode)
        } while file < 0 && errno == EINTR
        guard file >= 0 else {
            let isLink = errno == ELOOP && flags & O_NOFOLLOW != 0
            throw isLink || errno == EISDIR ? .notRegular(path: path) : .system(path: path, errno: errno)
        }
        var status = stat()
        guard fstat(file, &status) == 0 else {
            let code = errno
            close(file)
            throw .system(path: path, errno: code)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw .notRegular(path: path)
        }
        return (file, status)
    }

    /// Whether only the owner of a file can read it, by what `fstat` reports. If the owner is root, the group of the file
    /// may read it, too, because this program may be in that group: Kubernetes gives a program without rights its secrets
    /// in this way. `user`: the effective user of this program.
    package static func isPrivate(_ status: stat, to user: uid_t = geteuid()) -> Bool {
        let isOfRoot = status.st_uid == 0 && user != 0
        return status.st_mode & (isOfRoot ? 0o037 : 0o077) == 0
    }

    /// Whether the path names something other than a regular file, so that reading it may block.
    package static func mayWait(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// The text of a file of at most `limit` bytes.
    package static func text(_ path: String, limit: Int = 64 << 20) throws(Failure) -> String {
        guard let text = String(validating: try bytes(path, limit: limit), as: UTF8.self) else {
            throw .content(path: path)
        }
        return text
    }

    /// The content of a file of at most `limit` bytes.
    package static func bytes(_ path: String, limit: Int = 64 << 20) throws(Failure) -> [UInt8] {
        let (file, status) = try open(path)
        defer { close(file) }
        guard status.st_size <= limit else { throw .content(path: path) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(path: path, errno: errno) }
            guard count > 0 else { return bytes }
            bytes += piece.prefix(count)
            guard bytes.count <= limit else { throw .content(path: path) }
        }
    }
}

package import Glibc

/// Opens files that somebody has named: a FIFO, or anything else whose opening or reading may wait, is refused.
package enum PlainFile {
    /// Why a file cannot be read.
    package enum Failure: Error, Equatable, CustomStringConvertible {
        /// `errno` says why.
        case system(path: String, errno: Int32)
        /// A folder, FIFO, socket or device.
        case notRegular(path: String)
        /// More than the bytes that are allowed, or no UTF-8.
        case content(path: String)

        /// One line for a person.
        package var description: String {
            switch self {
            case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
            case .notRegular(let path): "\(path): not a regular file"
            case .content(let path): "\(path): too long, or no UTF-8"
            }
        }
    }

    /// A descriptor, for reading by default, and what the system says of the file. The caller closes it. `mode`: of a file
    /// that `flags` let it make.
    package static func open(
        _ path: String, _ flags: Int32 = O_RDONLY, mode: mode_t = 0o600
    ) throws(Failure) -> (file: Int32, status: stat) {
        var file: Int32
        repeat {
            // Without O_NONBLOCK the opening of a FIFO waits for its other end.
            file = Glibc.open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode)
        } while file < 0 && errno == EINTR
        guard file >= 0 else { throw .system(path: path, errno: errno) }
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

    /// Whether there is something else than a file, whose reading may wait.
    package static func mayWait(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    }

    /// The text of a file, at most `limit` bytes.
    package static func text(_ path: String, limit: Int = 64 << 20) throws(Failure) -> String {
        let (file, status) = try open(path)
        defer { close(file) }
        guard status.st_size <= limit else { throw .content(path: path) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(file, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(path: path, errno: errno) }
            guard count > 0 else { break }
            bytes += piece.prefix(count)
            guard bytes.count <= limit else { throw .content(path: path) }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .content(path: path) }
        return text
    }
}

import Glibc

/// Why a key file was refused.
package enum KeyFileError: Error, Equatable, CustomStringConvertible {
    /// The file cannot be opened, read or written; `errno` has the reason.
    case system(path: String, errno: Int32)
    /// The path names a folder, FIFO, socket or device.
    case notRegular(path: String)
    /// Somebody other than the owner may read or write the file.
    case permissions(path: String)
    /// The file does not hold 64 hex digits.
    case content(path: String)
    /// All bytes of the key are equal, so nobody has drawn them.
    case constant(path: String)
    /// The file does not hold one line of 12 to 1024 bytes.
    case passphrase(path: String)
    /// The random generator failed, so there is no new key.
    case random

    /// One line for the user. It contains no part of a key.
    package var description: String {
        switch self {
        case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
        case .notRegular(let path): "\(path): not a regular file"
        case .permissions(let path): "\(path): key file must be readable by its owner only (chmod 600)"
        case .content(let path): "\(path): key file must hold 64 hex digits"
        case .constant(let path): "\(path): all bytes of the key are equal, so it is none: let a new one be made"
        case .passphrase(let path): "\(path): passphrase file must hold one line of 12 to 1024 bytes"
        case .random: "the random generator failed"
        }
    }
}

/// A 32-byte key in a file of its own: 64 hex digits and a newline, mode 0600.
package enum KeyFile {
    private static let keySize = 32
    private static let fileSize = 2 * keySize + 1

    /// Reads the key from the file, 32 bytes. Refuses a file that the group or others can read or write, except root's
    /// file that the group can read.
    package static func load(_ path: String) throws(KeyFileError) -> SecretBytes {
        let text = try SecretFile.load(path, limit: fileSize + 1)
        guard text.count == fileSize || text.count == fileSize - 1,
            let key = SecretBytes(hex: text.span.extracting(0..<2 * keySize))
        else { throw .content(path: path) }
        return key
    }

    /// Reads a server's key. Also refuses one of equal bytes: somebody has filled it in to replace it later. (A client's
    /// store with such a key can still be opened.)
    package static func loadOfServer(_ path: String) throws(KeyFileError) -> SecretBytes {
        let key = try load(path)
        let bytes = key.span
        guard bytes.indices.contains(where: { bytes[$0] != bytes[0] }) else { throw .constant(path: path) }
        return key
    }

    /// Makes a random key of 32 bytes, writes it to a new file, and returns it. Throws if the file exists.
    package static func create(_ path: String, random: RandomSource = systemRandom) throws(KeyFileError) -> SecretBytes
    {
        let key: SecretBytes
        do { key = try .random(count: keySize, from: random) } catch { throw .random }
        // The key is written to a temporary file and then linked to its name. So a crash leaves no partial key, and if
        // two processes create the key at once, both use the same one. The temporary name is random. A process id would
        // not be unique, because threads share it and a container uses the same id at every start.
        let unique: [UInt8]
        do { unique = try randomBytes(8, from: random) } catch { throw .random }
        let draft = "\(path).\(Hex.encode(unique)).new"
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system(path: path, errno: errno) }
        defer { unlink(draft) }
        let text = SecretBytes(count: fileSize)
        var digits = text.mutableSpan
        Hex.encode(key.span, into: &digits)
        digits[fileSize - 1] = UInt8(ascii: "\n")
        let written = writeAll(text, to: file) && fsync(file) == 0
        let code = errno
        close(file)
        guard written else { throw .system(path: path, errno: code) }
        guard link(draft, path) == 0 else { throw .system(path: path, errno: errno) }
        try syncDirectory(of: path)
        return key
    }

    /// Reads the key from the file. If there is no file, creates it first.
    package static func loadOrCreate(
        _ path: String, random: RandomSource = systemRandom
    ) throws(KeyFileError) -> SecretBytes {
        guard access(path, F_OK) != 0 else { return try load(path) }
        do { return try create(path, random: random) } catch {
            guard case .system(_, EEXIST) = error else { throw error }
            return try load(path)
        }
    }

    /// Writes all bytes of `text`. False, with `errno` set, if a write fails.
    private static func writeAll(_ text: SecretBytes, to file: Int32) -> Bool {
        text.span.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = write(file, bytes.baseAddress.map { $0 + written }, bytes.count &- written)
                guard count > 0 || (count < 0 && errno == EINTR) else { return false }
                written += max(count, 0)
            }
            return true
        }
    }

    /// Makes the new file name durable. Otherwise a power failure could lose the key while data that it sealed remains.
    private static func syncDirectory(of path: String) throws(KeyFileError) {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw .system(path: path, errno: errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw .system(path: path, errno: errno) }
    }
}

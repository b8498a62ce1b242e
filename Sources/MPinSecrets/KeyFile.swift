import Glibc

/// Why a key file was refused.
package enum KeyFileError: Error, Equatable, CustomStringConvertible {
    /// The file cannot be opened, read or written; `errno` says why.
    case system(path: String, errno: Int32)
    /// A folder, FIFO, socket or device.
    case notRegular(path: String)
    /// Others than its owner may read or write the file.
    case permissions(path: String)
    /// The file does not hold 64 hex digits.
    case content(path: String)
    /// The file does not hold one line of 12 to 1024 bytes.
    case passphrase(path: String)
    /// The random generator did not deliver a new key.
    case random

    /// One line for a person, without any part of a key.
    package var description: String {
        switch self {
        case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
        case .notRegular(let path): "\(path): not a regular file"
        case .permissions(let path): "\(path): key file must be readable by its owner only (chmod 600)"
        case .content(let path): "\(path): key file must hold 64 hex digits"
        case .passphrase(let path): "\(path): passphrase file must hold one line of 12 to 1024 bytes"
        case .random: "the random generator failed"
        }
    }
}

/// A 32-byte key in a file of its own: 64 hex digits and a newline, mode 0600.
package enum KeyFile {
    private static let keySize = 32
    private static let fileSize = 2 * keySize + 1

    /// The key in the file. Refuses a file that group or others can read or write.
    package static func load(_ path: String) throws(KeyFileError) -> SecretBytes {
        let text = try SecretFile.load(path, limit: fileSize + 1)
        guard text.count == fileSize || text.count == fileSize - 1,
            let key = SecretBytes(hex: text.span.extracting(0..<2 * keySize))
        else { throw .content(path: path) }
        return key
    }

    /// A new random key in a new file; an existing file is an error.
    package static func create(_ path: String, random: RandomSource = systemRandom) throws(KeyFileError) -> SecretBytes
    {
        let key: SecretBytes
        do { key = try .random(count: keySize, from: random) } catch { throw .random }
        // Written beside and linked into place: a crash leaves no half key, and two starters agree on one.
        // Not by process id: threads share it, and a container gives the same one to every start.
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

    /// The key in the file, made first where there is no file.
    package static func loadOrCreate(
        _ path: String, random: RandomSource = systemRandom
    ) throws(KeyFileError) -> SecretBytes {
        guard access(path, F_OK) != 0 else { return try load(path) }
        do { return try create(path, random: random) } catch {
            guard case .system(_, EEXIST) = error else { throw error }
            return try load(path)
        }
    }

    /// False, with `errno` set, for less than all of it.
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

    /// What a key has sealed may not outlive its file's name.
    private static func syncDirectory(of path: String) throws(KeyFileError) {
        let slash = path.lastIndex(of: "/")
        let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        let file = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard file >= 0 else { throw .system(path: path, errno: errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw .system(path: path, errno: errno) }
    }
}

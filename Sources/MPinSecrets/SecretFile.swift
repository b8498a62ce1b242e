import Glibc

/// A secret of any format in a file that only its owner can read.
package enum SecretFile {
    /// Reads at most the first `limit` bytes of the file. Refuses anything but a regular file, and a file that the
    /// group or others can read or write (``PlainFile/isPrivate(_:to:)``).
    package static func load(_ path: String, limit: Int) throws(KeyFileError) -> SecretBytes {
        let file: Int32
        let status: stat
        do { (file, status) = try PlainFile.open(path) } catch {
            guard case .system(_, let code) = error else { throw .notRegular(path: path) }
            throw .system(path: path, errno: code)
        }
        defer { close(file) }
        guard PlainFile.isPrivate(status) else { throw .permissions(path: path) }
        let buffer = SecretBytes(count: limit)
        var bytes = buffer.mutableSpan
        let length = bytes.withUnsafeMutableBufferPointer { read(file, $0.baseAddress, $0.count) }
        guard length >= 0 else { throw .system(path: path, errno: errno) }
        return SecretBytes(copying: buffer.span.extracting(first: length))
    }

    /// Reads a passphrase: the only line of the file, 12 to 1024 bytes, without its newline.
    package static func loadPassphrase(_ path: String) throws(KeyFileError) -> SecretBytes {
        let text = try load(path, limit: 1026)
        var length = text.count
        for ending in [UInt8(ascii: "\n"), UInt8(ascii: "\r")] where length > 0 && text.span[length - 1] == ending {
            length -= 1
        }
        let line = SecretBytes(copying: text.span.extracting(first: length))
        let span = line.span
        let isOneLine = span.indices.allSatisfy { span[$0] != UInt8(ascii: "\n") }
        guard (12...1024).contains(length), isOneLine else { throw .passphrase(path: path) }
        return line
    }
    /// Writes a new file of mode 0600. Fails if the path exists. After a failure there is no file.
    package static func create(_ path: String, _ content: Span<UInt8>) throws(KeyFileError) {
        let file: Int32
        do { file = try PlainFile.open(path, O_WRONLY | O_CREAT | O_EXCL).file } catch {
            guard case .system(_, let code) = error else { throw .notRegular(path: path) }
            throw .system(path: path, errno: code)
        }
        var failure = write(content, to: file)
        if failure == 0, fsync(file) != 0 { failure = errno }
        if close(file) != 0, errno != EINTR, failure == 0 { failure = errno }
        guard failure == 0 else {
            unlink(path)
            throw .system(path: path, errno: failure)
        }
    }

    /// Writes all bytes; returns 0 or the errno of a failure.
    private static func write(_ content: Span<UInt8>, to file: Int32) -> Int32 {
        content.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = UnsafeRawBufferPointer(rebasing: rest).withMemoryRebound(to: UInt8.self) {
                    Glibc.write(file, $0.baseAddress, $0.count)
                }
                if count < 0, errno != EINTR { return errno }
                rest = rest.dropFirst(max(count, 0))
            }
            return 0
        }
    }
}

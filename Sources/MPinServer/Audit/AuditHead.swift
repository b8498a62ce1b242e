import Foundation
import Glibc
import MPinSecrets

/// The number, the tag and the end of the last line of an audit log. They are stored beside the key, so that somebody
/// who can cut off lines of the log cannot change them.
///
/// The file is also the lock of the log: a process holds it while it writes a line.
struct AuditHead: Equatable {
    /// The number of the log's last line.
    var number = 0
    var tag = AuditLine.noTag
    /// The size of the current file of the log in bytes, up to the end of its last line.
    var size = 0
    /// What the file contained when this head was read from it or written into it.
    private var text: [UInt8] = []

    private static let length = 128

    init() {}

    /// Reads the head from an open file. An empty file is that of a new log. `known`: the head that was there before. If it
    /// still is, its text is not read again, because every login runs this.
    init(file: Int32, path: String, known: AuditHead? = nil) throws {
        var buffer = [UInt8](repeating: 0, count: Self.length)
        let count = pread(file, &buffer, buffer.count, 0)
        guard count >= 0 else { throw AuditError.system(path, errno) }
        guard count > 0 else { return }
        text = Array(buffer.prefix(count))
        if let known, known.text == text {
            self = known
            return
        }
        // The text is split as bytes: splitting a `String` takes longer than everything else here.
        let words = text.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
            .map { String(decoding: $0, as: UTF8.self) }
        guard words.count == 3, let number = Int(words[0]), let tag = Hex.decode(words[1]),
            tag.count == AuditLine.noTag.count, let size = Int(words[2])
        else { throw AuditError.head(path) }
        (self.number, self.tag, self.size) = (number, tag, size)
    }

    /// Writes a fixed number of bytes, so that one write replaces the whole head.
    mutating func save(_ file: Int32, path: String) throws {
        var bytes = Array("\(number) \(Hex.encode(tag)) \(size)".utf8)
        bytes += repeatElement(UInt8(ascii: " "), count: max(0, Self.length - 1 - bytes.count)) + [UInt8(ascii: "\n")]
        guard pwrite(file, bytes, bytes.count, 0) == bytes.count else { throw AuditError.system(path, errno) }
        text = bytes
    }
}

/// Why the audit log cannot be used.
package enum AuditError: Error, Equatable, CustomStringConvertible {
    case system(String, Int32)
    case head(String)
    case keyBesideLog(String)
    /// The line is written, but no new file could be begun after it. The text gives the reason.
    case notRotated(String)

    package var description: String {
        switch self {
        case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
        case .head(let path): "\(path): not the head of an audit log"
        case .notRotated(let reason): "no new file of the audit log was begun: \(reason)"
        case .keyBesideLog(let path):
            "\(path): the key of the audit log must lie outside the log's folder, or who can alter the one has the other"
        }
    }
}

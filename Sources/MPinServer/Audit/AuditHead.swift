import Foundation
import Glibc
import MPinSecrets

/// The first line of an audit log, and the number, the tag and the end of its last line. They are stored beside the key, so
/// that somebody who can cut off lines of the log, or take away its files, cannot change them.
///
/// The file is also the lock of the log: a process holds it while it writes a line.
struct AuditHead: Equatable {
    /// The number of the log's last line.
    var number = 0
    var tag = AuditLine.noTag
    /// The size of the current file of the log in bytes, up to the end of its last line.
    var size = 0
    /// The log's first line. Nil if the version that began the log did not note it, and no verification has since.
    private(set) var first: AuditVerification.Mark?
    /// What the file contained when this head was read from it or written into it.
    private var text: [UInt8] = []

    /// The bytes of each of the two parts of the file: the last line, which every line replaces, and the first one. Versions
    /// that do not know the second part read and write only the first one.
    private static let length = 128

    init() {}

    /// Whether the file was empty, as that of a new log is.
    var isEmpty: Bool { text.isEmpty }

    /// Reads the head from an open file. An empty file is that of a new log. `known`: the head that was there before. If it
    /// still is, its text is not read again, because every login runs this.
    init(file: Int32, path: String, known: AuditHead? = nil) throws {
        var buffer = [UInt8](repeating: 0, count: 2 * Self.length)
        let count = pread(file, &buffer, buffer.count, 0)
        guard count >= 0 else { throw AuditError.system(path, errno) }
        guard count > 0 else { return }
        text = Array(buffer.prefix(count))
        if let known, known.text == text {
            self = known
            return
        }
        let words = Self.words(text.prefix(Self.length))
        guard words.count == 3, let number = Int(words[0]), let tag = Hex.decode(words[1]),
            tag.count == AuditLine.noTag.count, let size = Int(words[2])
        else { throw AuditError.head(path) }
        (self.number, self.tag, self.size) = (number, tag, size)
        guard let word = Self.words(text.dropFirst(Self.length)).first else { return }
        guard let first = AuditVerification.Mark(word) else { throw AuditError.head(path) }
        self.first = first
    }

    /// The words of a part of the file. It is split as bytes: splitting a `String` takes longer than everything else here.
    private static func words(_ part: ArraySlice<UInt8>) -> [String] {
        part.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes a fixed number of bytes, so that one write replaces the whole head.
    mutating func save(_ file: Int32, path: String) throws {
        let bytes = try Self.write("\(number) \(Hex.encode(tag)) \(size)", file, path, at: 0)
        text = bytes + text.dropFirst(Self.length)
    }

    /// Notes the log's first line, once in the life of the log. The last line must have been saved before.
    mutating func note(first mark: AuditVerification.Mark, _ file: Int32, path: String) throws {
        let bytes = try Self.write(mark.description, file, path, at: Self.length)
        (first, text) = (mark, Array(text.prefix(Self.length)) + bytes)
    }

    /// Writes a part of the file, and returns its bytes.
    private static func write(_ words: String, _ file: Int32, _ path: String, at offset: Int) throws -> [UInt8] {
        var bytes = Array(words.utf8)
        bytes += repeatElement(UInt8(ascii: " "), count: max(0, length - 1 - bytes.count)) + [UInt8(ascii: "\n")]
        guard pwrite(file, bytes, bytes.count, off_t(offset)) == bytes.count else {
            throw AuditError.system(path, errno)
        }
        return bytes
    }
}

/// Why the audit log cannot be used.
package enum AuditError: Error, Equatable, CustomStringConvertible {
    case system(String, Int32)
    /// The path names a link, folder, FIFO or device.
    case notRegular(String)
    case head(String)
    case keyBesideLog(String)
    /// The line is written, but no new file could be begun after it. The text gives the reason.
    case notRotated(String)

    package var description: String {
        switch self {
        case .system(let path, let code): "\(path): \(String(cString: strerror(code)))"
        case .notRegular(let path): "\(path): not a regular file"
        case .head(let path): "\(path): not the head of an audit log"
        case .notRotated(let reason): "no new file of the audit log was begun: \(reason)"
        case .keyBesideLog(let path):
            "\(path): the key of the audit log must lie outside the log's folder, or who can alter the one has the other"
        }
    }
}

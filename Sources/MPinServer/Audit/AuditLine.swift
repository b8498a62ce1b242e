import Foundation
import MPinSecrets

/// One line of the audit log: a JSON object whose last member is a tag of the other members and of the previous line's
/// tag. So nobody without the key can change, remove, move or insert a line unnoticed.
struct AuditLine: Sendable, Equatable {
    /// The number of the line, counted from 1 through all files of the log.
    let number: Int
    /// The line without its tag and without the closing brace.
    let body: [UInt8]
    /// The tag: HMAC-SHA256, 32 bytes.
    let tag: [UInt8]

    private static let separator = Array(",\"mac\":\"".utf8)

    /// The tag that stands for the missing previous line of the first line.
    static let noTag = [UInt8](repeating: 0, count: HMACSHA256.size)

    /// Makes a line that follows the one with the tag `previous`.
    init(_ members: [(String, String)], number: Int, previous: [UInt8], key: SecretBytes) {
        var body = Array("{\"n\":\(number)".utf8)
        for (name, value) in members { body += ",\"\(name)\":\(Self.quoted(value))".utf8 }
        self.number = number
        self.body = body
        tag = Self.tag(body, previous: previous, key: key)
    }

    /// Reads a line without its newline; nil if it is not a line of an audit log.
    init?(_ text: some Collection<UInt8>) {
        let bytes = Array(text)
        let tail = Self.separator.count + 2 * HMACSHA256.size + 2
        guard bytes.count > tail, bytes.suffix(2) == Array("\"}".utf8)[...] else { return nil }
        let rest = bytes.suffix(tail)
        guard rest.starts(with: Self.separator),
            let tag = Hex.decode(String(decoding: rest.dropFirst(Self.separator.count).dropLast(2), as: UTF8.self))
        else { return nil }
        body = Array(bytes.dropLast(tail))
        self.tag = tag
        guard let number = try? JSONDecoder().decode(Number.self, from: Data(body + Array("}".utf8))) else {
            return nil
        }
        self.number = number.n
    }

    private struct Number: Decodable { let n: Int }

    /// The bytes of the line with its newline.
    var text: [UInt8] { body + Self.separator + Array(Hex.encode(tag).utf8) + Array("\"}\n".utf8) }

    var mark: AuditVerification.Mark { .init(number: number, tag: Hex.encode(tag)) }

    func follows(_ previous: [UInt8], key: SecretBytes) -> Bool {
        constantTimeEqual(tag.span, Self.tag(body, previous: previous, key: key).span)
    }

    /// Reads the event and the previous line's tag out of the line itself. Only the first line of a file and a `gap`
    /// line, which stands where lines were lost, contain that tag. Nil for other lines, or if the line's own tag is
    /// wrong.
    func resumes(key: SecretBytes) -> Resumption? {
        guard let members = try? JSONDecoder().decode(Resumption.self, from: Data(body + Array("}".utf8))),
            let previous = Hex.decode(members.previous), follows(previous, key: key)
        else { return nil }
        return members
    }

    struct Resumption: Decodable {
        /// The event: `continued` in the first line of a file, `gap` where lines were lost.
        let event: String
        let previous: String
    }

    private static func tag(_ body: [UInt8], previous: [UInt8], key: SecretBytes) -> [UInt8] {
        HMACSHA256.tag(Array("libmpin audit line\n".utf8) + previous + body, key: key)
    }

    /// A JSON string that escapes everything but printable ASCII, so that a line stays one line in every viewer.
    private static func quoted(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }) { return "\"\(text)\"" }
        var result = "\""
        for unit in text.utf16 {
            switch unit {
            case 0x22, 0x5C: result += "\\" + String(UnicodeScalar(UInt8(unit)))
            case 0x20...0x7E: result += String(UnicodeScalar(UInt8(unit)))
            default:
                let hex = String(unit, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            }
        }
        return result + "\""
    }
}

import Glibc
import MPinSecrets

/// A mail with plain text and, optionally, the same content in HTML for programs that show it (RFC 2046 section 5.1.4).
package struct Mail: Sendable {
    /// The sender's address, without display name, such as `alice@example.com`.
    package var from: String
    package var to: String
    package var subject: String
    /// The plain text. Its lines end in a line feed.
    package var text: String
    package var html: String?

    package init(from: String, to: String, subject: String, text: String, html: String? = nil) {
        self.from = from
        self.to = to
        self.subject = subject
        self.text = text
        self.html = html
    }

    /// The message in the format of RFC 5322, dated `date` (seconds since 1970, UTC). Throws if an address or the
    /// subject could insert a header, or if the random generator fails.
    package func message(date: Int64) throws(SMTPFailure) -> [UInt8] {
        guard Self.isAddress(from), Self.isAddress(to) else { throw .invalidAddress }
        guard subject.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else { throw .invalidSubject }
        guard let unique = try? randomBytes(16) else { throw .noRandom }
        let domain = from.split(separator: "@").last ?? "localhost"
        let headers = [
            "Date: \(mailDate(date))",
            "Message-ID: <\(Hex.encode(unique))@\(domain)>",
            "From: <\(from)>",
            "To: <\(to)>",
            "Subject: \(encodedSubject(subject))",
            "Auto-Submitted: auto-generated",
            "MIME-Version: 1.0",
        ]
        let plain = Self.part("text/plain", text)
        let lines = headers.map { $0 + "\r\n" }.joined()
        guard let html else { return Array(lines.utf8) + plain }
        // The boundary is random, so that no text can contain it.
        let boundary = "=_" + Hex.encode(unique)
        let start = "Content-Type: multipart/alternative; boundary=\"\(boundary)\"\r\n\r\n--\(boundary)\r\n"
        return Array((lines + start).utf8) + plain + Array("\r\n--\(boundary)\r\n".utf8)
            + Self.part("text/html", html) + Array("\r\n--\(boundary)--\r\n".utf8)
    }

    private static func part(_ type: String, _ text: String) -> [UInt8] {
        let body = MailBody(text)
        let headers =
            "Content-Type: \(type); charset=utf-8\r\nContent-Transfer-Encoding: \(body.encoding)\r\n\r\n"
        return Array(headers.utf8) + body.bytes
    }

    /// Whether the text is an address: one `@` with text on both sides, at most 254 bytes, without characters that end
    /// a line or an address.
    static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty, text.utf8.count <= 254 else { return false }
        return text.utf8.allSatisfy { $0 > 32 && $0 != 127 && !"<>\",;:\\()[]".utf8.contains($0) }
    }
}

/// A text as the body of a mail, with CR LF at the end of each line. If a line is too long for SMTP (RFC 5321 section
/// 4.5.3.1.6), the text is in base64; otherwise it is not encoded.
private struct MailBody {
    let encoding: String
    let bytes: [UInt8]

    init(_ text: String) {
        let lines = text.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" || $0 == "\r" }
        let plain = Array(lines.joined(separator: "\r\n").utf8) + (text.isEmpty || text.last == "\n" ? [] : [13, 10])
        if lines.contains(where: { $0.utf8.count > 998 }) {
            encoding = "base64"
            bytes = wrapped(base64(plain))
        } else {
            encoding = plain.allSatisfy { $0 < 128 } ? "7bit" : "8bit"
            bytes = plain
        }
    }
}

/// Breaks base64 text into lines of 76 characters (RFC 2045 section 6.8).
private func wrapped(_ text: [UInt8]) -> [UInt8] {
    stride(from: 0, to: text.count, by: 76).flatMap { text[$0..<min($0 + 76, text.count)] + [13, 10] }
}

/// The subject as a header value. It is written as encoded words (RFC 2047) if it is not ASCII, looks like an encoded
/// word or is too long for a line.
private func encodedSubject(_ subject: String) -> String {
    let text = subject.utf8
    let readsEncoded = zip(text, text.dropFirst()).contains { $0 == (UInt8(ascii: "="), UInt8(ascii: "?")) }
    guard readsEncoded || text.count > 900 || text.contains(where: { $0 > 126 }) else { return subject }
    var words: [[UInt8]] = [[]]
    for character in subject.unicodeScalars {
        let bytes = Array(String(character).utf8)
        // 45 bytes become 60 characters. With its prefix and suffix, the word stays below the limit of 75.
        if words[words.count - 1].count + bytes.count > 45 { words.append([]) }
        words[words.count - 1] += bytes
    }
    return words.map { "=?utf-8?B?\(String(decoding: base64($0), as: UTF8.self))?=" }.joined(separator: "\r\n ")
}

/// The bytes in base64 (RFC 4648 section 4).
package func base64(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
        let group = bytes[start..<min(start + 3, bytes.count)]
        let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
        for position in 0..<4 {
            result.append(position > group.count ? 61 : digits[value >> (18 - 6 * position) & 63])
        }
    }
    return result
}

/// The date in the format of RFC 5322 section 3.3, in UTC. `strftime` is not used, because its names depend on the
/// locale.
private func mailDate(_ seconds: Int64) -> String {
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = UTC.parts(seconds)
    guard days.indices.contains(Int(parts.tm_wday)), months.indices.contains(Int(parts.tm_mon)) else { return "" }
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(days[Int(parts.tm_wday)]), \(parts.tm_mday) \(months[Int(parts.tm_mon)]) \(Int(parts.tm_year) + 1900)"
    return "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) +0000"
}

package import MPinSecrets

/// `text` as a part of a path or query. Every byte is escaped, except unreserved characters (RFC 3986 section 2.3).
package func percentEncoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
        if isUnreserved(byte) {
            result.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            result += "%" + Hex.encode([byte]).uppercased()
        }
    }
    return result
}

/// A secret text as a part of a path or query, in memory that is wiped. Every byte is escaped, except unreserved
/// characters (RFC 3986 section 2.3).
package func percentEncoded(_ text: SecretBytes) -> SecretBytes {
    let bytes = text.span
    let escapes = bytes.indices.reduce(0) { $0 + (isUnreserved(bytes[$1]) ? 0 : 1) }
    let result = SecretBytes(count: bytes.count + 2 * escapes)
    var octets = result.mutableSpan
    var end = 0
    for index in bytes.indices {
        let byte = bytes[index]
        guard !isUnreserved(byte) else {
            octets[end] = byte
            end += 1
            continue
        }
        octets[end] = UInt8(ascii: "%")
        octets[end + 1] = digit(byte >> 4)
        octets[end + 2] = digit(byte & 15)
        end += 3
    }
    return result
}

/// A query of names and escaped values. The names must not need escaping.
package func percentEncodedQuery(_ members: [(String, String)]) -> String {
    members.map { name, value in "\(name)=\(percentEncoded(value))" }.joined(separator: "&")
}

private func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        true
    default: false
    }
}

/// The digit `0...9A...F` of a number below 16.
private func digit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? nibble + 48 : nibble + 55 }

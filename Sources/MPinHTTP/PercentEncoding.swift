import MPinSecrets

/// `text` as a part of a path or query: everything but unreserved characters (RFC 3986 section 2.3) is escaped.
package func percentEncoded(_ text: String) -> String {
    var result = ""
    for byte in text.utf8 {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            result.unicodeScalars.append(Unicode.Scalar(byte))
        default: result += "%" + Hex.encode([byte]).uppercased()
        }
    }
    return result
}

/// The members of a query with their values escaped; the names are ours and need no escaping.
package func percentEncodedQuery(_ members: [(String, String)]) -> String {
    members.map { name, value in "\(name)=\(percentEncoded(value))" }.joined(separator: "&")
}

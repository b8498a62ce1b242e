/// Base64 with the URL alphabet and without padding (RFC 4648 section 5), as JOSE and PKCE use it.
package enum Base64URL {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 4 / 3 + 2)
        var (buffer, bits) = (UInt32(0), 0)
        for byte in bytes {
            buffer = buffer << 8 & 0xffff | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(digits[Int(buffer >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { text.append(digits[Int(buffer << UInt32(6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }
}

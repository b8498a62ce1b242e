/// Base64 with padding (RFC 4648 section 4), as HTTP uses it.
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        Base64URL.append(bytes, to: &text)
        for index in text.indices {
            if text[index] == UInt8(ascii: "-") { text[index] = UInt8(ascii: "+") }
            if text[index] == UInt8(ascii: "_") { text[index] = UInt8(ascii: "/") }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }
}

/// Base64 with the URL alphabet and without padding (RFC 4648 section 5), as JOSE and PKCE use it.
package enum Base64URL {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the encoding of `bytes` in ASCII.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        let digits = digits
        text.reserveCapacity(text.count + bytes.count * 4 / 3 + 2)
        var (group, bits) = (UInt32(0), 0)
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            bits += 8
            guard bits == 24 else { continue }
            text.append(digits[Int(group >> 18 & 63)])
            text.append(digits[Int(group >> 12 & 63)])
            text.append(digits[Int(group >> 6 & 63)])
            text.append(digits[Int(group & 63)])
            (group, bits) = (0, 0)
        }
        // One byte that is left makes two digits, and two make three.
        while bits > 0 {
            bits -= 6
            text.append(digits[Int((bits < 0 ? group << UInt32(-bits) : group >> UInt32(bits)) & 63)])
        }
    }

    /// Nil if ``encode(_:)`` cannot have made `text`: it has other characters, padding, a length that no encoding has,
    /// or unused bits that are not 0.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? { decode(ascii: Array(text.utf8)[...]) }

    package static func decode(ascii text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var (buffer, bits) = (UInt32(0), 0)
        for character in text {
            guard let value = value(character) else { return nil }
            buffer = buffer << 6 & 0xffff | value
            bits += 6
            guard bits >= 8 else { continue }
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
        }
        let isWhole = bits < 6 && buffer & (1 << UInt32(bits) - 1) == 0
        return isWhole ? bytes : nil
    }

    private static func value(_ digit: UInt8) -> UInt32? {
        switch digit {
        case 0x41...0x5a: UInt32(digit) - 0x41
        case 0x61...0x7a: UInt32(digit) - 0x61 + 26
        case 0x30...0x39: UInt32(digit) - 0x30 + 52
        case 0x2d: 62
        case 0x5f: 63
        default: nil
        }
    }
}

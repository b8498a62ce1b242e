/// Octet strings in hex, as on the wire (wire section 2). Writing gives lower case, reading accepts both cases.
package enum Hex {
    /// The bytes in hex, two lower-case digits each.
    package static func encode(_ bytes: Span<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { text in
            for index in bytes.indices {
                // The digit is computed. A table is not used, because its address would depend on a secret byte.
                text[2 * index] = digit(bytes[index] >> 4)
                text[2 * index + 1] = digit(bytes[index] & 15)
            }
            return bytes.count * 2
        }
    }

    /// Writes two lower-case digits for each byte at the beginning of `digits`.
    package static func encode(_ bytes: Span<UInt8>, into digits: inout MutableSpan<UInt8>) {
        for index in bytes.indices {
            digits[2 * index] = digit(bytes[index] >> 4)
            digits[2 * index + 1] = digit(bytes[index] & 15)
        }
    }

    /// The bytes in hex, two lower-case digits each.
    package static func encode(_ bytes: [UInt8]) -> String { encode(bytes.span) }

    /// The bytes that `text` encodes. Nil for an odd number of digits or any other character.
    package static func decode(_ text: String) -> [UInt8]? {
        let digits = [UInt8](text.utf8)
        var result = [UInt8](repeating: 0, count: digits.count / 2)
        var bytes = result.mutableSpan
        return decode(digits.span, into: &bytes) ? result : nil
    }

    /// Decodes `digits` into `bytes`. False, with `bytes` undefined, unless `digits` has exactly two hex digits for
    /// each byte.
    package static func decode(_ digits: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) -> Bool {
        guard digits.count == bytes.count &* 2 else { return false }
        var bad: UInt8 = 0
        for index in bytes.indices {
            let (high, highBad) = value(digits[2 * index])
            let (low, lowBad) = value(digits[2 * index + 1])
            bytes[index] = high << 4 | low
            bad |= highBad | lowBad
        }
        return bad == 0
    }

    /// The digit `0...9a...f` of a number below 16, without a branch on the value.
    private static func digit(_ nibble: UInt8) -> UInt8 {
        // `isLetter` has all bits set for the numbers 10 to 15, otherwise none. 39 is the distance from ":", the
        // character after "9", to "a".
        let isLetter = UInt8(truncatingIfNeeded: (Int16(9) &- Int16(nibble)) >> 8)
        return nibble &+ 48 &+ (isLetter & 39)
    }

    /// The value of a hex digit, computed without a branch. `bad` is not zero if the character is not a hex digit.
    private static func value(_ character: UInt8) -> (value: UInt8, bad: UInt8) {
        let isDigit = mask(character, from: 48, through: 57)
        let folded = character | 32
        let isLetter = mask(folded, from: 97, through: 102)
        let value = (isDigit & (character &- 48)) | (isLetter & (folded &- 87))
        return (value, ~(isDigit | isLetter))
    }

    /// A byte with all bits set if `low <= byte <= high`, otherwise 0.
    private static func mask(_ byte: UInt8, from low: UInt8, through high: UInt8) -> UInt8 {
        let below = (Int16(byte) &- Int16(low)) >> 8
        let above = (Int16(high) &- Int16(byte)) >> 8
        return ~UInt8(truncatingIfNeeded: below | above)
    }
}

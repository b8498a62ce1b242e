import BN254CX

/// How the digits of a PIN become the scalar that is taken off a client secret. A token remembers its mapping.
package enum PINMapping: String, Codable, Sendable, CaseIterable {
    /// The digits as a decimal number mod 10^6, 20 bits: the default, as in the JavaScript client.
    case decimal6
    /// The digits as a decimal number mod 10^4, 14 bits: native clients of the Trust platform.
    case decimal4
    /// The string hash h = 31 h + c over signed bytes in 32 bits, then as `legacy14`: tokens of the old SDK core. It
    /// folds the 10,000 PINs of four digits onto 6,331 values and is there to read old tokens only.
    case legacyHash
    /// A decimal integer, perhaps with a minus sign, its C remainder by 10,000, of that the low 14 bits of the two's
    /// complement: what the old cryptographic library did with the number it was given.
    case legacy14

    /// The width of the scalar in bits; the time of a multiplication by it depends on nothing else.
    package var bits: Int { self == .decimal6 ? 20 : 14 }

    /// The scalar, 32 bytes big-endian, of a PIN in UTF-8. Constant time in the PIN; not hidden are its length and, for
    /// `legacy14`, whether there is a minus sign.
    ///
    /// The decimal mappings take 1 to 32 ASCII digits, `legacy14` 1 to 10 after the sign; `legacyHash` takes any bytes,
    /// also none (its callers refuse an empty PIN).
    package func scalar(pin: Span<UInt8>, into scalar: inout MutableSpan<UInt8>) throws(MPinError) {
        guard scalar.count == MPinSize.scalar else { throw .wrongParameter }
        let value: UInt32 =
            switch self {
            case .decimal6: try PINMapping.decimal(pin, modulus: 1_000_000)
            case .decimal4: try PINMapping.decimal(pin, modulus: 10_000)
            case .legacyHash: PINMapping.low14(Int64(PINMapping.stringHash(pin)))
            case .legacy14: PINMapping.low14(try PINMapping.integer(pin))
            }
        for i in 0..<28 { scalar[i] = 0 }
        scalar[28] = UInt8(truncatingIfNeeded: value >> 24)
        scalar[29] = UInt8(truncatingIfNeeded: value >> 16)
        scalar[30] = UInt8(truncatingIfNeeded: value >> 8)
        scalar[31] = UInt8(truncatingIfNeeded: value)
    }

    /// 1...32 ASCII digits as a decimal number mod `modulus`. Whether all are digits is decided once, at the end.
    ///
    /// Always inlined: with a literal modulus the remainder is a multiplication, and not a division, whose time depends
    /// on its operands.
    @inline(__always)
    private static func decimal(_ pin: Span<UInt8>, modulus: UInt32) throws(MPinError) -> UInt32 {
        guard pin.count >= 1, pin.count <= 32 else { throw .wrongParameter }
        var value: UInt32 = 0
        var faults: UInt32 = 0
        for i in 0..<pin.count {
            let digit = UInt32(pin[i] &- 48)
            faults |= (9 &- digit) >> 31
            value = (value &* 10 &+ (digit & 15)) % modulus
        }
        guard declassify(0 &- UInt(faults)) == 0 else { throw .wrongParameter }
        return value
    }

    /// A decimal integer of 1...10 digits with an optional minus sign.
    private static func integer(_ pin: Span<UInt8>) throws(MPinError) -> Int64 {
        let isNegative = pin.count > 0 && declassify(0 &- UInt((UInt32(pin[0] ^ 45) &- 1) >> 31)) != 0
        let first = isNegative ? 1 : 0
        guard pin.count > first, pin.count &- first <= 10 else { throw .wrongParameter }
        var value: Int64 = 0
        var faults: UInt32 = 0
        for i in first..<pin.count {
            let digit = UInt32(pin[i] &- 48)
            faults |= (9 &- digit) >> 31
            value = value &* 10 &+ Int64(digit & 15)
        }
        guard declassify(0 &- UInt(faults)) == 0 else { throw .wrongParameter }
        return isNegative ? 0 &- value : value
    }

    /// h = 31 h + c in 32 bits, the bytes of the UTF-8 taken as signed.
    private static func stringHash(_ text: Span<UInt8>) -> Int32 {
        var hash: Int32 = 0
        for i in 0..<text.count { hash = hash &* 31 &+ Int32(Int8(bitPattern: text[i])) }
        return hash
    }

    /// The low 14 bits of the remainder by 10,000, which has the sign of the value as in C.
    private static func low14(_ value: Int64) -> UInt32 {
        UInt32(truncatingIfNeeded: value % 10_000) & 0x3FFF
    }
}

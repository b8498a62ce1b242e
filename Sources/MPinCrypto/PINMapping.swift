import BN254CX

/// How the digits of a PIN become the scalar that is subtracted from a client secret. Each token is stored with its
/// mapping.
package enum PINMapping: String, Sendable, CaseIterable {
    /// The digits as a decimal number mod 10^6, 20 bits. The default, as in the JavaScript client.
    case decimal6
    /// The digits as a decimal number mod 10^4, 14 bits. Native clients of the Trust platform use it.
    case decimal4
    /// A hash of the PIN: for each of its bytes c, read as a signed number, h = 31 h + c in 32 bits, starting with h =
    /// 0. Then `legacy14` maps h. Milagro's SDK core made such tokens. The 10,000 PINs of four digits yield only 6,331
    /// different numbers, so use this mapping for old tokens only.
    case legacyHash
    /// Reads the PIN as a decimal integer with an optional minus sign. Takes the remainder by 10,000, which has the
    /// sign of the integer as in C. The scalar is the low 14 bits of this remainder in two's complement. Milagro's
    /// cryptographic library treated its integer argument in this way.
    case legacy14

    /// The width of the scalar in bits. The time of a multiplication by the scalar depends only on this width.
    package var bits: Int { self == .decimal6 ? 20 : 14 }

    /// Writes the scalar, 32 bytes big-endian, of a PIN in UTF-8. Constant time in the PIN, except for its length and,
    /// for `legacy14`, whether it has a minus sign.
    ///
    /// The decimal mappings take 1 to 32 ASCII digits, `legacy14` takes 1 to 10 digits after the sign. `legacyHash`
    /// takes any bytes and also an empty PIN, which its callers refuse. Any other input is `wrongParameter`.
    package func scalar(pin: Span<UInt8>, into scalar: inout MutableSpan<UInt8>) throws(MPinError) {
        guard scalar.count == MPinSize.scalar else { throw .wrongParameter }
        let value: UInt32 =
            switch self {
            case .decimal6: try PINMapping.decimal(pin, modulus: 1_000_000, reciprocal: 17_592_187)
            case .decimal4: try PINMapping.decimal(pin, modulus: 10_000, reciprocal: 1_759_218_605)
            case .legacyHash: PINMapping.low14(Int64(PINMapping.stringHash(pin)))
            case .legacy14: PINMapping.low14(try PINMapping.integer(pin))
            }
        for i in 0..<28 { scalar[i] = 0 }
        scalar[28] = UInt8(truncatingIfNeeded: value >> 24)
        scalar[29] = UInt8(truncatingIfNeeded: value >> 16)
        scalar[30] = UInt8(truncatingIfNeeded: value >> 8)
        scalar[31] = UInt8(truncatingIfNeeded: value)
    }

    /// The value of 1...32 ASCII digits as a decimal number mod `modulus`. The digits are checked once, at the end, so
    /// that the time does not depend on them.
    ///
    /// `reciprocal` is 2^44 / modulus, rounded up. It makes the quotient a product and a shift, because a division
    /// takes a time that depends on its operands, and not every compiler replaces one by a literal. The quotient is
    /// exact: `reciprocal` is too large by less than 1, so the product is too large by at most 10,000,005, which
    /// is below 2^44 / modulus. Always inlined: with literal factors it takes a tenth fewer instructions.
    @inline(__always)
    private static func decimal(
        _ pin: Span<UInt8>, modulus: UInt64, reciprocal: UInt64
    ) throws(MPinError) -> UInt32 {
        guard pin.count >= 1, pin.count <= 32 else { throw .wrongParameter }
        var value: UInt64 = 0
        var faults: UInt32 = 0
        for i in 0..<pin.count {
            let digit = UInt32(pin[i] &- 48)
            faults |= (9 &- digit) >> 31
            let longer = value &* 10 &+ UInt64(digit & 15)
            value = longer &- (longer &* reciprocal) &>> 44 &* modulus
        }
        guard declassify(0 &- Limb(faults)) == 0 else { throw .wrongParameter }
        return UInt32(truncatingIfNeeded: value)
    }

    /// The value of a decimal integer of 1...10 digits with an optional minus sign.
    private static func integer(_ pin: Span<UInt8>) throws(MPinError) -> Int64 {
        let isNegative = pin.count > 0 && declassify(0 &- Limb((UInt32(pin[0] ^ 45) &- 1) >> 31)) != 0
        let first = isNegative ? 1 : 0
        guard pin.count > first, pin.count &- first <= 10 else { throw .wrongParameter }
        var value: Int64 = 0
        var faults: UInt32 = 0
        for i in first..<pin.count {
            let digit = UInt32(pin[i] &- 48)
            faults |= (9 &- digit) >> 31
            value = value &* 10 &+ Int64(digit & 15)
        }
        guard declassify(0 &- Limb(faults)) == 0 else { throw .wrongParameter }
        return isNegative ? 0 &- value : value
    }

    /// The hash of `legacyHash`: h = 31 h + c in 32 bits for each byte c of the text, as a signed number.
    private static func stringHash(_ text: Span<UInt8>) -> Int32 {
        var hash: Int32 = 0
        for i in 0..<text.count { hash = hash &* 31 &+ Int32(Int8(bitPattern: text[i])) }
        return hash
    }

    /// The low 14 bits of the remainder by 10,000, which has the sign of the value as in C. The value lies between
    /// -10^10 and 10^10.
    ///
    /// The quotient by 10,000 is that by 16 and then by 625. The latter is a product and a shift as in `decimal`:
    /// 879,609,303 is 2^39 / 625, rounded up, and a number below 10^10 / 16 makes the product too large by less than
    /// 2^39 / 625.
    private static func low14(_ value: Int64) -> UInt32 {
        let sign = value &>> 63
        let magnitude = UInt64(bitPattern: (value ^ sign) &- sign)
        let quotient = ((magnitude &>> 4) &* 879_609_303) &>> 39
        let remainder = Int64(bitPattern: magnitude &- quotient &* 10_000)
        return UInt32(truncatingIfNeeded: (remainder ^ sign) &- sign) & 0x3FFF
    }
}

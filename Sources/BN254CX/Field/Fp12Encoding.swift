extension Fp12 {
    /// The places of the coefficients in the order of the encoding: w^0, w^3, w^1, w^4, w^2, w^5.
    @inline(__always)
    private static func encodedSlot(_ n: Int) -> Int {
        switch n {
        case 0: 0
        case 1: 4
        case 2: 3
        case 3: 2
        case 4: 1
        default: 5
        }
    }

    /// r = 384 bytes. All ones when every coordinate is below p, else zero. Scratch: 8 limbs.
    package static func decode(_ r: Limbs, _ bytes: UnsafePointer<UInt8>, _ s: Limbs) -> UInt {
        var mask = ~UInt(0)
        for n in 0..<6 {
            let element = r + 8 &* encodedSlot(n)
            mask &= Fp.decode(element, bytes + 64 &* n, s)
            mask &= Fp.decode(element + 4, bytes + (64 &* n &+ 32), s)
        }
        return mask
    }

    /// 384 bytes of a. Scratch: 12 limbs.
    package static func encode(_ bytes: UnsafeMutablePointer<UInt8>, _ a: ConstLimbs, _ s: Limbs) {
        for n in 0..<6 {
            let element = a + 8 &* encodedSlot(n)
            Fp.encode(bytes + 64 &* n, element, s)
            Fp.encode(bytes + (64 &* n &+ 32), element + 4, s)
        }
    }
}

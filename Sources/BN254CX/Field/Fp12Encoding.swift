// Encoding, decoding and comparison. All these functions use the representatives below p.
extension Fp12 {
    /// The n-th coefficient in the order of the encoding: w^0, w^3, w^1, w^4, w^2, w^5.
    @inline(__always)
    private func encoded(_ n: Int) -> Fp2 {
        switch n {
        case 0: c0.b0
        case 1: c1.b1
        case 2: c1.b0
        case 3: c0.b2
        case 4: c0.b1
        default: c1.b2
        }
    }

    /// Reads self from 384 bytes. Returns all ones if all twelve numbers are below p, else zero. Scratch: 8 limbs.
    package func decode(_ bytes: UnsafePointer<UInt8>, _ s: Limbs) -> Limb {
        var mask = ~Limb(0)
        for n in 0..<6 {
            mask &= Fp.decode(encoded(n).re, bytes + 64 &* n, s)
            mask &= Fp.decode(encoded(n).im, bytes + (64 &* n &+ 32), s)
        }
        return mask
    }

    /// Writes self as 384 bytes: the six coefficients in the order of `encoded`. Scratch: 12 limbs.
    package func encode(_ bytes: UnsafeMutablePointer<UInt8>, _ s: Limbs) {
        for n in 0..<6 {
            Fp.encode(bytes + 64 &* n, encoded(n).re, s)
            Fp.encode(bytes + (64 &* n &+ 32), encoded(n).im, s)
        }
    }

    /// All ones if self and a are equal, else zero. Scratch: 8 limbs.
    package func equalMask(_ a: Fp12, _ s: Limbs) -> Limb {
        var difference: Limb = 0
        for i in 0..<12 {
            Fp.canonical(s, limbs + 4 &* i)
            Fp.canonical(s + 4, a.limbs + 4 &* i)
            for j in 0..<4 { difference |= s[j] ^ s[4 &+ j] }
        }
        return ~nonZeroMask(difference)
    }

    /// All ones if every coefficient is zero, else zero. Scratch: 4 limbs.
    func zeroMask(_ s: Limbs) -> Limb {
        var mask = ~Limb(0)
        for i in 0..<12 { mask &= Fp.zeroMask(limbs + 4 &* i, s) }
        return mask
    }
}

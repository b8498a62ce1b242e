import CBN254CX

// The Frobenius map x -> x^(p^n): w^(p^n) = (1 + i)^((p^n - 1)/6) w, and conjugation in Fp2 for odd n.
extension Fp12 {
    /// The power of w that the element of Fp2 in place `slot` multiplies.
    @inline(__always)
    static func power(ofSlot slot: Int) -> Int { slot < 3 ? 2 &* slot : 2 &* slot &- 5 }

    /// r = x^p. Scratch: `Fp2.scratch`. 5 products in Fp2.
    package static func frobenius(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        frobeniusOdd(r, x, bn_frobenius_1(), s)
    }

    /// r = x^(p^2): the constants lie in Fp. Scratch: 16 limbs. 10 products in Fp.
    package static func frobenius2(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        copyLimbs(r, x, 8)
        for slot in 1..<6 {
            Fp2.mulByFp(r + 8 &* slot, x + 8 &* slot, bn_frobenius_2() + 4 &* power(ofSlot: slot), s)
        }
    }

    /// r = x^(p^3). Scratch: `Fp2.scratch`. 5 products in Fp2.
    package static func frobenius3(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        frobeniusOdd(r, x, bn_frobenius_3(), s)
    }

    private static func frobeniusOdd(_ r: Limbs, _ x: ConstLimbs, _ constants: ConstLimbs, _ s: Limbs) {
        Fp2.conj(r, x)
        for slot in 1..<6 {
            Fp2.conj(r + 8 &* slot, x + 8 &* slot)
            Fp2.mul(r + 8 &* slot, r + 8 &* slot, constants + 8 &* power(ofSlot: slot), s)
        }
    }
}

import CBN254CX

// Arithmetic in the cyclotomic subgroup of order p^4 - p^2 + 1, where the inverse is the conjugate.
extension Fp12 {
    /// r = x^2 for x in the cyclotomic subgroup.
    ///
    /// Granger and Scott, "Faster squaring in the cyclotomic subgroup of sixth degree extensions", PKC 2010, section
    /// 3.2: with Fp4 = Fp2[w^3] and x = A + B w + C w^2, x^2 = 3A^2 - 2 conj A + (3 w^3 C^2 + 2 conj B) w +
    /// (3B^2 - 2 conj C) w^2. 6 squarings and 3 products in Fp2, 12 reductions.
    @inline(never)
    package static func cyclotomicSqr(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        let square = s, cross = s + 16, result = s + 32, t = s + 80
        // Places of w^0 and w^3, w^1 and w^4, w^2 and w^5.
        fp4SqrWide(square, cross, x, x + 32, t)
        Fp2.reduce(result, square)  // 3 A^2, real
        Fp2.reduce(result + 32, cross)
        fp4SqrWide(square, cross, x + 24, x + 16, t)
        Fp2.reduce(result + 8, square)  // 3 B^2 goes to w^2 and w^5
        Fp2.reduce(result + 40, cross)
        fp4SqrWide(square, cross, x + 8, x + 40, t)
        Fp2.mulByXiWide(t, cross, class: 12)
        Fp2.reduce(result + 24, t)  // 3 w^3 C^2 goes to w^1 and w^4
        Fp2.reduce(result + 16, square)
        combine(r, x, result)
    }

    /// square = 3 (a^2 + xi b^2) of class 42 and 30, cross = 6ab of class 12: 3 (a + b w^3)^2.
    @inline(__always)
    private static func fp4SqrWide(
        _ square: Limbs, _ cross: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ s: Limbs
    ) {
        let t = s + 16
        Fp2.sqrWide(square, a, t)  // class 6, 2
        Fp2.sqrWide(s, b, t)
        addLimbs(square, square, bn_wide_multiples() + 16, 8)
        subLimbs(square, square, s + 8, 8)
        addLimbs(square, square, s, 8)  // 6 + 2 + 6 = 14
        addLimbs(square + 8, square + 8, s, 8)
        addLimbs(square + 8, square + 8, s + 8, 8)  // 2 + 6 + 2 = 10
        scaleLimbs(square, square, 8, 3)
        scaleLimbs(square + 8, square + 8, 8, 3)
        Fp2.mulWide(cross, a, b, class: 1, t)
        scaleLimbs(cross, cross, 8, 6)
        scaleLimbs(cross + 8, cross + 8, 8, 6)
    }

    /// r = result - 2x at w^0, w^2, w^4 and result + 2x at w^1, w^3, w^5: class 5 before it is made normal.
    @inline(__always)
    private static func combine(_ r: Limbs, _ x: ConstLimbs, _ result: Limbs) {
        addLimbs(result, result, bn_two_p_vector(), 24)
        addLimbs(result, result, bn_two_p_vector(), 24)
        subLimbs(result, result, x, 24)
        subLimbs(result, result, x, 24)
        addLimbs(result + 24, result + 24, x + 24, 24)
        addLimbs(r + 24, result + 24, x + 24, 24)
        copyLimbs(r, result, 24)
        Fp.normalise(r, count: 12)
    }

    /// r = x^u, u = |x of the curve|, for x in the cyclotomic subgroup; r must not overlap x.
    ///
    /// u in non-adjacent form: 62 squarings, 8 products.
    package static func cyclotomicPowU(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        let inverse = s, t = s + 48
        conj(inverse, x)
        copyLimbs(r, x, 48)
        CurveCard.forEachSignedBitOfU { sign in
            cyclotomicSqr(r, r, t)
            if sign != 0 { mul(r, r, sign > 0 ? x : ConstLimbs(inverse), t) }
        }
    }

    /// Limbs of scratch that `cyclotomicSqr` uses.
    static var cyclotomicScratch: Int { 80 &+ 16 &+ Fp2.wideScratch }
    /// Limbs of scratch that `cyclotomicPowU` uses.
    package static var powUScratch: Int { 48 &+ scratch }

    /// All ones when x lies in the cyclotomic subgroup: x^(p^4) x = x^(p^2) and x is not zero.
    package static func isCyclotomicMask(_ x: ConstLimbs, _ s: Limbs) -> UInt {
        let x2 = s, x4 = s + 48, t = s + 96
        frobenius2(x2, x, t)
        frobenius2(x4, x2, t)
        mul(x4, x4, x, t)
        return equalMask(x4, x2, t) & ~zeroMask(x, t)
    }

    /// All ones when every coefficient of x is zero, else zero. Scratch: 4 limbs.
    private static func zeroMask(_ x: ConstLimbs, _ s: Limbs) -> UInt {
        var mask = ~UInt(0)
        for i in 0..<12 { mask &= Fp.zeroMask(x + 4 &* i, s) }
        return mask
    }
}

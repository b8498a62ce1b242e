import CBN254CX

// Arithmetic in the cyclotomic subgroup of order p^4 - p^2 + 1, where the inverse is the conjugate.
extension Fp12 {
    /// r = x^2 for x in the cyclotomic subgroup.
    ///
    /// Granger and Scott, "Faster squaring in the cyclotomic subgroup of sixth degree extensions", PKC 2010, section
    /// 3.2: with Fp4 = Fp2[w^3] and x = A + B w + C w^2, x^2 = 3A^2 - 2 conj A + (3 w^3 C^2 + 2 conj B) w +
    /// (3B^2 - 2 conj C) w^2. 9 squarings in Fp2 (18 mpn_sec_mul), 12 reductions.
    @inline(never)
    package static func cyclotomicSqr(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        let square = s, cross = s + 16, result = s + 32, t = s + 80
        // Places of w^0 and w^3, w^1 and w^4, w^2 and w^5.
        fp4SqrWide(square, cross, x, x + 32, t)
        Fp2.reduce(result, square)  // A^2, real
        Fp2.reduce(result + 32, cross)
        fp4SqrWide(square, cross, x + 24, x + 16, t)
        Fp2.reduce(result + 8, square)  // B^2 goes to w^2 and w^5
        Fp2.reduce(result + 40, cross)
        fp4SqrWide(square, cross, x + 8, x + 40, t)
        Fp2.mulByXiWide(t, cross, class: 4)
        Fp2.reduce(result + 24, t)  // w^3 C^2 goes to w^1 and w^4: 14
        Fp2.reduce(result + 16, square)
        combine(r, x, result)
    }

    /// square = a^2 + xi b^2 of class 14 and 10, cross = 2ab of class 10 and 4: (a + b w^3)^2.
    ///
    /// cross is (a + b)^2 - a^2 - b^2. The offsets of the three real parts, 4p (s0 + s1) with s = a + b and
    /// 2p (s0 + s1) from a^2 and b^2 together, leave 2p (s0 + s1) of class 8 beside 2 (a0 b0 - a1 b1). That is not
    /// negative: 2p (a1 + b1) - 2 a1 b1 = 2p a1 + 2 b1 (p - a1), and a1 exceeds p by less than 2^196 if at all.
    @inline(__always)
    static func fp4SqrWide(
        _ square: Limbs, _ cross: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ s: Limbs
    ) {
        let bb = s, sum = s + 16, t = s + 24
        Fp2.sqrWide(square, a, t)  // class 6, 2
        Fp2.sqrWide(bb, b, t)
        (Wide(a) + Wide(b)).store(sum)
        Fp2.sqrWide(cross, sum, class: 2, t)  // class 24, 8
        (Wide(cross) - Wide(square) - Wide(bb)).store(cross)  // 8 + 2
        (Wide(cross + 8) - Wide(square + 8) - Wide(bb + 8)).store(cross + 8)
        Fp2.mulByXiAddWide(square, bb, class: 2, square)  // 6 + 2 + 6, 2 + 6 + 2
    }

    /// r = 3t - 2x at w^0, w^2, w^4 and 3t + 2x at w^1, w^3, w^5.
    @inline(__always)
    private static func combine(_ r: Limbs, _ x: ConstLimbs, _ t: ConstLimbs) {
        var i = 0
        while i < 24 {
            tripleLess(r + i, t + i, x + i)
            triplePlus(r + (24 &+ i), t + (24 &+ i), x + (24 &+ i))
            i &+= 4
        }
    }

    /// r = 3t - 2x, as 2(t + 2p - x) + t of class 7.
    @inline(__always)
    static func tripleLess(_ r: Limbs, _ t: ConstLimbs, _ x: ConstLimbs) {
        let difference = Narrow(t) + Narrow(bn_two_p_vector()) - Narrow(x)
        (difference + difference + Narrow(t)).normal.store(r)
    }

    /// r = 3t + 2x, as 2(t + x) + t of class 5.
    @inline(__always)
    static func triplePlus(_ r: Limbs, _ t: ConstLimbs, _ x: ConstLimbs) {
        let sum = Narrow(t) + Narrow(x)
        (sum + sum + Narrow(t)).normal.store(r)
    }

    /// r = x^(2^n), n positive.
    @inline(__always)
    private static func square(_ r: Limbs, _ x: ConstLimbs, times n: Int, _ s: Limbs) {
        cyclotomicSqr(r, x, s)
        var i = 1
        while i < n {
            cyclotomicSqr(r, r, s)
            i &+= 1
        }
    }

    /// r = x^u, u = |x of the curve|, for x in the cyclotomic subgroup; r must not overlap x.
    ///
    /// u = 2^62 + 15 (2^22 + 2^8 + 2^6 - 1), and x^16 lies on the way: 62 squarings, 5 products.
    package static func cyclotomicPowU(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        let h = s, t = s + 48
        square(r, x, times: 4, t)
        conj(h, x)
        mul(h, r, h, t)  // x^15
        compressedSquare(r, r, times: 36, t)
        mul(r, r, h, t)  // x^(2^40 + 15)
        square(r, r, times: 14, t)
        mul(r, r, h, t)
        square(r, r, times: 2, t)
        mul(r, r, h, t)
        square(r, r, times: 6, t)
        conj(h, h)
        mul(r, r, h, t)
    }

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

    /// All ones when x of the cyclotomic subgroup has order r or 1, else zero. Scratch: 96 limbs and `powUScratch`.
    ///
    /// x^p = x^(6u^2), since p - 6u^2 = r (p + 1 - t with the trace t = 6u^2 + 1): two powers by u instead of one by r
    /// (the idea of Scott, "A note on group membership tests for G1, G2 and GT", eprint 2021/1130).
    package static func isOrderMask(_ x: ConstLimbs, _ s: Limbs) -> UInt {
        let power = s, t = s + 48, rest = s + 96
        cyclotomicPowU(t, x, rest)
        cyclotomicPowU(power, t, rest)
        cyclotomicSqr(t, power, rest)
        mul(power, t, power, rest)
        cyclotomicSqr(power, power, rest)
        frobenius(t, x, rest)
        return equalMask(power, t, rest)
    }

    /// All ones when every coefficient of x is zero, else zero. Scratch: 4 limbs.
    private static func zeroMask(_ x: ConstLimbs, _ s: Limbs) -> UInt {
        var mask = ~UInt(0)
        for i in 0..<12 { mask &= Fp.zeroMask(x + 4 &* i, s) }
        return mask
    }
}

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
        Fp2.reduce(result + 24, t)  // w^3 C^2 goes to w^1 and w^4: 16
        Fp2.reduce(result + 16, square)
        combine(r, x, result)
    }

    /// square = a^2 + xi b^2 of class 14 and 10, cross = 2ab of class 12 and 4: (a + b w^3)^2.
    ///
    /// cross is (a + b)^2 - a^2 - b^2. The offsets of the three real parts, 4p (s0 + s1) with s = a + b and
    /// 2p (s0 + s1) from a^2 and b^2 together, leave 2p (s0 + s1) of class 8; 2 (ab) lies between -2 p^2 and 2 p^2.
    @inline(__always)
    private static func fp4SqrWide(
        _ square: Limbs, _ cross: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ s: Limbs
    ) {
        let bb = s, sum = s + 16, t = s + 24
        Fp2.sqrWide(square, a, t)  // class 6, 2
        Fp2.sqrWide(bb, b, t)
        (Wide(a) + Wide(b)).store(sum)
        Fp2.sqrWide(cross, sum, class: 2, t)  // class 24, 8
        (Wide(cross) + Wide(multiple: 2) - Wide(square) - Wide(bb)).store(cross)  // 8 + 2 + 2
        (Wide(cross + 8) - Wide(square + 8) - Wide(bb + 8)).store(cross + 8)
        Fp2.mulByXiAddWide(square, bb, class: 2, square)  // 6 + 2 + 6, 2 + 6 + 2
    }

    /// r = 3t - 2x at w^0, w^2, w^4, as 2(t + 2p - x) + t of class 7, and 3t + 2x of class 5 at w^1, w^3, w^5.
    @inline(__always)
    private static func combine(_ r: Limbs, _ x: ConstLimbs, _ t: ConstLimbs) {
        var i = 0
        while i < 6 {
            let even = Narrow(t + 4 &* i)
            let difference = even + Narrow(bn_two_p_vector()) - Narrow(x + 4 &* i)
            (difference + difference + even).normal.store(r + 4 &* i)
            let odd = Narrow(t + (24 &+ 4 &* i))
            let sum = odd + Narrow(x + (24 &+ 4 &* i))
            (sum + sum + odd).normal.store(r + (24 &+ 4 &* i))
            i &+= 1
        }
    }

    /// r = x^(2^n) for x in the cyclotomic subgroup, by compressed squarings: only B and C of x = A + B w + C w^2 (see
    /// `cyclotomicSqr`), whose squares do not depend on A, go through them.
    ///
    /// Karabina, "Squaring in cyclotomic subgroups", eprint 2010/542, section 3.2; formulas as in eprint 2010/526,
    /// section 5.2. 6 squarings in Fp2 (12 mpn_sec_mul), 8 reductions for each square, then `restore`, one inversion in
    /// Fp.
    @inline(never)
    package static func compressedSquare(_ r: Limbs, _ x: ConstLimbs, times n: Int, _ s: Limbs) {
        copyLimbs(r, x, 48)
        for _ in 0..<n { compressedSqr(r, s) }
        restore(r, s)
    }

    /// Squares all of x but A: B is 3 w^3 C^2 + 2 conj B, C is 3 B^2 - 2 conj C.
    @inline(never)
    private static func compressedSqr(_ x: Limbs, _ s: Limbs) {
        let square = s, cross = s + 16, result = s + 32, t = s + 64
        fp4SqrWide(square, cross, x + 24, x + 16, t)
        Fp2.reduce(result, square)  // B^2 goes to w^2 and w^5
        Fp2.reduce(result + 24, cross)
        fp4SqrWide(square, cross, x + 8, x + 40, t)
        Fp2.mulByXiWide(t, cross, class: 4)
        Fp2.reduce(result + 16, t)  // w^3 C^2 goes to w^1 and w^4: 16
        Fp2.reduce(result + 8, square)
        for i in 0..<2 {
            tripleLess(x + (8 &+ 4 &* i), result + 4 &* i)
            tripleLess(x + (16 &+ 4 &* i), result + (8 &+ 4 &* i))
            triplePlus(x + (24 &+ 4 &* i), result + (16 &+ 4 &* i))
            triplePlus(x + (40 &+ 4 &* i), result + (24 &+ 4 &* i))
        }
    }

    /// x = 3t - 2x, as 2(t + 2p - x) + t of class 7.
    @inline(__always)
    private static func tripleLess(_ x: Limbs, _ t: ConstLimbs) {
        let difference = Narrow(t) + Narrow(bn_two_p_vector()) - Narrow(x)
        (difference + difference + Narrow(t)).normal.store(x)
    }

    /// x = 3t + 2x, of class 5.
    @inline(__always)
    private static func triplePlus(_ x: Limbs, _ t: ConstLimbs) {
        let sum = Narrow(t) + Narrow(x)
        (sum + sum + Narrow(t)).normal.store(x)
    }

    /// Computes A = a0 + a1 w^3 of x from B = b0 + b1 w^3 and C = c0 + c1 w^3 (eprint 2010/526, theorem 3.1):
    /// a1 = (xi c1^2 + 3 c0^2 - 2 b1)/(4 b0), or 2 c0 c1/b1 if b0 = 0; a0 = xi (2 a1^2 + b0 c1 - 3 b1 c0) + 1.
    ///
    /// With 1/0 = 0 it is right for x = 1 too, the only element with b0 = b1 = 0: B = 0 leaves c0 c1 = 0 and
    /// xi c1^2 = -3 c0^2, hence C = 0, and no other element of Fp4 has an order that divides p^4 - p^2 + 1.
    /// Constant time. 1 inversion, 3 squarings and 4 products in Fp2.
    @inline(never)
    private static func restore(_ x: Limbs, _ s: Limbs) {
        let b0 = x + 24, b1 = x + 16, c0 = x + 8, c1 = x + 40, a1 = x + 32
        let numerator = s, other = s + 8, w = s + 16, v = s + 32, t = s + 48
        Fp2.sqrWide(v, c1, t)  // 6, 2
        Fp2.mulByXiWide(w, v, class: 2)  // 8, 8
        Fp2.sqrWide(v, c0, t)
        for i in [0, 8] { (Wide(w + i) + Wide(v + i) + Wide(v + i) + Wide(v + i)).store(w + i) }  // 26, 14
        Fp2.reduce(numerator, w)
        Fp2.sub(numerator, numerator, b1, t)
        Fp2.sub(numerator, numerator, b1, t)
        Fp2.mul(other, c0, c1, t)
        Fp2.add(other, other, other)
        let mask = Fp2.zeroMask(b0, t)
        selectLimbs(numerator, other, 8, mask: mask)
        Fp2.add(other, b0, b0)
        Fp2.add(other, other, other)
        selectLimbs(other, b1, 8, mask: mask)
        Fp2.inverse(other, other, t)
        Fp2.mul(a1, numerator, other, t)
        Fp2.sqrWide(w, a1, t)
        Fp2.mulWide(v, b1, c0, class: 1, t)
        for i in [0, 8] {
            let triple = Wide(v + i) + Wide(v + i) + Wide(v + i)
            (Wide(w + i) + Wide(w + i) + Wide(multiple: 6) - triple).store(w + i)  // 12 + 6, 4 + 6
        }
        Fp2.mulWide(v, b0, c1, class: 1, t)
        for i in [0, 8] { (Wide(w + i) + Wide(v + i)).store(w + i) }  // 20, 12
        Fp2.mulByXiWide(v, w, class: 12)
        Fp2.reduce(x, v)  // 32
        Fp.add(x, x, bn_one())
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

    /// Limbs of scratch that `cyclotomicSqr` and `compressedSquare` use.
    static var cyclotomicScratch: Int { 80 &+ 24 &+ Fp2.inverseScratch }
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

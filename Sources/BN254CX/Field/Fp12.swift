import CBN254CX

/// Fp12 = Fp6[w]/(w^2 - v): a + b w as two elements of Fp6 side by side, 48 limbs.
///
/// The six elements of Fp2 are, in order, the coefficients of w^0, w^2, w^4, w^1, w^3, w^5.
package enum Fp12 {
    /// Limbs of an element.
    package static var count: Int { 48 }
    /// Limbs of scratch that `mul`, `sqr` and the line multiplications use.
    package static var scratch: Int { 3 &* 48 &+ 48 &+ Fp6.wideScratch }

    /// r = x y (Karatsuba over Fp6; eprint 2010/354, algorithm 20, with the lazy reduction of eprint 2010/526).
    ///
    /// 18 products in Fp2, 12 reductions.
    @inline(never)
    package static func mul(_ r: Limbs, _ x: ConstLimbs, _ y: ConstLimbs, _ s: Limbs) {
        let t0 = s, t1 = s + 48, t2 = s + 96, sums = s + 144, t = s + 192
        Fp.add(sums, x, x + 24, count: 6)
        Fp.add(sums + 24, y, y + 24, count: 6)
        Fp6.mulWide(t0, x, y, t)  // class 10, 8, 6
        Fp6.mulWide(t1, x + 24, y + 24, t)
        Fp6.mulWide(t2, sums, sums + 24, t)
        Fp6.reduceMiddle(r + 24, t2, t0, t1)  // class 6 + 22
        Fp6.addTimesVWide(t0, t1, class: 6, sums)  // class 22
        Fp6.reduce(r, t0)
    }

    /// r = x^2 (complex squaring; eprint 2010/354, algorithm 22): (a + b)(a + v b) - ab - v ab, 2ab.
    ///
    /// 12 products in Fp2, 12 reductions.
    @inline(never)
    package static func sqr(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        let ab = s, u = s + 48, sums = s + 96, t = s + 192
        Fp.add(sums, x, x + 24, count: 6)
        // a0 + xi b2: real a00 + b20 + 2p - b21 of class 4
        (Narrow(x) + Narrow(bn_two_p_vector()) - Narrow(x + 44) + Narrow(x + 40)).normal.store(sums + 24)
        (Narrow(x + 4) + Narrow(x + 40) + Narrow(x + 44)).normal.store(sums + 28)
        Fp.add(sums + 32, x + 8, x + 24, count: 4)
        Fp6.mulWide(ab, x, x + 24, t)  // class 10, 8, 6
        Fp6.mulWide(u, sums, sums + 24, t)
        Fp6.reduceEven(r, u, ab)
        addLimbs(ab, ab, ab, 48)  // class 20
        Fp6.reduce(r + 24, ab)
    }

    /// r = x (l0 + l1 w + l3 w^3), a line of the Miller loop. 13 products in Fp2, 12 reductions.
    ///
    /// Karatsuba over Fp6 with the halves l0 and l1 + l3 v.
    @inline(never)
    package static func mulByLine(
        _ r: Limbs, _ x: ConstLimbs, _ l0: ConstLimbs, _ l1: ConstLimbs, _ l3: ConstLimbs, _ s: Limbs
    ) {
        let t0 = s, t1 = s + 48, t2 = s + 96, sums = s + 144, t = s + 192
        Fp2.mulWide(t0, x, l0, class: 1, t)  // t0 = a l0, class 2
        Fp2.mulWide(t0 + 16, x + 8, l0, class: 1, t)
        Fp2.mulWide(t0 + 32, x + 16, l0, class: 1, t)
        Fp6.mulSparseWide(t1, x + 24, l1, l3, t)  // t1 = b (l1 + l3 v), class 6, 4, 4
        Fp.add(sums, x, x + 24, count: 6)
        Fp2.add(sums + 24, l0, l1)
        Fp6.mulSparseWide(t2, sums, sums + 24, l3, t)
        Fp6.reduceMiddle(r + 24, t2, t0, t1)  // class 6 + 22
        Fp6.addTimesVWide(t0, t1, class: 4, sums)  // class 10
        Fp6.reduce(r, t0)
    }

    /// r = x (1 + l1 w + l3 w^3), a line divided by its constant. 10 products in Fp2, 12 reductions.
    @inline(never)
    package static func mulByMonicLine(_ r: Limbs, _ x: ConstLimbs, _ l1: ConstLimbs, _ l3: ConstLimbs, _ s: Limbs) {
        let t0 = s, t1 = s + 48, u = s + 96, t = s + 192
        Fp6.mulSparseWide(t0, x + 24, l1, l3, t)  // class 6, 4, 4
        Fp6.mulSparseWide(t1, x, l1, l3, t)
        Fp2.mulByXiWide(u, t0 + 32, class: 4)  // v t0: class 8
        Fp2.reduce(t, u)
        Fp.reduce(t + 8, t0, count: 4)
        Fp6.reduce(t + 24, t1)
        Fp.add(r, x, t, count: 12)
    }

    /// r = x^(p^6): a - b w.
    package static func conj(_ r: Limbs, _ x: ConstLimbs) {
        copyLimbs(r, x, 24)
        for i in 6..<12 { Fp.neg(r + 4 &* i, x + 4 &* i) }
    }

    /// r = 1/x, and 0 for 0 (eprint 2010/354, algorithm 23): conj(x)/(a^2 - v b^2).
    package static func inverse(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        let n = s, m = s + 24, t = s + 48
        Fp6.mul(n, x, x, t)
        Fp6.mul(m, x + 24, x + 24, t)
        Fp6.mulByV(m, m, t)
        addLimbs(n, n, bn_two_p_vector(), 24)
        subLimbs(n, n, m, 24)
        Fp.normalise(n, count: 6)
        Fp6.inverse(n, n, t)
        conj(r, x)
        Fp6.mul(r, r, n, t)
        Fp6.mul(r + 24, r + 24, n, t)
    }

    /// Limbs of scratch that `inverse` uses.
    package static var inverseScratch: Int { 48 &+ max(Fp6.scratch, Fp6.inverseScratch) }

    /// r = 1.
    package static func setOne(_ r: Limbs) {
        Fp.setOne(r)
        zeroLimbs(r + 4, 44)
    }

    /// All ones when a = b, else zero. Scratch: 8 limbs.
    package static func equalMask(_ a: ConstLimbs, _ b: ConstLimbs, _ s: Limbs) -> UInt {
        var difference: UInt = 0
        for i in 0..<12 {
            Fp.canonical(s, a + 4 &* i)
            Fp.canonical(s + 4, b + 4 &* i)
            for j in 0..<4 { difference |= s[j] ^ s[4 &+ j] }
        }
        return ~nonZeroMask(difference)
    }
}

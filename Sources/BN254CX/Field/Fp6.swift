/// Fp6 = Fp2[v]/(v^3 - (1 + i)): a0 + a1 v + a2 v^2 as three elements of Fp2 side by side, 24 limbs.
///
/// In powers of w (v = w^2) these are the coefficients of w^0, w^2, w^4.
package enum Fp6 {
    /// Limbs of an element.
    package static var count: Int { 24 }
    /// Limbs of scratch that `mulWide` and `mulSparseWide` use.
    static var wideScratch: Int { 80 &+ Fp2.wideScratch }
    /// Limbs of scratch that `mul` uses.
    package static var scratch: Int { 48 &+ wideScratch }

    /// w = x y, 48 limbs, x and y normal. The three coefficients are of class 10, 8, 6.
    ///
    /// Karatsuba in Fp2 (eprint 2006/471, section 4.1), unreduced. 6 products in Fp2.
    @inline(never)
    static func mulWide(_ w: Limbs, _ x: ConstLimbs, _ y: ConstLimbs, _ s: Limbs) {
        let v0 = s, v1 = s + 16, v2 = s + 32, m = s + 48, sums = s + 64, t = s + 80
        Fp2.mulWide(v0, x, y, class: 1, t)  // v0 = x0 y0
        Fp2.mulWide(v1, x + 8, y + 8, class: 1, t)  // v1 = x1 y1
        Fp2.mulWide(v2, x + 16, y + 16, class: 1, t)  // v2 = x2 y2
        crossWide(m, x + 8, x + 16, y + 8, y + 16, v1, v2, sums)
        Fp2.mulByXiAddWide(w, m, class: 4, v0)  // w0 = xi (x1 y2 + x2 y1) + v0: 8 + 2
        crossWide(w + 16, x, x + 8, y, y + 8, v0, v1, sums)
        Fp2.mulByXiAddWide(w + 16, v2, class: 2, w + 16)  // w1 = x0 y1 + x1 y0 + xi v2: 4 + 4
        crossWide(w + 32, x, x + 16, y, y + 16, v0, v2, sums)
        addLimbs(w + 32, w + 32, v1, 16)  // w2 = x0 y2 + x2 y0 + v1: 4 + 2
    }

    /// w = a d + b c as (a + b)(c + d) - a c - b d, given the products ac and bd of class 2. Class 4. Scratch: 32
    /// limbs.
    ///
    /// The real part of the product carries an offset of 4 p^2, each of ac and bd one of p^2: what is left is at least
    /// 2 p^2 above a real part that is at least -2 p^2.
    @inline(__always)
    private static func crossWide(
        _ w: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ c: ConstLimbs, _ d: ConstLimbs, _ ac: ConstLimbs,
        _ bd: ConstLimbs, _ s: Limbs
    ) {
        addLimbs(s, a, b, 8)
        addLimbs(s + 8, c, d, 8)
        Fp2.mulWide(w, s, s + 8, class: 4, s + 16)
        (Wide(w) - Wide(ac) - Wide(bd)).store(w)
        (Wide(w + 8) - Wide(ac + 8) - Wide(bd + 8)).store(w + 8)
    }

    /// w = x (l0 + l1 v), 48 limbs, x and l normal. The three coefficients are of class 6, 4, 4.
    ///
    /// Karatsuba on the two lower coefficients, the upper one by hand. 5 products in Fp2.
    @inline(never)
    static func mulSparseWide(_ w: Limbs, _ x: ConstLimbs, _ l0: ConstLimbs, _ l1: ConstLimbs, _ s: Limbs) {
        let v0 = s, v1 = s + 16, m = s + 32, t = s + 48
        Fp2.mulWide(v0, x, l0, class: 1, t)  // v0 = x0 l0
        Fp2.mulWide(v1, x + 8, l1, class: 1, t)  // v1 = x1 l1
        crossWide(w + 16, x, x + 8, l0, l1, v0, v1, t)  // w1 = x0 l1 + x1 l0: 4
        Fp2.mulWide(m, x + 16, l1, class: 1, t)
        Fp2.mulByXiAddWide(w, m, class: 2, v0)  // w0 = x0 l0 + xi x2 l1: 2 + 4
        Fp2.mulWide(w + 32, x + 16, l0, class: 1, t)
        addLimbs(w + 32, w + 32, v1, 16)  // w2 = x1 l1 + x2 l0: 2 + 2
    }

    /// w += v t for 48 limbs each: (xi t2, t0, t1), t2 of class k. Scratch: 16 limbs.
    @inline(__always)
    static func addTimesVWide(_ w: Limbs, _ t: ConstLimbs, class k: Int, _ s: Limbs) {
        addLimbs(w + 16, w + 16, t, 32)
        Fp2.mulByXiAddWide(w, t + 32, class: k, w)
    }

    /// r = w reduced, every component up to class 50. r must not overlap w.
    @inline(__always)
    static func reduce(_ r: Limbs, _ w: ConstLimbs) { Fp.reduce(r, w, count: 6) }

    /// r = t2 - t0 - t1 reduced, for t0 and t1 of class 11 at most each and t2 of class 28 at most: class 22 more than
    /// t2, which is destroyed.
    @inline(__always)
    static func reduceMiddle(_ r: Limbs, _ t2: Limbs, _ t0: ConstLimbs, _ t1: ConstLimbs) {
        var i = 0
        while i < 48 {
            (Wide(t2 + i) + Wide(multiple: 22) - Wide(t0 + i) - Wide(t1 + i)).store(t2 + i)
            i &+= 8
        }
        reduce(r, t2)
    }

    /// r = u - t - v t reduced, for u and t of class 10, 8, 6: u0 - t0 - xi t2, u1 - t1 - t0, u2 - t2 - t1. Classes 32,
    /// 26, 20. u is destroyed.
    @inline(__always)
    static func reduceEven(_ r: Limbs, _ u: Limbs, _ t: ConstLimbs) {
        (Wide(u) + Wide(multiple: 16) - Wide(t) - Wide(t + 32) + Wide(t + 40)).store(u)  // 10 + 16 + 6
        (Wide(u + 8) + Wide(multiple: 22) - Wide(t + 8) - Wide(t + 32) - Wide(t + 40)).store(u + 8)  // 10 + 22
        var i = 16
        while i < 48 {
            let multiple = Wide(multiple: i < 32 ? 18 : 14)  // the classes of t1 + t0 and of t2 + t1
            (Wide(u + i) + multiple - Wide(t + i) - Wide(t + (i &- 16))).store(u + i)
            i &+= 8
        }
        reduce(r, u)
    }

    /// r = x y. 6 products in Fp2, 6 reductions.
    package static func mul(_ r: Limbs, _ x: ConstLimbs, _ y: ConstLimbs, _ s: Limbs) {
        mulWide(s, x, y, s + 48)
        reduce(r, s)
    }

    /// r = v x. Scratch: 16 limbs.
    static func mulByV(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        Fp2.mulByXi(s, x + 16, s + 8)
        var i = 15
        while i >= 0 {
            r[i &+ 8] = x[i]
            i &-= 1
        }
        copyLimbs(r, s, 8)
    }

    /// r = 1/x, and 0 for 0 (Beuchat and others, "High-speed software implementation of the optimal ate pairing over
    /// Barreto-Naehrig curves", eprint 2010/354, algorithm 17). 9 products, 3 squarings and one inversion in Fp2.
    package static func inverse(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        let c0 = s, c1 = s + 8, c2 = s + 16, m = s + 24, t = s + 32
        let x0 = x, x1 = x + 8, x2 = x + 16
        Fp2.sqr(c0, x0, t)
        Fp2.mul(m, x1, x2, t)
        Fp2.mulByXi(m, m, t)
        Fp2.sub(c0, c0, m)  // c0 = x0^2 - xi x1 x2
        Fp2.sqr(c1, x2, t)
        Fp2.mulByXi(c1, c1, t)
        Fp2.mul(m, x0, x1, t)
        Fp2.sub(c1, c1, m)  // c1 = xi x2^2 - x0 x1
        Fp2.sqr(c2, x1, t)
        Fp2.mul(m, x0, x2, t)
        Fp2.sub(c2, c2, m)  // c2 = x1^2 - x0 x2
        inverseNorm(m, x, c0, c1, c2, t)
        Fp2.mul(r, c0, m, t)
        Fp2.mul(r + 8, c1, m, t)
        Fp2.mul(r + 16, c2, m, t)
    }

    /// m = 1/(x0 c0 + xi (x2 c1 + x1 c2)).
    private static func inverseNorm(
        _ m: Limbs, _ x: ConstLimbs, _ c0: ConstLimbs, _ c1: ConstLimbs, _ c2: ConstLimbs, _ s: Limbs
    ) {
        let n = s, t = s + 8
        Fp2.mul(n, x + 16, c1, t)
        Fp2.mul(m, x + 8, c2, t)
        Fp2.add(n, n, m)
        Fp2.mulByXi(n, n, t)
        Fp2.mul(m, x, c0, t)
        Fp2.add(m, m, n)
        Fp2.inverse(m, m, t)
    }

    /// Limbs of scratch that `inverse` uses.
    package static var inverseScratch: Int { 40 &+ Fp2.inverseScratch }
}

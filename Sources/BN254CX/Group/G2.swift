import CBN254CX

/// A point of the twist E': Y^2 = X^3 + (1 - i) over Fp2 in 24 limbs of an arena: X, Y, Z with x = X/Z and y = Y/Z;
/// (0 : 1 : 0) is the point at infinity. G2 is the subgroup of order r; the whole group has the odd order r(2p - r),
/// so that the complete formulas hold for every point of it.
///
/// Formulas as in `G1`, with b3 = 3(1 - i).
package struct G2 {
    /// Limbs of a point.
    package static var count: Int { 24 }
    /// Limbs of scratch that `add` and `double` use.
    package static var scratch: Int { 3 &* 16 &+ 3 &* 8 &+ 16 &+ 3 &* 8 &+ 16 }

    package let limbs: Limbs

    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) var x: Limbs { limbs }
    @inline(__always) var y: Limbs { limbs + 8 }
    @inline(__always) var z: Limbs { limbs + 16 }

    /// self = p + q (eprint 2015/1060, algorithm 7). 12 products in Fp2 (36 mpn_sec_mul), 18 reductions.
    @inline(never)
    package func add(_ p: G2, _ q: G2, _ s: Limbs) {
        let xx = s, yy = s + 16, zz = s + 32, t3 = s + 48, t4 = s + 56, t5 = s + 64, w = s + 72
        let x3 = s + 88, plus = s + 96, minus = s + 104, t = s + 112
        Fp2.mulWide(xx, p.x, q.x, class: 1, t)
        Fp2.mulWide(yy, p.y, q.y, class: 1, t)
        Fp2.mulWide(zz, p.z, q.z, class: 1, t)
        G2.crossWide(w, p.x, p.y, q.x, q.y, xx, yy, s + 88)
        Fp2.reduce(t3, w)  // t3 = X1 Y2 + X2 Y1: 4
        G2.crossWide(w, p.y, p.z, q.y, q.z, yy, zz, s + 88)
        Fp2.reduce(t4, w)  // t4 = Y1 Z2 + Y2 Z1: 4
        G2.crossWide(w, p.x, p.z, q.x, q.z, xx, zz, s + 88)
        G2.mulByB3Wide(t, w, class: 4, times: 3)
        Fp2.reduce(t5, t)  // t5 = b3 (X1 Z2 + X2 Z1): 24
        scaleLimbs(xx, xx, 8, 3)
        scaleLimbs(xx + 8, xx + 8, 8, 3)
        Fp2.reduce(x3, xx)  // 3 X1 X2: 6
        G2.mulByB3Wide(w, zz, class: 2, times: 3)  // b3 Z1 Z2: 12
        addLimbs(xx, yy, w, 16)
        Fp2.reduce(plus, xx)  // Y1 Y2 + b3 Z1 Z2: 14
        G2.subWide(yy, w, class: 12)
        Fp2.reduce(minus, yy)  // Y1 Y2 - b3 Z1 Z2: 14
        G2.finishAdd(self, t3, t4, t5, x3, plus, minus, s)
    }

    /// w = (a + b)(c + d) - ac - bd for products ac, bd of class 2. Class 4, as in `Fp6`. Scratch: 32 limbs.
    @inline(__always)
    private static func crossWide(
        _ w: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ c: ConstLimbs, _ d: ConstLimbs, _ ac: ConstLimbs,
        _ bd: ConstLimbs, _ s: Limbs
    ) {
        addLimbs(s, a, b, 8)
        addLimbs(s + 8, c, d, 8)
        Fp2.mulWide(w, s, s + 8, class: 4, s + 16)
        subLimbs(w, w, ac, 16)
        subLimbs(w, w, bd, 16)
    }

    /// r = times (1 - i) w for w of class k: times (w0 + w1), times (w1 - w0 + k). Class 2k times.
    @inline(__always)
    static func mulByB3Wide(_ r: Limbs, _ w: ConstLimbs, class k: Int, times: UInt) {
        addLimbs(r, w, w + 8, 8)
        addLimbs(r + 8, w + 8, bn_wide_multiples() + 8 &* k, 8)
        subLimbs(r + 8, r + 8, w, 8)
        scaleLimbs(r, r, 8, times)
        scaleLimbs(r + 8, r + 8, 8, times)
    }

    /// a -= b for b of class k, which adds k to the class of a.
    @inline(__always)
    static func subWide(_ a: Limbs, _ b: ConstLimbs, class k: Int) {
        (Wide(a) + Wide(multiple: k) - Wide(b)).store(a)
        (Wide(a + 8) + Wide(multiple: k) - Wide(b + 8)).store(a + 8)
    }

    /// X3 = t3 minus - t4 t5, Y3 = plus minus + x3 t5, Z3 = plus t4 + x3 t3. Scratch: 48 limbs.
    @inline(__always)
    private static func finishAdd(
        _ r: G2, _ t3: ConstLimbs, _ t4: ConstLimbs, _ t5: ConstLimbs, _ x3: ConstLimbs, _ plus: ConstLimbs,
        _ minus: ConstLimbs, _ s: Limbs
    ) {
        let u = s, v = s + 16, t = s + 32
        Fp2.mulWide(u, t3, minus, class: 1, t)
        Fp2.mulWide(v, t4, t5, class: 1, t)
        subWide(u, v, class: 2)
        Fp2.reduce(r.x, u)  // 4
        Fp2.mulWide(u, plus, minus, class: 1, t)
        Fp2.mulWide(v, x3, t5, class: 1, t)
        addLimbs(u, u, v, 16)
        Fp2.reduce(r.y, u)
        Fp2.mulWide(u, plus, t4, class: 1, t)
        Fp2.mulWide(v, x3, t3, class: 1, t)
        addLimbs(u, u, v, 16)
        Fp2.reduce(r.z, u)
    }

    /// self = -p.
    package func negate(_ p: G2) {
        copyLimbs(x, p.x, 8)
        copyLimbs(z, p.z, 8)
        Fp2.neg(y, p.y)
    }

    /// self = p.
    package func copy(_ p: G2) { copyLimbs(limbs, p.limbs, G2.count) }

    /// self = the point at infinity.
    package func setInfinity() {
        zeroLimbs(limbs, G2.count)
        Fp2.setOne(y)
    }

    /// self = the generator.
    package func setGenerator() { copyLimbs(limbs, bn_g2_generator(), G2.count) }

    /// All ones for the point at infinity, else zero. Scratch: 4 limbs.
    package func infinityMask(_ s: Limbs) -> UInt { Fp2.zeroMask(z, s) }

    /// All ones when the points are equal, else zero: X1 Z2 = X2 Z1 and Y1 Z2 = Y2 Z1. Scratch: 48 limbs.
    package func equalMask(_ q: G2, _ s: Limbs) -> UInt {
        var mask = ~UInt(0)
        for i in 0..<2 {
            Fp2.mul(s, limbs + 8 &* i, q.z, s + 16)
            Fp2.mul(s + 8, q.limbs + 8 &* i, z, s + 16)
            Fp2.sub(s, s, s + 8)
            mask &= Fp2.zeroMask(s, s + 16)
        }
        return mask
    }
}

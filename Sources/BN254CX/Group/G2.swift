/// A point of the twist E': Y^2 = X^3 + (1 - i) over Fp2 in 24 limbs of an arena: X, Y, Z with x = X/Z and y = Y/Z. The
/// point at infinity is (0, 1, 0). G2 is the subgroup of order r. The whole group has the odd order r(2p - r), so the
/// complete formulas hold for all of its points.
///
/// The formulas are those of `G1`, with b3 = 3(1 - i).
package struct G2 {
    /// The number of limbs of a point.
    package static var count: Int { 24 }
    /// The number of limbs of scratch that `add` and `double` use.
    package static var scratch: Int {
        4 &* Fp2Product.count &+ 6 &* Fp2.count &+ Fp2Product.count &+ Fp2Product.crossScratch
    }

    package let limbs: Limbs

    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) var x: Fp2 { Fp2(limbs) }
    @inline(__always) var y: Fp2 { Fp2(limbs + 8) }
    @inline(__always) var z: Fp2 { Fp2(limbs + 16) }

    /// X and Y as an affine point. Z must be 1.
    @inline(__always) package var affine: G2Affine { G2Affine(limbs) }

    /// self = p + q (eprint 2015/1060, algorithm 7). 12 products in Fp2 (36 mpn_sec_mul), 18 reductions.
    @inline(never)
    package func add(_ p: G2, _ q: G2, _ s: Limbs) {
        var arena = Arena(s)
        let xx = arena.fp2Product(), yy = arena.fp2Product(), zz = arena.fp2Product(), w = arena.fp2Product()
        let t3 = arena.fp2(), t4 = arena.fp2(), t5 = arena.fp2()
        let x3 = arena.fp2(), plus = arena.fp2(), minus = arena.fp2()
        let v = arena.fp2Product(), t = arena.scratch
        xx.multiply(p.x, q.x, class: 1, t)
        yy.multiply(p.y, q.y, class: 1, t)
        zz.multiply(p.z, q.z, class: 1, t)
        w.cross(p.x, p.y, q.x, q.y, xx, yy, t)
        t3.reduce(w)  // t3 = X1 Y2 + X2 Y1, class 4
        w.cross(p.y, p.z, q.y, q.z, yy, zz, t)
        t4.reduce(w)  // t4 = Y1 Z2 + Y2 Z1, class 4
        w.cross(p.x, p.z, q.x, q.z, xx, zz, t)
        v.multiplyByB(w, class: 4, times: 3)
        t5.reduce(v)  // t5 = b3 (X1 Z2 + X2 Z1), class 24
        xx.scale(xx, by: 3)
        x3.reduce(xx)  // 3 X1 X2, class 6
        v.multiplyByB(zz, class: 2, times: 3)  // b3 Z1 Z2, class 12
        xx.add(yy, v)
        plus.reduce(xx)  // Y1 Y2 + b3 Z1 Z2, class 14
        yy.subtract(v, class: 12)
        minus.reduce(yy)  // Y1 Y2 - b3 Z1 Z2, class 14
        finishAdd(t3, t4, t5, x3, plus, minus, s)
    }

    /// The last step of `add`: X3 = t3 * minus - t4 * t5, Y3 = plus * minus + x3 * t5, Z3 = plus * t4 + x3 * t3.
    /// Scratch: 48 limbs.
    @inline(__always)
    private func finishAdd(_ t3: Fp2, _ t4: Fp2, _ t5: Fp2, _ x3: Fp2, _ plus: Fp2, _ minus: Fp2, _ s: Limbs) {
        var arena = Arena(s)
        let u = arena.fp2Product(), v = arena.fp2Product(), t = arena.scratch
        u.multiply(t3, minus, class: 1, t)
        v.multiply(t4, t5, class: 1, t)
        u.subtract(v, class: 2)
        x.reduce(u)  // class 4
        u.multiply(plus, minus, class: 1, t)
        v.multiply(x3, t5, class: 1, t)
        u.add(u, v)
        y.reduce(u)
        u.multiply(plus, t4, class: 1, t)
        v.multiply(x3, t3, class: 1, t)
        u.add(u, v)
        z.reduce(u)
    }

    /// self = -p.
    package func negate(_ p: G2) {
        x.copy(p.x)
        z.copy(p.z)
        y.negate(p.y)
    }

    /// self = p.
    package func copy(_ p: G2) { copyLimbs(limbs, p.limbs, G2.count) }

    /// self = the point at infinity.
    package func setInfinity() {
        zeroLimbs(limbs, G2.count)
        y.setOne()
    }

    /// All ones if this is the point at infinity, else zero. Scratch: 4 limbs.
    package func infinityMask(_ s: Limbs) -> Limb { z.zeroMask(s) }

    /// All ones if the points are equal, else zero: X1 Z2 = X2 Z1 and Y1 Z2 = Y2 Z1. Scratch: 48 limbs.
    package func equalMask(_ q: G2, _ s: Limbs) -> Limb {
        G2.equalMask(x, z, q.x, q.z, s) & G2.equalMask(y, z, q.y, q.z, s)
    }

    /// All ones if the fractions a/b and c/d are equal, else zero.
    private static func equalMask(_ a: Fp2, _ b: Fp2, _ c: Fp2, _ d: Fp2, _ s: Limbs) -> Limb {
        var arena = Arena(s)
        let left = arena.fp2(), right = arena.fp2(), t = arena.scratch
        left.multiply(a, d, t)
        right.multiply(c, b, t)
        left.subtract(left, right)
        return left.zeroMask(t)
    }
}

extension Fp2Product {
    /// self = times * (1 - i) * w for w of class k (see `Fp`). The real part is times * (w.re + w.im), the imaginary
    /// part is times * (w.im - w.re) plus a multiple of p that makes it positive. The result is of class 2 * k * times.
    @inline(__always)
    func multiplyByB(_ w: Fp2Product, class k: Int, times: Limb) {
        let imaginary = (Wide(w.im) + Wide(multiple: k) - Wide(w.re)) * times
        ((Wide(w.re) + Wide(w.im)) * times).store(re)
        imaginary.store(im)
    }
}

extension Arena {
    /// Takes the limbs of a point of G2 from the arena. They are not initialised.
    package mutating func g2() -> G2 { G2(take(G2.count)) }
}

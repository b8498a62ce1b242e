/// The values that a doubling of a point (X, Y, Z) of the twist and the tangent of the Miller loop have in common: five
/// elements of Fp2 in 40 limbs of scratch. b3 is 3(1 - i).
struct G2DoublingTerms {
    /// The number of limbs of the terms.
    static var count: Int { 5 &* Fp2.count }
    /// The number of limbs of scratch that `compute` and `finish` use.
    static var scratch: Int { 4 &* Fp2Product.count &+ Fp2Product.scratch }

    let limbs: Limbs

    /// The square Y^2.
    @inline(__always) var yy: Fp2 { Fp2(limbs) }
    /// The number B = b3 Z^2.
    @inline(__always) var b: Fp2 { Fp2(limbs + 8) }
    /// The number C = Y^2 - 3 b3 Z^2.
    @inline(__always) var c: Fp2 { Fp2(limbs + 16) }
    /// The product YZ.
    @inline(__always) var yz: Fp2 { Fp2(limbs + 24) }
    /// Twice the product XY.
    @inline(__always) var xy: Fp2 { Fp2(limbs + 32) }

    /// Computes the terms of p. 2 squarings and 2 products in Fp2, 10 reductions.
    @inline(__always)
    func compute(_ p: G2, _ s: Limbs) {
        var arena = Arena(s)
        let w = arena.fp2Product(), v = arena.fp2Product(), u = arena.fp2Product(), t = arena.scratch
        w.square(p.y, class: 1, t)  // class 6, 2
        v.squareTightly(p.z, t)  // class 2, 2
        yy.reduce(w)
        u.multiplyByB(v, class: 2, times: 9)  // 3 b3 Z^2, class 36
        w.subtract(u, class: 36)
        c.reduce(w)  // class 42
        u.multiplyByB(v, class: 2, times: 3)
        b.reduce(u)  // class 12
        w.multiply(p.y, p.z, class: 1, t)
        yz.reduce(w)
        w.multiply(p.x, p.y, class: 1, t)
        w.add(w, w)
        xy.reduce(w)  // class 4
    }

    /// r = 2p for the p of `compute`: X3 = 2XY C, Y3 = C (C + 4B) + 8 Y^2 B, Z3 = 8 Y^2 YZ (eprint 2015/1060, algorithm
    /// 9, rearranged). 4 products in Fp2, 6 reductions.
    @inline(__always)
    func finish(_ r: G2, _ s: Limbs) {
        var arena = Arena(s)
        let w = arena.fp2Product(), v = arena.fp2Product(), sum = arena.fp2(), t = arena.scratch
        w.multiply(xy, c, class: 1, t)
        r.x.reduce(w)
        w.multiply(yy, yz, class: 1, t)
        w.scale(w, by: 8)
        r.z.reduce(w)  // class 16
        (Narrow(b.re) * 4 + Narrow(c.re)).normal.store(sum.re)
        (Narrow(b.im) * 4 + Narrow(c.im)).normal.store(sum.im)
        w.multiply(c, sum, class: 1, t)
        v.multiply(yy, b, class: 1, t)
        v.scale(v, by: 8)
        w.add(w, v)
        r.y.reduce(w)  // class 2 + 16
    }
}

extension G2 {
    /// self = 2p. 2 squarings and 6 products in Fp2, 16 reductions.
    @inline(never)
    package func double(_ p: G2, _ s: Limbs) {
        let terms = G2DoublingTerms(limbs: s)
        terms.compute(p, s + G2DoublingTerms.count)
        terms.finish(self, s + G2DoublingTerms.count)
    }
}

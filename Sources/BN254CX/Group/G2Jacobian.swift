/// A point of the twist in Jacobian coordinates, 24 limbs; see `G1Jacobian`.
struct G2Jacobian {
    /// The number of limbs of a point.
    static var count: Int { 24 }
    /// The number of limbs of scratch that `double` and `add` use.
    static var scratch: Int { 2 &* Fp2Product.count &+ 4 &* Fp2.count &+ Fp2.scratch }

    let limbs: Limbs

    @inline(__always) var x: Fp2 { Fp2(limbs) }
    @inline(__always) var y: Fp2 { Fp2(limbs + 8) }
    @inline(__always) var z: Fp2 { Fp2(limbs + 16) }

    /// X and Y, which are an affine point if Z is 1.
    @inline(__always) var affine: G2Affine { G2Affine(limbs) }

    /// self = 2 self; the point at infinity (Z = 0) stays. The formulas are those of `G1Jacobian`: 3 products and 4
    /// squarings in Fp2, 12 reductions.
    @inline(never)
    func double(_ s: Limbs) {
        var arena = Arena(s)
        let w = arena.fp2Product(), v = arena.fp2Product(), e = arena.fp2(), b = arena.fp2(), d = arena.fp2()
        let t = arena.scratch
        w.squareTightly(x, t)
        w.addTwice(w, w)
        e.reduce(w)  // class 6
        w.square(y, class: 1, t)
        b.reduce(w)
        w.multiply(y, z, class: 1, t)
        w.add(w, w)
        z.reduce(w)  // class 4
        v.multiply(x, b, class: 1, t)
        v.scale(v, by: 4)
        d.reduce(v)  // class 8
        w.squareTightly(e, t)
        w.subtractTwice(v, class: 16)
        x.reduce(w)  // class 2 + 16
        d.subtractLazily(d, x)  // class 3
        w.multiply(e, d, class: 3, t)  // class 6
        v.squareTightly(b, t)
        v.scale(v, by: 4)
        w.subtractTwice(v, class: 16)
        y.reduce(w)  // class 6 + 16
    }

    /// self = self + p. Neither point may be infinite, and they must not be equal; if they are opposite, Z becomes 0.
    /// The x of p is normal, its y of class 2 at most (see `Fp`). `ratio` receives the factor by which Z is multiplied.
    /// The formulas are those of `G1Jacobian`: 8 products and 3 squarings in Fp2, 20 reductions.
    @inline(never)
    func add(_ p: G2Affine, ratio h: Fp2, _ s: Limbs) {
        var arena = Arena(s)
        let w = arena.fp2Product(), v = arena.fp2Product(), zz = arena.fp2(), r = arena.fp2()
        let hh = arena.fp2(), hhh = arena.fp2(), t = arena.scratch
        zz.square(z, t)
        h.multiply(p.x, zz, t)
        h.subtract(h, x)
        zz.multiply(zz, z, t)
        w.multiply(p.y, zz, class: 2, t)
        r.reduce(w)  // class 4
        r.subtract(r, y)
        z.multiply(z, h, t)
        hh.square(h, t)
        v.multiply(h, hh, class: 1, t)
        hhh.reduce(v)
        w.multiply(x, hh, class: 1, t)
        hh.reduce(w)  // V = XH^2
        v.addTwice(v, w)  // H^3 + 2V, class 6
        w.squareTightly(r, t)
        w.subtract(v, class: 6)
        x.reduce(w)  // class 2 + 6
        hh.subtractLazily(hh, x)  // class 3
        w.multiply(r, hh, class: 3, t)  // class 6
        v.multiply(y, hhh, class: 1, t)
        w.subtract(v, class: 2)
        y.reduce(w)  // class 8
    }

    /// Writes the point (X, Y, Zf) with f = `factor` in Fp to p, in the coordinates of `G2`: (XZf, Y, (Zf)^3). If Zf is
    /// 0, p becomes the point at infinity.
    func store(_ p: G2, factor: ConstLimbs, _ s: Limbs) {
        let zz = Fp2(s), t = s + Fp2.count
        z.multiply(z, byFp: factor, t)
        p.x.multiply(x, z, t)
        zz.square(z, t)
        p.z.multiply(zz, z, t)
        p.y.copy(y)
        selectLimbs(p.y.re, Fp.one, 4, mask: p.infinityMask(t))
    }
}

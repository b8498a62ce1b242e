import CBN254CX

/// A point of the twist in Jacobian coordinates, 24 limbs; see `G1Jacobian`.
struct G2Jacobian {
    /// Limbs of a point.
    static var count: Int { 24 }
    /// Limbs of scratch that `double` and `add` use.
    static var scratch: Int { 32 &+ 32 &+ Fp2.scratch }

    let limbs: Limbs

    @inline(__always) var x: Limbs { limbs }
    @inline(__always) var y: Limbs { limbs + 8 }
    @inline(__always) var z: Limbs { limbs + 16 }

    /// self = 2 self; infinity (Z = 0) stays. The formulas of `G1Jacobian`: 3 products and 4 squarings in Fp2, 12
    /// reductions.
    @inline(never)
    func double(_ s: Limbs) {
        let w = s, v = s + 16, e = s + 32, b = s + 40, d = s + 48, t = s + 64
        Fp2.sqrWideTight(w, x, t)
        G2Jacobian.add(w, w, w, w)
        Fp2.reduce(e, w)  // 6
        Fp2.sqrWide(w, y, t)
        Fp2.reduce(b, w)
        Fp2.mulWide(w, y, z, class: 1, t)
        addLimbs(w, w, w, 16)
        Fp2.reduce(z, w)  // 4
        Fp2.mulWide(v, x, b, class: 1, t)
        scaleLimbs(v, v, 16, 4)
        Fp2.reduce(d, v)  // 8
        Fp2.sqrWideTight(w, e, t)
        G2Jacobian.subtractTwice(w, v, class: 16)
        Fp2.reduce(x, w)  // 2 + 16
        G2Jacobian.sub(d, d, x)  // 3
        Fp2.mulWide(w, e, d, class: 3, t)  // 6
        Fp2.sqrWideTight(v, b, t)
        scaleLimbs(v, v, 16, 4)
        G2Jacobian.subtractTwice(w, v, class: 16)
        Fp2.reduce(y, w)  // 6 + 16
    }

    /// self = self + (x2, y2), neither infinite and not equal; if they are opposite, Z = 0. x2 normal, y2 of class 2 at
    /// most. `ratio`, eight limbs, gets what Z is multiplied by. The formulas of `G1Jacobian`: 8 products and 3
    /// squarings in Fp2, 20 reductions.
    @inline(never)
    func add(_ x2: ConstLimbs, _ y2: ConstLimbs, ratio h: Limbs, _ s: Limbs) {
        let w = s, v = s + 16, zz = s + 32, r = s + 40, hh = s + 48, hhh = s + 56, t = s + 64
        Fp2.sqrWide(w, z, t)
        Fp2.reduce(zz, w)
        G2Jacobian.mul(h, x2, zz, w, t)
        Fp2.sub(h, h, x)
        G2Jacobian.mul(zz, zz, z, w, t)
        Fp2.mulWide(w, y2, zz, class: 2, t)
        Fp2.reduce(r, w)  // 4
        Fp2.sub(r, r, y)
        G2Jacobian.mul(z, z, h, w, t)
        Fp2.sqrWide(w, h, t)
        Fp2.reduce(hh, w)
        Fp2.mulWide(v, h, hh, class: 1, t)
        Fp2.reduce(hhh, v)
        Fp2.mulWide(w, x, hh, class: 1, t)
        Fp2.reduce(hh, w)  // V = XH^2
        G2Jacobian.add(v, v, w, w)  // H^3 + 2V: 6
        Fp2.sqrWideTight(w, r, t)
        G2.subWide(w, v, class: 6)
        Fp2.reduce(x, w)  // 2 + 6
        G2Jacobian.sub(hh, hh, x)  // 3
        Fp2.mulWide(w, r, hh, class: 3, t)  // 6
        Fp2.mulWide(v, y, hhh, class: 1, t)
        G2.subWide(w, v, class: 2)
        Fp2.reduce(y, w)  // 8
    }

    /// r = a - b, b normal: adds 2 to the class of a.
    @inline(__always)
    private static func sub(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs) {
        (Wide(a) + Wide(bn_two_p_vector()) - Wide(b)).store(r)
    }

    /// r = a + b + c, unreduced products of sixteen limbs.
    @inline(__always)
    private static func add(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ c: ConstLimbs) {
        (Wide(a) + Wide(b) + Wide(c)).store(r)
        (Wide(a + 8) + Wide(b + 8) + Wide(c + 8)).store(r + 8)
    }

    /// a -= 2b, unreduced products, 2b of class k, which adds k to the class of a.
    @inline(__always)
    private static func subtractTwice(_ a: Limbs, _ b: ConstLimbs, class k: Int) {
        (Wide(a) + Wide(multiple: k) - Wide(b) - Wide(b)).store(a)
        (Wide(a + 8) + Wide(multiple: k) - Wide(b + 8) - Wide(b + 8)).store(a + 8)
    }

    @inline(__always)
    private static func mul(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ w: Limbs, _ s: Limbs) {
        Fp2.mulWide(w, a, b, class: 1, s)
        Fp2.reduce(r, w)
    }

    /// p = (X, Y, Z f) in the coordinates of `G2`, f in Fp: (XZf, Y, (Zf)^3), and (0, 1, 0) for Z f = 0.
    func store(_ p: G2, factor: ConstLimbs, _ s: Limbs) {
        let zz = s, t = s + 8
        Fp2.mulByFp(z, z, factor, t)
        Fp2.mul(p.x, x, z, t)
        Fp2.sqr(zz, z, t)
        Fp2.mul(p.z, zz, z, t)
        copyLimbs(p.y, y, 8)
        selectLimbs(p.y, bn_one(), 4, mask: p.infinityMask(t))
    }
}

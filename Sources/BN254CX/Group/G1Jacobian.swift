/// A point of E in Jacobian coordinates, twelve limbs: x = X/Z^2, y = Y/Z^3. The formulas are cheaper than the complete
/// formulas of `G1`, but they do not hold for all points. Use them only inside a multiplication, whose comment says why
/// no exceptional points can occur.
///
/// The formulas do not contain b, so they also hold on each curve Y^2 = X^3 + b c^6, to which (X, Y) -> (X c^2, Y c^3)
/// maps E. In this way a table of points gets Z = 1 without an inversion: see `G1Multiples`.
struct G1Jacobian {
    /// The number of limbs of a point.
    static var count: Int { 12 }
    /// The number of limbs of scratch that `double` and `add` use.
    static var scratch: Int { 32 }

    let limbs: Limbs

    @inline(__always) var x: Limbs { limbs }
    @inline(__always) var y: Limbs { limbs + 4 }
    @inline(__always) var z: Limbs { limbs + 8 }

    /// X and Y, which are an affine point if Z is 1.
    @inline(__always) var affine: G1Affine { G1Affine(limbs) }

    /// self = 2 self; the point at infinity (Z = 0) stays.
    ///
    /// dbl-2009-l of the Explicit-Formulas Database for a = 0 (Lange), with products instead of squares of sums: E =
    /// 3X^2, B = Y^2, D = 4XB, X3 = E^2 - 2D, Y3 = E (D - X3) - 8B^2, Z3 = 2YZ. 3 mpn_sec_mul, 4 mpn_sec_sqr, 6
    /// reductions.
    @inline(never)
    func double(_ s: Limbs) {
        let w = s, v = s + 8, e = s + 16, b = s + 20, d = s + 24
        Fp.sqrWide(w, x)
        (Wide(w) + Wide(w) + Wide(w)).reduced.store(e)  // class 3
        Fp.sqrWide(w, y)
        let half = Wide(w).reduced
        (half + half).store(b)  // 2B, class 2
        Fp.mulWide(w, y, z)
        (Wide(w) + Wide(w)).reduced.store(z)  // class 2
        Fp.mulWide(v, x, b)
        let d2 = Wide(v) + Wide(v)
        d2.store(v)
        d2.reduced.store(d)
        Fp.sqrWide(w, e)
        let x3 = (Wide(w) + Wide(multiple: 8) - Wide(v) - Wide(v)).reduced  // class 1 + 8
        x3.store(x)
        (Narrow(d) + Narrow(evenMultiple: 1) - x3).store(d)
        Fp.mulWide(w, e, d)  // class 3
        Fp.sqrWide(v, b)  // 4B^2, class 4
        (Wide(w) + Wide(multiple: 8) - Wide(v) - Wide(v)).reduced.store(y)  // class 3 + 8
    }

    /// self = self + p. Neither point may be infinite, and they must not be equal; if they are opposite, Z becomes 0.
    /// The x of p is normal, its y of class 2 at most (see `Fp`). `ratio`, four limbs, receives the factor by which Z
    /// is multiplied.
    ///
    /// Mixed addition (Cohen, Miyaji, Ono, "Efficient elliptic curve exponentiation using mixed coordinates", ASIACRYPT
    /// 1998, section 2.2) with p = (x2, y2): H = x2 Z^2 - X, R = y2 Z^3 - Y, X3 = R^2 - H^3 - 2XH^2, Y3 = R (XH^2 - X3)
    /// - YH^3, Z3 = ZH. 8 mpn_sec_mul, 3 mpn_sec_sqr, 10 reductions.
    @inline(never)
    func add(_ p: G1Affine, ratio h: Limbs, _ s: Limbs) {
        let w = s, v = s + 8, zz = s + 16, r = s + 20, hh = s + 24, hhh = s + 28
        Fp.sqr(zz, z, w)
        Fp.mulWide(w, p.x, zz)
        (Wide(w).reduced + Narrow(evenMultiple: 1) - Narrow(x)).normal.store(h)
        Fp.mul(zz, zz, z, w)
        Fp.mulWide(w, p.y, zz)
        (Wide(w).reduced + Narrow(evenMultiple: 1) - Narrow(y)).store(r)  // class 3
        Fp.mul(z, z, h, w)
        Fp.sqr(hh, h, w)
        Fp.mulWide(v, h, hh)
        Wide(v).reduced.store(hhh)
        Fp.mulWide(w, x, hh)
        Wide(w).reduced.store(hh)  // V = XH^2
        (Wide(multiple: 3) - Wide(v) - Wide(w) - Wide(w)).store(v)  // -H^3 - 2V, class 3
        Fp.sqrWide(w, r)  // class 9
        let x3 = (Wide(w) + Wide(v)).reduced  // class 12
        x3.store(x)
        (Narrow(hh) + Narrow(evenMultiple: 1) - x3).store(hh)  // class 3
        Fp.mulWide(w, r, hh)  // class 9
        Fp.mulWide(v, y, hhh)
        (Wide(w) + Wide(multiple: 1) - Wide(v)).reduced.store(y)  // class 10
    }

    /// Writes the point (X, Y, Zf) with f = `factor` in Fp to p, in the coordinates of `G1`: (XZf, Y, (Zf)^3). If Zf is
    /// 0, p becomes the point at infinity. The Z of self becomes Zf.
    func store(_ p: G1, factor: ConstLimbs, _ s: Limbs) {
        let zz = s, w = s + 4
        Fp.mul(z, z, factor, w)
        Fp.mul(p.x, x, z, w)
        Fp.sqr(zz, z, w)
        Fp.mul(p.z, zz, z, w)
        copyLimbs(p.y, y, 4)
        selectLimbs(p.y, Fp.one, 4, mask: p.infinityMask(w))
    }
}

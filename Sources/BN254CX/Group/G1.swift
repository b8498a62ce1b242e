/// A point of E: Y^2 = X^3 + 2 over Fp in twelve limbs of an arena: X, Y, Z with x = X/Z and y = Y/Z; (0 : 1 : 0) is
/// the point at infinity. The group has prime order r and cofactor 1.
///
/// The formulas are complete: they hold for all points of the group, also for equal, opposite and infinite points, with
/// the same steps (Renes, Costello, Batina, "Complete addition formulas for prime order elliptic curves", eprint
/// 2015/1060, a = 0). Products are added and subtracted before their reduction; the comments at the end of lines state
/// the classes of these sums (see `Fp`).
package struct G1 {
    /// The number of limbs of a point.
    package static var count: Int { 12 }
    /// The number of limbs of scratch that `add` and `double` use.
    package static var scratch: Int { 24 &+ 12 &+ 24 }

    package let limbs: Limbs

    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) var x: Limbs { limbs }
    @inline(__always) var y: Limbs { limbs + 4 }
    @inline(__always) var z: Limbs { limbs + 8 }

    /// X and Y as an affine point. Z must be 1.
    @inline(__always) package var affine: G1Affine { G1Affine(limbs) }

    /// self = p + q (eprint 2015/1060, algorithm 7, b3 = 6). 12 mpn_sec_mul, 10 reductions.
    @inline(never)
    package func add(_ p: G1, _ q: G1, _ s: Limbs) {
        let xx = s, yy = s + 8, zz = s + 16, t3 = s + 24, t4 = s + 28, t5 = s + 32, w = s + 36, t = s + 44
        Fp.mulWide(xx, p.x, q.x)
        Fp.mulWide(yy, p.y, q.y)
        Fp.mulWide(zz, p.z, q.z)
        G1.cross(t3, p.x, p.y, q.x, q.y, xx, yy, scale: 1, w)  // t3 = X1 Y2 + X2 Y1
        G1.cross(t4, p.y, p.z, q.y, q.z, yy, zz, scale: 1, w)  // t4 = Y1 Z2 + Y2 Z1
        G1.cross(t5, p.x, p.z, q.x, q.z, xx, zz, scale: 6, w)  // t5 = b3 (X1 Z2 + X2 Z1)
        let x3 = t, plus = t + 4, minus = t + 8
        let product = Wide(yy), b3zz = Wide(zz) * 6  // b3 Z1 Z2, class 6
        (Wide(xx) * 3).reduced.store(x3)  // 3 X1 X2, class 3
        (product + b3zz).reduced.store(plus)  // Y1 Y2 + b3 Z1 Z2, class 7
        (product + Wide(multiple: 6) - b3zz).reduced.store(minus)  // Y1 Y2 - b3 Z1 Z2, class 7
        G1.finishAdd(self, t3, t4, t5, x3, plus, minus, s)
    }

    /// r = scale * ((a + b)(c + d) - ac - bd). The number before the reduction is of class 2 * scale (see `Fp`).
    /// Scratch: 16 limbs.
    @inline(__always)
    private static func cross(
        _ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ c: ConstLimbs, _ d: ConstLimbs, _ ac: ConstLimbs,
        _ bd: ConstLimbs, scale: Limb, _ s: Limbs
    ) {
        (Narrow(a) + Narrow(b)).store(s + 8)
        (Narrow(c) + Narrow(d)).store(s + 12)
        Fp.mulWide(s, s + 8, s + 12)
        let sum = Wide(s) - Wide(ac) - Wide(bd)
        (scale == 1 ? sum : sum * scale).store(s)
        Fp.reduce(r, s)
    }

    /// The last step of `add`: X3 = t3 * minus - t4 * t5, Y3 = plus * minus + x3 * t5, Z3 = plus * t4 + x3 * t3.
    /// Scratch: 24 limbs.
    @inline(__always)
    private static func finishAdd(
        _ r: G1, _ t3: ConstLimbs, _ t4: ConstLimbs, _ t5: ConstLimbs, _ x3: ConstLimbs, _ plus: ConstLimbs,
        _ minus: ConstLimbs, _ s: Limbs
    ) {
        let u = s, v = s + 8
        Fp.mulWide(u, t3, minus)
        Fp.mulWide(v, t4, t5)
        (Wide(u) + Wide(multiple: 1) - Wide(v)).store(u)  // class 2
        Fp.reduce(r.x, u)
        Fp.mulWide(u, plus, minus)
        Fp.mulWide(v, x3, t5)
        (Wide(u) + Wide(v)).store(u)
        Fp.reduce(r.y, u)
        Fp.mulWide(u, plus, t4)
        Fp.mulWide(v, x3, t3)
        (Wide(u) + Wide(v)).store(u)
        Fp.reduce(r.z, u)
    }

    /// self = 2p (eprint 2015/1060, algorithm 9, rearranged). 6 mpn_sec_mul, 2 mpn_sec_sqr, 8 reductions.
    ///
    /// With C = Y^2 - 3 b3 Z^2 and B = b3 Z^2: X3 = 2XY C, Y3 = C (C + 4B) + 8 Y^2 B, Z3 = 8 Y^2 YZ.
    @inline(never)
    package func double(_ p: G1, _ s: Limbs) {
        let w = s, v = s + 8, yy = s + 16, b = s + 20, c = s + 24, yz = s + 28, xy = s + 32, t = s + 36
        Fp.sqrWide(w, p.y)
        Fp.sqrWide(t, p.z)
        (Wide(t) * 6).store(v)
        Fp.reduce(b, v)  // class 6
        (Wide(w) + Wide(multiple: 18) - Wide(t) * 18).store(v)
        Fp.reduce(c, v)  // class 19
        Fp.reduce(yy, w)
        Fp.mul(yz, p.y, p.z, w)
        Fp.mulWide(w, p.x, p.y)
        (Wide(w) + Wide(w)).store(w)
        Fp.reduce(xy, w)  // class 2
        Fp.mul(x, xy, c, w)
        Fp.mulWide(w, yy, yz)
        (Wide(w) * 8).store(w)
        Fp.reduce(z, w)  // class 8
        (Narrow(b) * 4 + Narrow(c)).store(t)  // C + 4B, class 5
        Fp.mulWide(w, c, t)
        Fp.mulWide(v, yy, b)
        (Wide(w) + Wide(v) * 8).store(w)
        Fp.reduce(y, w)  // class 5 + 8
    }

    /// self = -p.
    package func negate(_ p: G1) {
        copyLimbs(x, p.x, 4)
        copyLimbs(z, p.z, 4)
        Fp.neg(y, p.y)
    }

    /// self = p.
    package func copy(_ p: G1) { copyLimbs(limbs, p.limbs, G1.count) }

    /// self = the point at infinity.
    package func setInfinity() {
        zeroLimbs(limbs, G1.count)
        Fp.setOne(y)
    }

    /// All ones if this is the point at infinity, else zero. Scratch: 4 limbs.
    package func infinityMask(_ s: Limbs) -> Limb { Fp.zeroMask(z, s) }

    /// All ones if the points are equal, else zero: X1 Z2 = X2 Z1 and Y1 Z2 = Y2 Z1. Scratch: 20 limbs.
    package func equalMask(_ q: G1, _ s: Limbs) -> Limb {
        G1.equalMask(x, z, q.x, q.z, s) & G1.equalMask(y, z, q.y, q.z, s)
    }

    /// All ones if the fractions a/b and c/d are equal, else zero.
    private static func equalMask(_ a: Limbs, _ b: Limbs, _ c: Limbs, _ d: Limbs, _ s: Limbs) -> Limb {
        let left = s, right = s + 4, t = s + 8
        Fp.mul(left, a, d, t)
        Fp.mul(right, c, b, t)
        Fp.sub(left, left, right)
        return Fp.zeroMask(left, t)
    }
}

extension Arena {
    /// Takes the limbs of a point of G1 from the arena. They are not initialised.
    package mutating func g1() -> G1 { G1(take(G1.count)) }
}

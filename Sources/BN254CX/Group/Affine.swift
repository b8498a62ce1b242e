/// A finite point of E in eight limbs of an arena: x and y without Z.
package struct G1Affine {
    /// The number of limbs of a point.
    package static var count: Int { 8 }

    package let limbs: Limbs

    @inline(__always)
    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) var x: Limbs { limbs }
    @inline(__always) var y: Limbs { limbs + 4 }

    /// self = p.
    @inline(__always)
    func copy(_ p: G1Affine) { copyLimbs(limbs, p.limbs, G1Affine.count) }

    /// self = (x z^2, y z^3): the same point on the isomorphic curve Y^2 = X^3 + b z^6. Scratch: 12 limbs.
    @inline(__always)
    func scale(_ z: ConstLimbs, _ s: Limbs) {
        let power = s, t = s + 4
        Fp.sqr(power, z, t)
        Fp.mul(x, x, power, t)
        Fp.mul(power, power, z, t)
        Fp.mul(y, y, power, t)
    }
}

/// A finite point of the twist in sixteen limbs of an arena: x and y without Z.
package struct G2Affine {
    /// The number of limbs of a point.
    package static var count: Int { 16 }

    package let limbs: Limbs

    @inline(__always)
    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) var x: Fp2 { Fp2(limbs) }
    @inline(__always) var y: Fp2 { Fp2(limbs + 8) }

    /// self = p.
    @inline(__always)
    func copy(_ p: G2Affine) { copyLimbs(limbs, p.limbs, G2Affine.count) }

    /// self = (x z^2, y z^3): the same point on the isomorphic curve Y^2 = X^3 + b' z^6. Scratch: 8 + `Fp2.scratch`.
    func scale(_ z: Fp2, _ s: Limbs) {
        let power = Fp2(s), t = s + Fp2.count
        power.square(z, t)
        x.multiply(x, power, t)
        power.multiply(power, z, t)
        y.multiply(y, power, t)
    }

    /// self = psi(p): see `G2.psi`. Scratch: `Fp2.scratch`.
    func psi(_ p: G2Affine, _ s: Limbs) {
        x.conjugate(p.x)
        y.conjugate(p.y)
        x.multiply(x, Fp2.frobenius(2), s)
        y.multiply(y, Fp2.frobenius(3), s)
    }

    /// self = -p.
    func negate(_ p: G2Affine) {
        x.copy(p.x)
        y.negate(p.y)
    }
}

extension Arena {
    /// Takes the limbs of an affine point of G1 from the arena. They are not initialised.
    @inline(__always)
    package mutating func g1Affine() -> G1Affine { G1Affine(take(G1Affine.count)) }

    /// Takes the limbs of an affine point of G2 from the arena. They are not initialised.
    @inline(__always)
    package mutating func g2Affine() -> G2Affine { G2Affine(take(G2Affine.count)) }
}

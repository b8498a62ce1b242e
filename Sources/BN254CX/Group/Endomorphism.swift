// The untwist-Frobenius-twist endomorphism psi and the test for the subgroup.
extension G2 {
    /// self = psi(p) for a point p = (X, Y, Z): (conj(X) g^2, conj(Y) g^3, conj(Z)) with g = (1 + i)^((p - 1)/6), where
    /// this p is the prime of the field. On G2, psi is the multiplication by that prime.
    ///
    /// Galbraith and Scott, "Exponentiation in pairing-friendly groups using homomorphisms", Pairing 2008. 2 products
    /// in Fp2. Scratch: `Fp2.scratch`.
    package func psi(_ p: G2, _ s: Limbs) {
        affine.psi(p.affine, s)
        z.conjugate(p.z)
    }

    /// The number of limbs of scratch that `subgroupMask` uses.
    package static var subgroupScratch: Int { 5 &* G2.count &+ G2.scratch }

    /// All ones if the point of the twist has order r or is infinite, else zero. The steps are the same for every
    /// point.
    ///
    /// A point Q of the twist is in G2 iff [x + 1]Q + psi([x]Q) + psi^2([x]Q) = psi^3([2x]Q), where [n]Q is n times Q
    /// (El Housni, Guillevic, Piellard, "Co-factor clearing and subgroup membership testing on pairing-friendly
    /// curves", eprint 2022/352, section 4.2). The criterion is valid for this curve: the norm of (x + 1) + x psi + x
    /// psi^2 - 2x psi^3 over psi^2 - t psi + p and the order r(2p - r) of the twist have the greatest common divisor r,
    /// which `CurveConstantsTests` computes. With A = [u]Q = -[x]Q the condition is Q + psi^3(2A) = A + psi(A) +
    /// psi^2(A). 63 doublings, 12 additions.
    package func subgroupMask(_ s: Limbs) -> Limb {
        var arena = Arena(s)
        let a = arena.g2(), image = arena.g2(), right = arena.g2(), left = arena.g2(), t = arena.scratch
        a.multiplyByU(self, t)
        image.psi(a, t)
        right.add(a, image, t)  // A + psi(A)
        image.psi(image, t)
        right.add(right, image, t)  // + psi^2(A)
        image.psi(image, t)
        left.double(image, t)  // psi^3(2A)
        left.add(left, self, t)
        return left.equalMask(right, t)
    }

    /// self = u * p for the number u in `CurveCard`, written in non-adjacent form. self must not be p. 62 doublings, 8
    /// additions.
    func multiplyByU(_ p: G2, _ s: Limbs) {
        let negative = G2(s), t = s + G2.count
        negative.negate(p)
        copy(p)
        CurveCard.forEachSignedBitOfU { sign in
            double(self, t)
            if sign != 0 { add(self, sign > 0 ? p : negative, t) }
        }
    }
}

import CGMP

extension G2 {
    /// The number of limbs of scratch that `multiply` uses.
    package static var multiplyScratch: Int { G2Combination.count &+ G2Combination.scratch }

    /// self = k * p for p in G2 and k < 2^bits with bits in 1...256, as for `G1` and `GT`. `bits` does not change the
    /// time: a faster computation for short scalars, such as PINs, would be useless, because no point of G2 is
    /// multiplied by a PIN. See `G2Combination`.
    package func multiply(_ p: G2, by k: Scalar, bits: Int, _ s: Limbs) {
        G2Combination(limbs: s).multiply(self, p, k, s + G2Combination.count)
    }
}

/// Computes k * p as k0 p + k1 psi(p) + k2 psi^2(p) + k3 psi^3(p) with sign-aligned digits. This takes 64 doublings, 63
/// mixed and 2 complete additions, and 7 more additions for the table (eprint 2013/158, algorithm 2).
private struct G2Combination {
    private static var entries: Int { 8 }
    /// The number of limbs. They contain: the table of the sums p + e1 psi(p) + e2 psi^2(p) + e3 psi^3(p), affine on a
    /// curve that is isomorphic to E' (see `G1Jacobian`); the four points with their signs; the digits; c, the norm of
    /// the first Z; the Z of the table.
    static var count: Int { G2Affine.count &* (entries &+ 4) &+ SignAlignedDigits.count &+ Fp.count &+ Fp2.count }
    /// The number of limbs of scratch.
    static var scratch: Int { 4 &* G2.count &+ G2.scratch }

    let limbs: Limbs

    @inline(__always) private func entry(_ k: Int) -> G2Affine { G2Affine(limbs + G2Affine.count &* k) }
    @inline(__always) private func point(_ k: Int) -> G2Affine { entry(G2Combination.entries &+ k) }
    @inline(__always) private var digits: SignAlignedDigits { SignAlignedDigits(limbs: point(4).limbs) }
    @inline(__always) private var norm: Limbs { digits.limbs + SignAlignedDigits.count }
    @inline(__always) private var tableZ: Fp2 { Fp2(norm + Fp.count) }

    /// r = k * p.
    ///
    /// No addition is exceptional. Let a be the vector of the sum's coefficients over p, psi(p), ..., and e the vector
    /// of the next column's digits. If the points were equal or opposite, 2a - e or 2a + e would be a relation (see
    /// `ScalarSplit`). This relation is not zero, because e0 is odd. Before the last column, the relation's numbers are
    /// below 2^62.33 + 3, but every relation other than zero has a number of at least 2^63 (`CurveConstantsTests`). The
    /// last addition, and the correction for an even k0, use complete formulas.
    func multiply(_ r: G2, _ p: G2, _ k: Scalar, _ s: Limbs) {
        let (k0, k1, k2, k3) = ScalarSplit4.split(k, s)
        digits.recode(k0.magnitude, k1.magnitude, k2.magnitude, k3.magnitude)
        setPoints(p, s)
        negate(point(0), mask: k0.minus)
        negate(point(1), mask: k1.minus)
        negate(point(2), mask: k2.minus)
        negate(point(3), mask: k3.minus)
        fillTable(s)
        var arena = Arena(s)
        let sum = G2Jacobian(limbs: arena.take(G2Jacobian.count)), chosen = arena.g2Affine(), ratio = arena.fp2()
        let t = arena.scratch
        choose(sum.affine, column: 64)
        sum.y.normalise()
        sum.z.setOne()
        for i in stride(from: 63, through: 1, by: -1) {
            sum.double(t)
            choose(chosen, column: i)
            sum.add(chosen, ratio: ratio, t)
        }
        sum.double(t)
        finish(r, sum, isEven: ~(0 &- (Limb(truncatingIfNeeded: k0.magnitude) & 1)), chosen.limbs)
    }

    /// Computes the four points p, psi(p), psi^2(p), psi^3(p), affine on the curve with Z = c.
    ///
    /// If X, Y and Z are multiplied by Z' = conj Z, the third coordinate becomes the norm N, which lies in Fp. On the
    /// curve with c = N the point is affine: (XZ' N, YZ' N^2). There psi is the same map as on E', because conj c = c.
    private func setPoints(_ p: G2, _ s: Limbs) {
        var arena = Arena(s)
        let z = arena.fp2(), n = arena.fp2(), t = arena.scratch, first = point(0)
        z.conjugate(p.z)
        n.multiply(z, p.z, t)
        copyLimbs(norm, n.re, 4)
        first.x.multiply(p.x, z, t)
        first.x.multiply(first.x, byFp: norm, t)
        Fp.sqr(n.re, norm, t)
        first.y.multiply(p.y, z, t)
        first.y.multiply(first.y, byFp: n.re, t)
        for k in 1..<4 { point(k).psi(point(k &- 1), t) }
    }

    /// point = -point if the mask is all ones. The y of the result is normal (see `Fp`).
    @inline(__always)
    private func negate(_ point: G2Affine, mask: Limb) {
        G2Combination.negateLazily(point.y, mask)
        point.y.normalise()
    }

    /// y = 2p - y, of class 2 (see `Fp`), if the mask is all ones. Here p is the prime of the field.
    @inline(__always)
    private static func negateLazily(_ y: Fp2, _ mask: Limb) {
        Fp.negateLazily(y.re, mask: mask)
        Fp.negateLazily(y.im, mask: mask)
    }

    /// Computes the eight sums in the order of a Gray code: each sum is the sum before plus or minus one point. Then
    /// all sums are changed to the Z of the last sum, as in `G1Multiples`.
    private func fillTable(_ s: Limbs) {
        var arena = Arena(s)
        let sum = G2Jacobian(limbs: arena.take(G2Jacobian.count)), step = arena.g2Affine()
        let ratios = arena.take(Fp2.count &* G2Combination.entries), t = arena.scratch
        sum.affine.copy(point(0))
        sum.z.setOne()
        entry(0).copy(sum.affine)
        for i in 1..<G2Combination.entries {
            let index = G2Combination.gray(i), changed = index ^ G2Combination.gray(i &- 1)
            step.copy(point(changed == 4 ? 3 : changed))
            if index & changed == 0 { step.negate(step) }
            sum.add(step, ratio: Fp2(ratios + Fp2.count &* i), t)
            entry(index).copy(sum.affine)
        }
        tableZ.copy(sum.z)
        sum.z.setOne()
        for i in stride(from: G2Combination.entries &- 2, through: 0, by: -1) {
            sum.z.multiply(sum.z, Fp2(ratios + Fp2.count &* (i &+ 1)), t)
            entry(G2Combination.gray(i)).scale(sum.z, t)
        }
    }

    /// The i-th number of 000, 001, 011, 010, 110, 111, 101, 100.
    @inline(__always)
    private static func gray(_ i: Int) -> Int { i ^ i &>> 1 }

    /// chosen = the sum of column i with its sign. All entries are read, so that the memory accesses do not depend on
    /// the column. The y of `chosen` is of class 2 (see `Fp`).
    @inline(__always)
    private func choose(_ chosen: G2Affine, column i: Int) {
        __gmpn_sec_tabselect(chosen.limbs, limbs, G2Affine.count, G2Combination.entries, digits.index(i))
        G2Combination.negateLazily(chosen.y, digits.minusMask(i))
    }

    /// r = sum + the last column, minus p (with the sign of k0) if k0 is even. Uses complete additions on E'.
    private func finish(_ r: G2, _ sum: G2Jacobian, isEven: Limb, _ s: Limbs) {
        var arena = Arena(s)
        let total = arena.g2(), term = arena.g2(), exact = arena.g2(), t = arena.scratch
        sum.z.multiply(sum.z, tableZ, t)
        sum.store(total, factor: norm, t)
        let last = G2Jacobian(limbs: t), u = t + G2Jacobian.count
        choose(last.affine, column: 0)
        last.y.normalise()
        last.z.copy(tableZ)
        last.store(term, factor: norm, u)
        total.add(total, term, t)
        last.affine.copy(point(0))
        last.z.setOne()
        last.store(term, factor: norm, u)
        term.negate(term)
        exact.add(total, term, t)
        selectLimbs(total.limbs, exact.limbs, G2.count, mask: isEven)
        r.copy(total)
    }
}

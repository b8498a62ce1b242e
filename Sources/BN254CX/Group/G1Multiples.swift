import CBN254CX
import CGMP

/// The odd multiples p, 3p, ..., 15p of a point of G1 and their images under the endomorphism. The table is made once
/// for all multiplications of the same point.
///
/// The entries are affine points of a curve that is isomorphic to E by (X, Y) -> (X c^2, Y c^3). c is stored in the
/// table, so no inversion is needed (the "effective affine" tables of libsecp256k1). Making a table takes 7 additions,
/// 1 doubling, 8 scalings and 8 products for the endomorphism.
package struct G1Multiples {
    private static let entries = 8
    /// The number of limbs of the table: 8 points, 8 images, c.
    package static var count: Int { 2 &* G1Affine.count &* entries &+ 4 }
    /// The number of limbs of scratch that `fill` and `multiply` use.
    package static var scratch: Int { G1Jacobian.count &+ 8 &+ 4 &* entries &+ G1Jacobian.scratch }

    private let limbs: Limbs

    package init(_ limbs: Limbs) { self.limbs = limbs }

    /// Entry k of the table: the eight points come first, then their images.
    @inline(__always) func entry(_ k: Int) -> G1Affine { G1Affine(limbs + G1Affine.count &* k) }
    @inline(__always) private func image(_ k: Int) -> G1Affine { entry(G1Multiples.entries &+ k) }
    @inline(__always) private var factor: Limbs { entry(2 &* G1Multiples.entries).limbs }

    /// Computes the multiples of p. p may have any Z and may be infinite; if it is infinite, c becomes 0.
    ///
    /// On the curve with c = Z, p is the affine point (XZ, YZ^2). There 2p is computed in Jacobian coordinates; its Z
    /// is called Z_2p. On the curve with c = Z Z_2p, both p and 2p are affine, and the other multiples are computed
    /// there. In no addition (2k + 1) p + 2p are the operands equal or opposite, because p has the order r > 16.
    package func fill(_ p: G1, _ s: Limbs) {
        var arena = Arena(s)
        let sum = G1Jacobian(limbs: arena.take(G1Jacobian.count)), step = arena.g1Affine()
        let ratios = arena.take(4 &* G1Multiples.entries), t = arena.scratch
        Fp.sqr(step.x, p.z, t)
        Fp.mul(sum.x, p.x, p.z, t)
        Fp.mul(sum.y, p.y, step.x, t)
        Fp.setOne(sum.z)
        entry(0).copy(sum.affine)
        sum.double(t)
        step.copy(sum.affine)
        entry(0).scale(sum.z, t)
        for k in 1..<G1Multiples.entries { entry(k).add(entry(k &- 1), step, ratio: ratios + 4 &* k, t) }
        Fp.mul(factor, p.z, sum.z, t)
        equaliseZ(ratios, t)
        for k in 0..<G1Multiples.entries {
            Fp.mul(image(k).x, entry(k).x, bn_beta(), t)
            copyLimbs(image(k).y, entry(k).y, 4)
        }
    }

    /// Changes all entries to the Z of the last entry, and c accordingly. `ratios` contains the ratio of each Z to the
    /// Z of the entry before.
    private func equaliseZ(_ ratios: Limbs, _ s: Limbs) {
        let z = s, t = s + 4
        Fp.setOne(z)
        for k in stride(from: G1Multiples.entries &- 2, through: 0, by: -1) {
            Fp.mul(z, z, ratios + 4 &* (k &+ 1), t)
            entry(k).scale(z, t)
        }
        Fp.mul(factor, factor, z, t)
    }

    /// r = k * p for k < 2^bits with bits in 1...256. The time depends on `bits` only.
    ///
    /// Up to 64 bits the whole scalar is written in signed odd digits of four bits: 14 bits cost 12 doublings and 4
    /// additions. A longer scalar is split into two halves (`ScalarSplit`): 124 doublings, 65 additions.
    package func multiply(_ r: G1, by k: Scalar, bits: Int, _ s: Limbs) {
        let sum = G1Jacobian(limbs: s), t = s + G1Jacobian.count
        if bits <= 64 {
            multiplyShort(sum, SignedScalar(UInt128(k.limbs[0])), digits: (bits &+ 3) / 4, t)
        } else {
            let (k0, k1) = ScalarSplit.split(k, t)
            multiplyLong(sum, k0, k1, t)
        }
        store(sum, in: r, t)
    }

    /// r = sum, converted from the table's curve to E.
    func store(_ sum: G1Jacobian, in r: G1, _ s: Limbs) { sum.store(r, factor: factor, s) }

    /// sum = k * p, with k written in `digits` digits of four bits.
    ///
    /// With n = k | 1, digit i of n is ((n >> 4i | 1) mod 32) - 16, which is odd, and the highest digit is n >> 4i | 1
    /// (Joye and Tunstall, "Exponent recoding and regular exponentiation algorithms", AFRICACRYPT 2009, algorithm 6).
    /// No addition is exceptional: the sum is 16 n' p, where n' is odd and positive and 16 n' is below r, and the digit
    /// is below 16. The last step subtracts p if k is even. This addition is exceptional only for k = 0, where the
    /// right result is infinity.
    private func multiplyShort(_ sum: G1Jacobian, _ k: SignedScalar, digits: Int, _ s: Limbs) {
        let chosen = G1Affine(s), t = s + G1Affine.count
        start(sum, k, top: digits &- 1)
        for i in stride(from: digits &- 2, through: 0, by: -1) {
            for _ in 0..<4 { sum.double(t) }
            choose(chosen, entry(0), k, digit: i)
            sum.add(chosen, ratio: t, t + 4)
        }
        makeExact(sum, entry(0), k, s)
    }

    /// sum = (k0 + k1 * lambda) * p for k0 and k1 below 2^126, each written in 32 digits as in `multiplyShort`.
    ///
    /// No addition is exceptional. Write the sum (a + b lambda) p before an addition as (a, b), and the added multiple
    /// as (c, 0) or (0, c). Here c is odd, |c| < 16, and a and b are below 2^125.7. If the points were equal or
    /// opposite, (a -+ c, b) or (a, b -+ c) would be a relation. Every relation other than zero (see `ScalarSplit`) has
    /// a number above 2^126.5, and these numbers are smaller. The relation is not zero either: if (c, 0) is added, b is
    /// 16 times an odd number; if (0, c) is added, a is odd.
    ///
    /// The sum was computed with |k0| | 1 and |k1| | 1, so the two last steps subtract a point for each even number.
    /// This point has the opposite sign of the part from which it is subtracted. So the points are never equal, and
    /// they are opposite only if k p is infinite.
    private func multiplyLong(_ sum: G1Jacobian, _ k0: SignedScalar, _ k1: SignedScalar, _ s: Limbs) {
        let chosen = G1Affine(s), t = s + G1Affine.count
        start(sum, k0, top: 31)
        choose(chosen, image(0), k1, digit: 31, isTop: true)
        sum.add(chosen, ratio: t, t + 4)
        for i in stride(from: 30, through: 0, by: -1) {
            for _ in 0..<4 { sum.double(t) }
            choose(chosen, entry(0), k0, digit: i)
            sum.add(chosen, ratio: t, t + 4)
            choose(chosen, image(0), k1, digit: i)
            sum.add(chosen, ratio: t, t + 4)
        }
        makeExact(sum, entry(0), k0, s)
        makeExact(sum, image(0), k1, s)
    }

    /// sum = d * p, where d is the highest digit of |k| | 1 with the sign of k.
    @inline(__always)
    private func start(_ sum: G1Jacobian, _ k: SignedScalar, top: Int) {
        choose(sum.affine, entry(0), k, digit: top, isTop: true)
        Fp.normalise(sum.y)
        Fp.setOne(sum.z)
    }

    /// point = d * p, where d is digit i of k, or the image of this point. `first` is the first of the eight entries to
    /// use. The y of `point` is of class 2 (see `Fp`).
    ///
    /// With h = (n >> 4i mod 32) >> 1 the digit is 2h - 15: entry h - 8 if h >= 8, and otherwise minus entry 7 - h. The
    /// highest digit is 2h + 1: entry h.
    @inline(__always)
    private func choose(
        _ point: G1Affine, _ first: G1Affine, _ k: SignedScalar, digit i: Int, isTop: Bool = false
    ) {
        let h = Limb(truncatingIfNeeded: k.magnitude &>> UInt128(4 &* i &+ 1)) & 15
        let below = isTop ? 0 : (h &>> 3) &- 1
        let index = isTop ? h : (h ^ below) & 7
        __gmpn_sec_tabselect(
            point.limbs, first.limbs, G1Affine.count, G1Multiples.entries, Int(truncatingIfNeeded: index & 7))
        Fp.negateLazily(point.y, mask: below ^ k.minus)
    }

    /// sum = sum - q if k is even, where q is the point of the entry `first` with the sign of k: p or the image of p.
    @inline(__always)
    private func makeExact(_ sum: G1Jacobian, _ first: G1Affine, _ k: SignedScalar, _ s: Limbs) {
        var arena = Arena(s)
        let exact = G1Jacobian(limbs: arena.take(G1Jacobian.count)), point = arena.g1Affine(), t = arena.scratch
        copyLimbs(exact.limbs, sum.limbs, G1Jacobian.count)
        point.copy(first)
        Fp.negateLazily(point.y, mask: ~k.minus)
        exact.add(point, ratio: t, t + 4)
        let isEven = (Limb(truncatingIfNeeded: k.magnitude) & 1) &- 1
        selectLimbs(sum.limbs, exact.limbs, G1Jacobian.count, mask: isEven)
    }
}

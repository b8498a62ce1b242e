import CBN254CX
import CGMP

/// The odd multiples p, 3p, ..., 15p of a point of G1 and their images under the endomorphism: made once for all the
/// multiplications of the same point.
///
/// They are affine on a curve that is isomorphic to E, (X, Y) -> (X c^2, Y c^3), and c is kept: so no inversion is needed
/// (the "effective affine" tables of libsecp256k1). 7 additions, 1 doubling, 8 scalings, 8 products of the endomorphism.
package struct G1Multiples {
    private static let entries = 8
    /// Limbs of the table: 8 points, 8 images, c.
    package static var count: Int { 2 &* G1Affine.count &* entries &+ 4 }
    /// Limbs of scratch that `fill` and `multiply` use.
    package static var scratch: Int { G1Jacobian.count &+ 8 &+ 4 &* entries &+ G1Jacobian.scratch }

    private let limbs: Limbs

    package init(_ limbs: Limbs) { self.limbs = limbs }

    /// Point k; the images of the first eight are the last eight.
    @inline(__always) func entry(_ k: Int) -> G1Affine { G1Affine(limbs + G1Affine.count &* k) }
    @inline(__always) private func image(_ k: Int) -> G1Affine { entry(G1Multiples.entries &+ k) }
    @inline(__always) private var factor: Limbs { entry(2 &* G1Multiples.entries).limbs }

    /// The multiples of p, which may have any Z and may be infinite: then c is 0.
    ///
    /// (XZ, YZ^2) is p on the curve with c = Z. The steps by 2p are affine on the curve of c = Z_2p, too. No sum
    /// (2k + 1) p + 2p is exceptional, as r is greater than 16.
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

    /// Brings all entries to the Z of the last, given the ratio of each Z to the one before, and c with them.
    private func equaliseZ(_ ratios: Limbs, _ s: Limbs) {
        let z = s, t = s + 4
        Fp.setOne(z)
        for k in stride(from: G1Multiples.entries &- 2, through: 0, by: -1) {
            Fp.mul(z, z, ratios + 4 &* (k &+ 1), t)
            entry(k).scale(z, t)
        }
        Fp.mul(factor, factor, z, t)
    }

    /// r = k p for k < 2^bits, bits in 1...256; time depends on `bits` alone.
    ///
    /// Up to 64 bits the scalar is taken as it is, in signed odd digits of four bits: 14 bits cost 12 doublings and 4
    /// additions. Above, it is split in two halves (`ScalarSplit`): 124 doublings, 65 additions.
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

    /// r = sum, back from the curve of the table.
    func store(_ sum: G1Jacobian, in r: G1, _ s: Limbs) { sum.store(r, factor: factor, s) }

    /// sum = k p in `digits` digits of four bits.
    ///
    /// With n = k | 1, digit i of n is ((n >> 4i | 1) mod 32) - 16, odd and never 0, and the top digit n >> 4i | 1 (Joye
    /// and Tunstall, "Exponent recoding and regular exponentiation algorithms", AFRICACRYPT 2009, algorithm 6). No
    /// addition is exceptional: the sum is 16 n' p with n' odd and positive, less than r p, and the digit less than 16.
    /// The last step takes p away if k was even, which is exceptional only where it should be: k = 0 gives infinity.
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

    /// sum = (k0 + k1 lambda) p for numbers below 2^126, in 32 digits each, as `multiplyShort`.
    ///
    /// No addition is exceptional. Before it the sum is (a + b lambda) p, written (a, b), and what is added (c, 0) or
    /// (0, c), with c odd, |c| < 16 and a and b below 2^125.7. Equal or opposite points would make (a -+ c, b) or
    /// (a, b -+ c) a relation. A relation other than zero has a number above 2^126.5: too long. And it is not zero: when
    /// (c, 0) is added, b is 16 times an odd number; when (0, c) is added, a is odd.
    ///
    /// The two last steps make |k0| and |k1|, which counted as |k0| | 1 and |k1| | 1, exact. What they take away has the
    /// other sign than what it is taken from: the points are never equal, and opposite only when k p is infinite.
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

    /// sum = the top digit of |k| | 1, with the sign of k.
    @inline(__always)
    private func start(_ sum: G1Jacobian, _ k: SignedScalar, top: Int) {
        choose(sum.affine, entry(0), k, digit: top, isTop: true)
        Fp.normalise(sum.y)
        Fp.setOne(sum.z)
    }

    /// point = digit i of k times p, or its image, from the table of the eight from `first` on. y is of class 2.
    ///
    /// With h = (n >> 4i mod 32) >> 1 the digit is 2h - 15: entry h - 8 for h >= 8, and minus entry 7 - h below. The top
    /// digit is 2h + 1: entry h.
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

    /// sum = sum - p (or its image, with the sign of k) if k is even.
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

import CBN254CX
import CGMP

extension G2 {
    /// Limbs of scratch that `multiply` uses.
    package static var multiplyScratch: Int { G2Combination.count &+ G2Combination.scratch }

    /// self = k p for p in G2 and k < 2^bits, bits in 1...256 as for `G1` and `GT`; no short way is taken for few bits, as
    /// nothing multiplies a point of G2 by a PIN. See `G2Combination`.
    package func multiply(_ p: G2, by k: Scalar, bits: Int, _ s: Limbs) {
        G2Combination(limbs: s).multiply(self, p, k, s + G2Combination.count)
    }
}

/// k p as k0 p + k1 psi(p) + k2 psi^2(p) + k3 psi^3(p) with sign-aligned digits: 64 doublings, 63 mixed and 2 complete
/// additions, 7 more for the table (eprint 2013/158, algorithm 2).
private struct G2Combination {
    private static var entries: Int { 8 }
    /// Limbs: the sums p + e1 psi(p) + e2 psi^2(p) + e3 psi^3(p), affine on the curve with Z = c in Fp; the four points
    /// with their signs; the digits; c, the norm of the first Z; the Z of the table.
    static var count: Int { 16 &* entries &+ 64 &+ SignAlignedDigits.count &+ 4 &+ 8 }
    /// Limbs of scratch.
    static var scratch: Int { 4 &* G2.count &+ G2.scratch }

    let limbs: Limbs

    @inline(__always) private func entry(_ k: Int) -> Limbs { limbs + 16 &* k }
    @inline(__always) private func point(_ k: Int) -> Limbs { limbs + 128 + 16 &* k }
    @inline(__always) private var digits: SignAlignedDigits { SignAlignedDigits(limbs: limbs + 192) }
    @inline(__always) private var norm: Limbs { limbs + 192 + SignAlignedDigits.count }
    @inline(__always) private var tableZ: Limbs { norm + 4 }

    /// r = k p.
    ///
    /// No addition is exceptional. Let a be the vector of the sum over p, psi(p), ... and e that of the column. Equal or
    /// opposite points would make 2a -+ e a relation. It is not zero, because e0 is odd; and while columns are left to
    /// come its numbers are below 2^62.33 + 3, but every relation except zero has one of 2^63 at least
    /// (`CurveConstantsTests`). The last addition and the correction that makes k0 exact are complete.
    func multiply(_ r: G2, _ p: G2, _ k: Scalar, _ s: Limbs) {
        let (k0, k1, k2, k3) = ScalarSplit4.split(k, s)
        digits.recode(k0.magnitude, k1.magnitude, k2.magnitude, k3.magnitude)
        setPoints(p, s)
        negate(point(0), mask: k0.minus)
        negate(point(1), mask: k1.minus)
        negate(point(2), mask: k2.minus)
        negate(point(3), mask: k3.minus)
        fillTable(s)
        let sum = G2Jacobian(limbs: s), chosen = s + 24, t = s + 40
        choose(sum.x, column: 64)
        Fp.normalise(sum.y, count: 2)
        Fp2.setOne(sum.z)
        for i in stride(from: 63, through: 1, by: -1) {
            sum.double(t)
            choose(chosen, column: i)
            sum.add(chosen, chosen + 8, ratio: t, t + 8)
        }
        sum.double(t)
        finish(r, sum, isEven: ~(0 &- (UInt(truncatingIfNeeded: k0.magnitude) & 1)), s + 24)
    }

    /// The four points p, psi(p), psi^2(p), psi^3(p), affine on the curve with Z = c.
    ///
    /// (X, Y, Z) times conj Z has a Z in Fp, the norm N: it is affine on the curve with c = N, as (XZ' N, YZ' N^2), and
    /// there psi is the same map as on E', because it takes c to conj c = c.
    private func setPoints(_ p: G2, _ s: Limbs) {
        let z = s, n = s + 8, t = s + 16
        Fp2.conj(z, p.z)
        Fp2.mul(n, z, p.z, t)
        copyLimbs(norm, n, 4)
        Fp2.mul(point(0), p.x, z, t)
        Fp2.mulByFp(point(0), point(0), n, t)
        Fp.sqr(n, n, t)
        Fp2.mul(point(0) + 8, p.y, z, t)
        Fp2.mulByFp(point(0) + 8, point(0) + 8, n, t)
        for k in 1..<4 {
            Fp2.conj(point(k), point(k &- 1))
            Fp2.conj(point(k) + 8, point(k &- 1) + 8)
            Fp2.mul(point(k), point(k), bn_frobenius_1() + 16, t)
            Fp2.mul(point(k) + 8, point(k) + 8, bn_frobenius_1() + 24, t)
        }
    }

    /// (X, Y) = (X, -Y) where the mask is all ones, normal.
    @inline(__always)
    private func negate(_ point: Limbs, mask: UInt) {
        conditionalNegate(point + 8, mask)
        Fp.normalise(point + 8, count: 2)
    }

    /// y = 2p - y, of class 2, where the mask is all ones.
    @inline(__always)
    private func conditionalNegate(_ y: Limbs, _ mask: UInt) {
        var borrow: UInt = 0
        for i in 0..<8 {
            let negative = subWithBorrow(bn_two_p_vector()[i], y[i], &borrow)
            y[i] ^= (y[i] ^ negative) & mask
        }
    }

    /// The eight sums in the order of a Gray code, each from the one before by adding or taking away one point; then all
    /// are brought to the Z of the last, as in `G1Multiples`.
    private func fillTable(_ s: Limbs) {
        let sum = G2Jacobian(limbs: s), step = s + 24, ratios = s + 40, t = s + 40 + 8 &* G2Combination.entries
        copyLimbs(sum.x, point(0), 16)
        Fp2.setOne(sum.z)
        copyLimbs(entry(0), sum.x, 16)
        for i in 1..<G2Combination.entries {
            let index = G2Combination.gray(i), changed = index ^ G2Combination.gray(i &- 1)
            copyLimbs(step, point(changed == 4 ? 3 : changed), 16)
            if index & changed == 0 { Fp2.neg(step + 8, step + 8) }
            sum.add(step, step + 8, ratio: ratios + 8 &* i, t)
            copyLimbs(entry(index), sum.x, 16)
        }
        copyLimbs(tableZ, sum.z, 8)
        Fp2.setOne(sum.z)
        for i in stride(from: G2Combination.entries &- 2, through: 0, by: -1) {
            Fp2.mul(sum.z, sum.z, ratios + 8 &* (i &+ 1), t)
            scale(entry(G2Combination.gray(i)), sum.z, t)
        }
    }

    /// The i-th of 000, 001, 011, 010, 110, 111, 101, 100.
    @inline(__always)
    private static func gray(_ i: Int) -> Int { i ^ i &>> 1 }

    /// (X, Y) = (X z^2, Y z^3). Scratch: 8 + `Fp2.scratch`.
    private func scale(_ point: Limbs, _ z: ConstLimbs, _ s: Limbs) {
        let power = s, t = s + 8
        Fp2.sqr(power, z, t)
        Fp2.mul(point, point, power, t)
        Fp2.mul(power, power, z, t)
        Fp2.mul(point + 8, point + 8, power, t)
    }

    /// (x, y) = the sum of column i with its sign, from all entries. y is of class 2.
    @inline(__always)
    private func choose(_ chosen: Limbs, column i: Int) {
        __gmpn_sec_tabselect(chosen, limbs, 16, G2Combination.entries, digits.index(i))
        conditionalNegate(chosen + 8, digits.minusMask(i))
    }

    /// r = sum + the last column, less p (with the sign of k0) if k0 is even; by complete additions on E' itself.
    private func finish(_ r: G2, _ sum: G2Jacobian, isEven: UInt, _ s: Limbs) {
        let total = G2(s), term = G2(s + 24), exact = G2(s + 48), t = s + 72
        Fp2.mul(sum.z, sum.z, tableZ, t)
        sum.store(total, factor: norm, t)
        let last = G2Jacobian(limbs: t), u = t + 24
        choose(last.x, column: 0)
        Fp.normalise(last.y, count: 2)
        copyLimbs(last.z, tableZ, 8)
        last.store(term, factor: norm, u)
        total.add(total, term, t)
        copyLimbs(last.x, point(0), 16)
        Fp2.setOne(last.z)
        last.store(term, factor: norm, u)
        term.negate(term)
        exact.add(total, term, t)
        selectLimbs(total.limbs, exact.limbs, G2.count, mask: isEven)
        r.copy(total)
    }
}

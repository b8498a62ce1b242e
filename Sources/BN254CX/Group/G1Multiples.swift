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
    package static var count: Int { 2 &* 8 &* entries &+ 4 }
    /// Limbs of scratch that `fill` and `multiply` use.
    package static var scratch: Int { G1Jacobian.count &+ 8 &+ 4 &* entries &+ G1Jacobian.scratch }

    private let limbs: Limbs

    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) func entry(_ k: Int) -> Limbs { limbs + 8 &* k }
    @inline(__always) private var images: Limbs { limbs + 8 &* G1Multiples.entries }
    @inline(__always) private var factor: Limbs { limbs + 16 &* G1Multiples.entries }

    /// The multiples of p, which may have any Z and may be infinite: then c is 0.
    ///
    /// (XZ, YZ^2) is p on the curve with c = Z. The steps by 2p are affine on the curve of c = Z_2p, too. No sum
    /// (2k + 1) p + 2p is exceptional, as r is greater than 16.
    package func fill(_ p: G1, _ s: Limbs) {
        let sum = G1Jacobian(limbs: s), step = s + 12, ratios = s + 20, t = s + 52
        Fp.sqr(step, p.z, t)
        Fp.mul(sum.x, p.x, p.z, t)
        Fp.mul(sum.y, p.y, step, t)
        Fp.setOne(sum.z)
        copyLimbs(entry(0), sum.x, 8)
        sum.double(t)
        copyLimbs(step, sum.x, 8)
        scale(entry(0), sum.z, t)
        for k in 1..<G1Multiples.entries {
            G1Multiples.add(entry(k), entry(k &- 1), step, ratio: ratios + 4 &* k, t)
        }
        Fp.mul(factor, p.z, sum.z, t)
        equaliseZ(ratios, t)
        for k in 0..<G1Multiples.entries {
            Fp.mul(images + 8 &* k, entry(k), bn_beta(), t)
            copyLimbs(images + (8 &* k &+ 4), entry(k) + 4, 4)
        }
    }

    /// sum = a + step, neither equal nor opposite, all three and the changed `step` with the same Z, which is not kept:
    /// `ratio` gets what it is multiplied by. All normal.
    ///
    /// Addition with one Z for both (Meloni, "New point addition formulae for ECC applications", WAIFI 2007; for tables:
    /// Longa and Miri, "New composite operations and precomputation scheme for elliptic curve cryptosystems over prime
    /// fields", PKC 2008): H = X_a - X_step, R = Y_a - Y_step, X_step' = X_step H^2, Y_step' = Y_step H^3,
    /// X = R^2 - X_step' - X_a H^2, Y = R (X_step' - X) - Y_step'. 4 mpn_sec_mul, 2 mpn_sec_sqr, 6 reductions.
    @inline(never)
    private static func add(_ sum: Limbs, _ a: ConstLimbs, _ step: Limbs, ratio h: Limbs, _ s: Limbs) {
        let w = s, v = s + 8, hh = s + 16, r = s + 20, other = s + 24
        let twoP = Narrow(bn_two_p_vector())
        (Narrow(a) + twoP - Narrow(step)).normal.store(h)
        (Narrow(a + 4) + twoP - Narrow(step + 4)).store(r)  // 3
        Fp.sqr(hh, h, w)
        Fp.mulWide(v, a, hh)
        Wide(v).reduced.store(other)  // X_a H^2
        Fp.mulWide(w, step, hh)
        Wide(w).reduced.store(step)
        (Wide(multiple: 2) - Wide(v) - Wide(w)).store(v)
        Fp.sqrWide(w, r)  // 9
        let x = (Wide(w) + Wide(v)).reduced  // 11
        (Narrow(other) + twoP - Narrow(step)).store(other)  // 3
        (Narrow(step) + twoP - x).store(hh)  // 3
        x.store(sum)
        Fp.mulWide(v, step + 4, other)  // 3
        Wide(v).reduced.store(step + 4)
        Fp.mulWide(w, r, hh)  // 9
        (Wide(w) + Wide(multiple: 3) - Wide(v)).reduced.store(sum + 4)  // 12
    }

    /// Brings all entries to the Z of the last, given the ratio of each Z to the one before, and c with them.
    private func equaliseZ(_ ratios: Limbs, _ s: Limbs) {
        let z = s, t = s + 4
        Fp.setOne(z)
        for k in stride(from: G1Multiples.entries &- 2, through: 0, by: -1) {
            Fp.mul(z, z, ratios + 4 &* (k &+ 1), t)
            scale(entry(k), z, t)
        }
        Fp.mul(factor, factor, z, t)
    }

    /// (X, Y) = (X z^2, Y z^3). Scratch: 12 limbs.
    @inline(__always)
    private func scale(_ point: Limbs, _ z: ConstLimbs, _ s: Limbs) {
        let power = s, t = s + 4
        Fp.sqr(power, z, t)
        Fp.mul(point, point, power, t)
        Fp.mul(power, power, z, t)
        Fp.mul(point + 4, point + 4, power, t)
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
        let chosen = s, t = s + 8
        start(sum, k, top: digits &- 1)
        for i in stride(from: digits &- 2, through: 0, by: -1) {
            for _ in 0..<4 { sum.double(t) }
            choose(chosen, limbs, k, digit: i)
            sum.add(chosen, chosen + 4, ratio: t, t + 4)
        }
        makeExact(sum, limbs, k, s)
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
        let chosen = s, t = s + 8
        start(sum, k0, top: 31)
        choose(chosen, images, k1, digit: 31, isTop: true)
        sum.add(chosen, chosen + 4, ratio: t, t + 4)
        for i in stride(from: 30, through: 0, by: -1) {
            for _ in 0..<4 { sum.double(t) }
            choose(chosen, limbs, k0, digit: i)
            sum.add(chosen, chosen + 4, ratio: t, t + 4)
            choose(chosen, images, k1, digit: i)
            sum.add(chosen, chosen + 4, ratio: t, t + 4)
        }
        makeExact(sum, limbs, k0, s)
        makeExact(sum, images, k1, s)
    }

    /// sum = the top digit of |k| | 1, with the sign of k.
    @inline(__always)
    private func start(_ sum: G1Jacobian, _ k: SignedScalar, top: Int) {
        choose(sum.x, limbs, k, digit: top, isTop: true)
        Fp.normalise(sum.y)
        Fp.setOne(sum.z)
    }

    /// (x, y) = digit i of k times p, or its image. y is of class 2.
    ///
    /// With h = (n >> 4i mod 32) >> 1 the digit is 2h - 15: entry h - 8 for h >= 8, and minus entry 7 - h below. The top
    /// digit is 2h + 1: entry h.
    @inline(__always)
    private func choose(_ point: Limbs, _ table: Limbs, _ k: SignedScalar, digit i: Int, isTop: Bool = false) {
        let h = UInt(truncatingIfNeeded: k.magnitude &>> UInt128(4 &* i &+ 1)) & 15
        let below = isTop ? 0 : (h &>> 3) &- 1
        let index = isTop ? h : (h ^ below) & 7
        __gmpn_sec_tabselect(point, table, 8, G1Multiples.entries, Int(bitPattern: index & 7))
        G1Multiples.negate(point + 4, mask: below ^ k.minus)
    }

    /// y = 2p - y where the mask is all ones.
    @inline(__always)
    private static func negate(_ y: Limbs, mask: UInt) {
        var borrow: UInt = 0
        for i in 0..<4 {
            let negative = subWithBorrow(bn_two_p_vector()[i], y[i], &borrow)
            y[i] ^= (y[i] ^ negative) & mask
        }
    }

    /// sum = sum - p (or its image, with the sign of k) if k is even.
    @inline(__always)
    private func makeExact(_ sum: G1Jacobian, _ table: Limbs, _ k: SignedScalar, _ s: Limbs) {
        let exact = G1Jacobian(limbs: s), point = s + 12, t = s + 20
        copyLimbs(exact.limbs, sum.limbs, G1Jacobian.count)
        copyLimbs(point, table, 8)
        G1Multiples.negate(point + 4, mask: ~k.minus)
        exact.add(point, point + 4, ratio: t, t + 4)
        let isEven = (UInt(truncatingIfNeeded: k.magnitude) & 1) &- 1
        selectLimbs(sum.limbs, exact.limbs, G1Jacobian.count, mask: isEven)
    }
}

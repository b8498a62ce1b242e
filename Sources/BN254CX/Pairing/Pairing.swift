/// The optimal ate pairing e: G2 x G1 -> GT, with exactly (p^12 - 1)/r as its final exponent.
///
/// Points of G2 must have order r. A point of G1 that is paired with a prepared point may have any Z. It may also be
/// infinite; then the value of the pairing is 1.
package enum Pairing {
    /// The number of limbs of scratch that `product` of two pairings and `pairing` use.
    package static var scratch: Int { 2 &* MillerPair.count &+ max(MillerLoop.scratch, FinalExponentiation.scratch) }

    /// r = e(q, p).
    package static func pairing(_ r: GT, _ q: G2Affine, _ p: G1Affine, _ s: Limbs) {
        millerLoop(MillerValue(in: r), q, p, s)
        FinalExponentiation.run(r, MillerValue(in: r), s)
    }

    /// f = the result of the Miller loop for q and p, without the final exponentiation. Scratch as `pairing`.
    @inline(never)
    package static func millerLoop(_ f: MillerValue, _ q: G2Affine, _ p: G1Affine, _ s: Limbs) {
        MillerLoop.run(f, MillerPair(s, q, p), s + MillerPair.count)
    }

    /// r = e(q1, p1) e(q2, p2), with shared squarings and one final exponentiation.
    @inline(never)
    package static func product(
        _ r: GT, _ q1: G2Affine, _ p1: G1Affine, _ q2: G2Affine, _ p2: G1Affine, _ s: Limbs
    ) {
        let first = MillerPair(s, q1, p1), second = MillerPair(s + MillerPair.count, q2, p2)
        MillerLoop.run(MillerValue(in: r), BothLines(first: first, second: second), s + 2 &* MillerPair.count)
        FinalExponentiation.run(r, MillerValue(in: r), s)
    }

    /// r = e(q, p) for a public p with any Z, which is converted to Z = 1 first. If p is infinite, r is 1.
    package static func pairingOfAnyZ(_ r: GT, _ q: G2Affine, _ p: G1, _ s: Limbs) {
        guard declassify(p.infinityMask(s)) == 0 else { return r.setOne() }
        let point = G1Affine(s)
        p.makeAffine(point, s + G1Affine.count)
        p.affine.copy(point)
        Fp.setOne(p.z)
        pairing(r, q, p.affine, s)
    }
}

// Pairings with one or two prepared points of G2.
extension Pairing {
    /// The number of limbs of scratch that the functions on prepared points use.
    package static var preparedScratch: Int {
        2 &* PreparedLines.ratiosCount &+ max(MillerLoop.scratch, FinalExponentiation.scratch, 4 &+ Fp.powerScratch)
    }

    /// The number of limbs of scratch that `product` of a prepared and an unprepared point uses.
    package static var mixedScratch: Int {
        PreparedLines.ratiosCount &+ MillerPair.count
            &+ max(MillerLoop.scratch, FinalExponentiation.scratch, Fp.powerScratch)
    }

    /// r = e(q, p) for a prepared q.
    @inline(never)
    package static func pairing(_ r: GT, _ q: PreparedG2, _ p: G1, _ s: Limbs) {
        let ratios = s, t = s + PreparedLines.ratiosCount
        Fp.inverse(ratios, p.y, t)
        MillerLoop.run(MillerValue(in: r), PreparedLines(q, p, inverseOfY: ratios, in: ratios, t), t)
        FinalExponentiation.run(r, MillerValue(in: r), s)
    }

    /// r = e(q1, p1) e(q2, p2). Needs no arithmetic on the twist. Both pairings share the squarings, the inversion for
    /// the points of G1 and the final exponentiation.
    @inline(never)
    package static func product(
        _ r: GT, _ q1: PreparedG2, _ p1: G1, _ q2: PreparedG2, _ p2: G1, _ s: Limbs
    ) {
        let ratios1 = s, ratios2 = s + PreparedLines.ratiosCount, m = ratios2 + PreparedLines.ratiosCount, t = m + 4
        Fp.mul(m, p1.y, p2.y, t)
        Fp.inverse(m, m, t)
        Fp.mul(ratios1, m, p2.y, t)
        Fp.mul(ratios2, m, p1.y, t)
        let first = PreparedLines(q1, p1, inverseOfY: ratios1, in: ratios1, t)
        let second = PreparedLines(q2, p2, inverseOfY: ratios2, in: ratios2, t)
        MillerLoop.run(MillerValue(in: r), BothLines(first: first, second: second), m)
        FinalExponentiation.run(r, MillerValue(in: r), m)
    }

    /// r = e(q1, p1) e(q2, p2), with shared squarings and one final exponentiation.
    @inline(never)
    package static func product(_ r: GT, _ q1: PreparedG2, _ p1: G1, _ q2: G2Affine, _ p2: G1Affine, _ s: Limbs) {
        let ratios = s, t = s + PreparedLines.ratiosCount + MillerPair.count
        Fp.inverse(ratios, p1.y, t)
        let first = MillerPair(s + PreparedLines.ratiosCount, q2, p2)
        let second = PreparedLines(q1, p1, inverseOfY: ratios, in: ratios, t)
        MillerLoop.run(MillerValue(in: r), BothLines(first: first, second: second), t)
        FinalExponentiation.run(r, MillerValue(in: r), t)
    }

    /// r = e(q, p) times the pairings of all `pairs`, with shared squarings and one final exponentiation.
    @inline(never)
    package static func product(_ r: GT, _ q: PreparedG2, _ p: G1, _ pairs: MillerPairs, _ s: Limbs) {
        let ratios = s, t = s + PreparedLines.ratiosCount
        Fp.inverse(ratios, p.y, t)
        let lines = PreparedLines(q, p, inverseOfY: ratios, in: ratios, t)
        MillerLoop.run(MillerValue(in: r), BothLines(first: pairs, second: lines), t)
        FinalExponentiation.run(r, MillerValue(in: r), t)
    }
}

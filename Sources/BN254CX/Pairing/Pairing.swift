/// The optimal ate pairing e: G2 x G1 -> GT, with exactly the exponent (p^12 - 1)/r at its end.
///
/// Points of G2 must have order r and Z = 1, points of G1 Z = 1: as `decode` leaves them.
package enum Pairing {
    /// Limbs of scratch that `product` of two pairings and `pairing` use.
    package static var scratch: Int { 2 &* MillerPair.count &+ max(MillerLoop.scratch, FinalExponentiation.scratch) }

    /// r = e(q, p).
    package static func pairing(_ r: GT, _ q: G2, _ p: G1, _ s: Limbs) {
        start(s, q, p)
        run(r, pairs: s, count: 1, s + MillerPair.count)
    }

    /// r = e(q1, p1) e(q2, p2): shared squarings, one final exponentiation.
    package static func product(_ r: GT, _ q1: G2, _ p1: G1, _ q2: G2, _ p2: G1, _ s: Limbs) {
        start(s, q1, p1)
        start(s + MillerPair.count, q2, p2)
        run(r, pairs: s, count: 2, s + 2 &* MillerPair.count)
    }

    /// r = the Miller function of one pairing, before the final exponentiation. Scratch as `pairing`.
    package static func millerLoop(_ r: GT, _ q: G2, _ p: G1, _ s: Limbs) {
        start(s, q, p)
        MillerLoop.run(r.limbs, pairs: s, count: 1, s + MillerPair.count)
    }

    private static func start(_ pair: Limbs, _ q: G2, _ p: G1) {
        MillerPair(limbs: pair).start(q)
        copyLimbs(MillerPair(limbs: pair).p, p.limbs, 8)
    }

    private static func run(_ r: GT, pairs: Limbs, count: Int, _ s: Limbs) {
        MillerLoop.run(r.limbs, pairs: pairs, count: count, s)
        FinalExponentiation.run(r.limbs, r.limbs, s)
    }
}

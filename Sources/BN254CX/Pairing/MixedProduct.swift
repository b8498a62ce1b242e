// A prepared point of G2 and one that is met once: the server secret and the public key of an identity.
extension Pairing {
    /// Limbs of scratch that `product` of a prepared and another point uses.
    package static var mixedScratch: Int {
        8 &+ MillerPair.count &+ max(MillerLoop.scratch, FinalExponentiation.scratch, Fp.powerScratch)
    }

    /// r = e(q1, p1) e(q2, p2). p1 may have any Z and may be infinite; q2 has order r, and q2 and p2 have Z = 1, as
    /// `decode` leaves them. Shared squarings, one final exponentiation.
    package static func product(_ r: GT, _ q1: PreparedG2, _ p1: G1, _ q2: G2, _ p2: G1, _ s: Limbs) {
        let ratios = s, pair = MillerPair(limbs: s + 8), t = s + 8 + MillerPair.count
        Fp.inverse(ratios + 4, p1.y, t)
        Fp.mul(ratios, p1.x, ratios + 4, t)
        Fp.mul(ratios + 4, p1.z, ratios + 4, t)
        pair.start(q2)
        copyLimbs(pair.p, p2.limbs, 8)
        MillerLoop.run(r.limbs, q1.lines, ratios, pair, t)
        FinalExponentiation.run(r.limbs, r.limbs, t)
    }

    /// r = e(q, p) for p with any Z, which becomes 1 unless p is infinite; then r is 1. p is public.
    package static func pairingOfAnyZ(_ r: GT, _ q: G2, _ p: G1, _ s: Limbs) {
        guard declassify(p.infinityMask(s)) == 0 else { return r.setOne() }
        p.makeAffine(s, s + 8)
        copyLimbs(p.limbs, s, 8)
        Fp.setOne(p.z)
        pairing(r, q, p, s)
    }
}

extension MillerLoop {
    /// f = the product of the Miller functions of a prepared point, with X/Y and Z/Y of its point of G1, and of a
    /// started pair with its P.
    @inline(never)
    static func run(_ f: Limbs, _ lines: ConstLimbs, _ ratios: ConstLimbs, _ pair: MillerPair, _ s: Limbs) {
        let line = s, u = s + Line.count
        var offset = 0
        Fp12.setOne(f)
        forEachStep { step in
            if step == .square { Fp12.sqr(f, f, u) }
            if step == .conjugate { Fp12.conj(f, f) }
            guard pair.advance(step, line, u) else { return }
            Fp2.mulByFp(line, line, pair.p + 4, u)
            Fp2.mulByFp(line + 8, line + 8, pair.p, u)
            Fp12.mulByLine(f, f, line, line + 8, line + 16, u)
            Fp2.mulByFp(line, lines + offset, ratios, u)
            Fp2.mulByFp(line + 8, lines + offset + 8, ratios + 4, u)
            Fp12.mulByMonicLine(f, f, line, line + 8, u)
            offset &+= PreparedG2.lineCount
        }
    }
}

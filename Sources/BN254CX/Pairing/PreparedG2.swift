import Glibc

/// The 76 lines of a point of G2, divided by their constants: 1 + l1 (xP/yP) w + l3 (1/yP) w^3 each. A pairing with a
/// prepared point needs no arithmetic on the twist, and 10 instead of 13 products in Fp2 for a line.
///
/// Set up once for a point that is paired again and again; wiped when freed, for the point may be a secret.
package final class PreparedG2: Sendable {
    /// Limbs of one prepared line: l1, l3.
    static var lineCount: Int { 16 }
    /// Limbs of scratch that the initialiser uses.
    package static var scratch: Int {
        MillerPair.count &+ Line.count &* MillerLoop.lines &+ 8 &* MillerLoop.lines
            &+ max(MillerPair.scratch, 16 &+ Fp2.inverseScratch)
    }

    nonisolated(unsafe) let lines: Limbs

    /// Prepares q, a point of order r with Z = 1. 76 steps on the twist, one inversion. Constant time.
    package init(_ q: G2, _ s: Limbs) {
        lines = .allocate(capacity: PreparedG2.lineCount &* MillerLoop.lines)
        let pair = MillerPair(limbs: s), raw = s + MillerPair.count
        let products = raw + Line.count &* MillerLoop.lines, t = products + 8 &* MillerLoop.lines
        pair.start(q)
        var line = raw
        MillerLoop.forEachStep { step in
            if pair.advance(step, line, t) { line += Line.count }
        }
        makeMonic(raw, products, t)
    }

    /// lines = l1/l0, l3/l0 of the raw lines; all l0 are inverted at once (Montgomery's trick: Montgomery, "Speeding
    /// the Pollard and elliptic curve methods of factorization", 1987, section 10.3.1). No l0 is zero: it is 2YZ or
    /// X - x Z of points that are neither infinite nor equal up to sign.
    private func makeMonic(_ raw: Limbs, _ products: Limbs, _ s: Limbs) {
        let inverse = s, one = s + 8, t = s + 16
        copyLimbs(products, raw, 8)
        for i in 1..<MillerLoop.lines {
            Fp2.mul(products + 8 &* i, products + 8 &* (i &- 1), raw + Line.count &* i, t)
        }
        Fp2.inverse(inverse, products + 8 &* (MillerLoop.lines &- 1), t)
        var i = MillerLoop.lines &- 1
        while i >= 0 {
            let line = raw + Line.count &* i
            if i > 0 { Fp2.mul(one, inverse, products + 8 &* (i &- 1), t) } else { copyLimbs(one, inverse, 8) }
            Fp2.mul(inverse, inverse, line, t)
            Fp2.mul(lines + PreparedG2.lineCount &* i, line + 8, one, t)
            Fp2.mul(lines + (PreparedG2.lineCount &* i &+ 8), line + 16, one, t)
            i &-= 1
        }
    }

    deinit {
        explicit_bzero(lines, PreparedG2.lineCount &* MillerLoop.lines &* 8)
        lines.deallocate()
    }
}

extension Pairing {
    /// Limbs of scratch that the functions on prepared points use.
    package static var preparedScratch: Int {
        16 &+ max(16 &+ Fp12.scratch, FinalExponentiation.scratch, 12 &+ Fp.powerScratch)
    }

    /// r = e(q, p). p may have any Z and may be infinite: then r is 1.
    package static func pairing(_ r: GT, _ q: PreparedG2, _ p: G1, _ s: Limbs) {
        let ratios = s, t = s + 16
        Fp.inverse(ratios + 4, p.y, t)
        setRatios(ratios, p, t)
        MillerLoop.run(r.limbs, q.lines, ratios, nil, nil, t)
        FinalExponentiation.run(r.limbs, r.limbs, t)
    }

    /// r = e(q1, p1) e(q2, p2): no arithmetic on the twist, shared squarings, one inversion for both points of G1, one
    /// final exponentiation. The points of G1 may have any Z and may be infinite.
    package static func product(
        _ r: GT, _ q1: PreparedG2, _ p1: G1, _ q2: PreparedG2, _ p2: G1, _ s: Limbs
    ) {
        let ratios1 = s, ratios2 = s + 8, m = s + 16, t = s + 20
        Fp.mul(m, p1.y, p2.y, t)
        Fp.inverse(m, m, t)
        Fp.mul(ratios1 + 4, m, p2.y, t)
        Fp.mul(ratios2 + 4, m, p1.y, t)
        setRatios(ratios1, p1, t)
        setRatios(ratios2, p2, t)
        MillerLoop.run(r.limbs, q1.lines, ratios1, q2.lines, ratios2, s + 16)
        FinalExponentiation.run(r.limbs, r.limbs, s + 16)
    }

    /// ratios = X/Y, Z/Y given 1/Y in its second half. No point has Y = 0, as the order of the group is odd; for the
    /// point at infinity both are zero and all its lines 1.
    @inline(__always)
    private static func setRatios(_ ratios: Limbs, _ p: G1, _ s: Limbs) {
        Fp.mul(ratios, p.x, ratios + 4, s)
        Fp.mul(ratios + 4, p.z, ratios + 4, s)
    }
}

extension MillerLoop {
    /// f = the product of the Miller functions of one or two prepared points, each with X/Y and Z/Y of its point of G1.
    /// Scratch: 16 + `Fp12.scratch`.
    @inline(never)
    static func run(
        _ f: Limbs, _ lines1: ConstLimbs, _ ratios1: ConstLimbs, _ lines2: ConstLimbs?, _ ratios2: ConstLimbs?,
        _ s: Limbs
    ) {
        var offset = 0
        Fp12.setOne(f)
        forEachStep { step in
            switch step {
            case .square: Fp12.sqr(f, f, s)
            case .conjugate: Fp12.conj(f, f)
            case .double, .add, .addPsi, .addMinusPsi2:
                multiply(f, lines1 + offset, ratios1, s)
                if let lines2, let ratios2 { multiply(f, lines2 + offset, ratios2, s) }
                offset &+= PreparedG2.lineCount
            }
        }
    }

    /// f = f (1 + l1 (X/Y) w + l3 (Z/Y) w^3).
    @inline(__always)
    private static func multiply(_ f: Limbs, _ line: ConstLimbs, _ ratios: ConstLimbs, _ s: Limbs) {
        Fp2.mulByFp(s, line, ratios, s + 16)
        Fp2.mulByFp(s + 8, line + 8, ratios + 4, s + 16)
        Fp12.mulByMonicLine(f, f, s, s + 8, s + 16)
    }
}

/// The 76 lines of a point of G2, divided by their constants: 1 + l1 (xP/yP) w + l3 (1/yP) w^3 each. A pairing with a
/// prepared point needs no arithmetic on the twist, and 10 instead of 13 products in Fp2 for a line.
///
/// The lines are computed once for a point that is paired many times. They are wiped when the object is freed, because
/// the point may be a secret.
package final class PreparedG2: Sendable {
    /// The number of limbs of scratch that the initialiser uses.
    package static var scratch: Int {
        MillerPair.count &+ Line.count &* MillerLoop.lines &+ Fp2.count &* MillerLoop.lines
            &+ max(MillerPair.scratch, 2 &* Fp2.count &+ Fp2.inverseScratch)
    }

    fileprivate nonisolated(unsafe) let limbs: Limbs

    /// Computes the lines of q, a point of order r. This takes 76 steps on the twist and one inversion. Constant time.
    package init(_ q: G2Affine, _ s: Limbs) {
        limbs = .allocate(capacity: MonicLine.count &* MillerLoop.lines)
        var arena = Arena(s)
        let pair = MillerPair(arena.take(MillerPair.count), q), raw = arena.take(Line.count &* MillerLoop.lines)
        let products = arena.take(Fp2.count &* MillerLoop.lines), t = arena.scratch
        var line = Line(raw)
        MillerLoop.forEachStep { step in
            pair.advance(step, line, t)
            if step.hasLine { line = Line(line.limbs + Line.count) }
        }
        makeMonic(raw, products, t)
    }

    /// Divides each of the `raw` lines by its l0: the result is l1/l0 and l3/l0. One inversion serves all lines
    /// (Montgomery's trick: Montgomery, "Speeding the Pollard and elliptic curve methods of factorization", 1987,
    /// section 10.3.1). No l0 is zero: it is 2YZ in a doubling and X - xZ in an addition, and the points are neither
    /// infinite nor equal up to sign.
    private func makeMonic(_ raw: Limbs, _ products: Limbs, _ s: Limbs) {
        func product(_ i: Int) -> Fp2 { Fp2(products + Fp2.count &* i) }
        func line(_ i: Int) -> Line { Line(raw + Line.count &* i) }
        var arena = Arena(s)
        let inverse = arena.fp2(), one = arena.fp2(), t = arena.scratch
        product(0).copy(line(0).l0)
        for i in 1..<MillerLoop.lines { product(i).multiply(product(i &- 1), line(i).l0, t) }
        inverse.invert(product(MillerLoop.lines &- 1), t)
        for i in stride(from: MillerLoop.lines &- 1, through: 0, by: -1) {
            if i > 0 { one.multiply(inverse, product(i &- 1), t) } else { one.copy(inverse) }
            inverse.multiply(inverse, line(i).l0, t)
            let monic = MonicLine(limbs + MonicLine.count &* i)
            monic.l1.multiply(line(i).l1, one, t)
            monic.l3.multiply(line(i).l3, one, t)
        }
    }

    deinit {
        wipe(limbs, MonicLine.count &* MillerLoop.lines)
        limbs.deallocate()
    }
}

/// Provides the lines of a prepared point in their order. Their values at a point of G1 are computed from the ratios
/// X/Y and Z/Y of its coordinates.
struct PreparedLines: LineSource {
    /// The number of limbs of the two ratios.
    static var ratiosCount: Int { 8 }

    private var next: MonicLine
    private let xRatio: Limbs
    private let zRatio: Limbs

    /// Prepares the lines of q for the point p. `inverseOfY` is 1/Y of p. Writes the ratios X/Y and Z/Y to `room`,
    /// whose first half may be `inverseOfY`. Scratch: 8 limbs.
    ///
    /// No point has Y = 0, because the order of the group is odd. For the point at infinity both ratios are zero, so
    /// all lines have the value 1.
    @inline(__always)
    init(_ q: PreparedG2, _ p: G1, inverseOfY: ConstLimbs, in room: Limbs, _ s: Limbs) {
        next = MonicLine(q.limbs)
        (xRatio, zRatio) = (room, room + 4)
        Fp.mul(zRatio, p.z, inverseOfY, s)
        Fp.mul(xRatio, p.x, inverseOfY, s)
    }

    @inline(__always)
    mutating func multiply(_ f: Fp12, _ step: MillerLoop.Step, _ s: Limbs) {
        guard step.hasLine else { return }
        let line = MonicLine(s), t = s + MonicLine.count
        line.l1.multiply(next.l1, byFp: xRatio, t)
        line.l3.multiply(next.l3, byFp: zRatio, t)
        f.multiply(f, line, t)
        next = MonicLine(next.limbs + MonicLine.count)
    }
}

/// The Miller loop of the optimal ate pairing (Vercauteren, "Optimal pairings", eprint 2008/096; for BN curves eprint
/// 2010/354, algorithm 1): f of 6x + 2 over Q, then the lines through psi(Q) and -psi^2(Q). Since x < 0 the loop runs
/// over 6u - 2, f is conjugated and the running point negated.
package enum MillerLoop {
    /// What happens next in the loop.
    enum Step {
        /// f = f^2, once for all pairs.
        case square
        /// The tangent at T; T = 2T.
        case double
        /// The line through T and Q; T = T + Q.
        case add
        /// f = conj f, once for all pairs; T = -T.
        case conjugate
        /// The line through T and psi(Q); T = T + psi(Q).
        case addPsi
        /// The line through T and -psi^2(Q).
        case addMinusPsi2
    }

    /// Doublings, additions and the two last lines.
    static var lines: Int { 64 &+ CurveCard.loopBits.nonzeroBitCount &+ 2 }

    /// Calls `body` for each step in order.
    @inline(__always)
    static func forEachStep(_ body: (Step) -> Void) {
        var bit = 63
        while bit >= 0 {
            if bit < 63 { body(.square) }
            body(.double)
            if CurveCard.loopBits &>> UInt64(bit) & 1 != 0 { body(.add) }
            bit &-= 1
        }
        body(.conjugate)
        body(.addPsi)
        body(.addMinusPsi2)
    }
}

/// One pair of a product of pairings on its way through the loop, in 48 limbs: the running point T, Q and P affine.
struct MillerPair {
    /// Limbs of a pair.
    static var count: Int { 48 }
    /// Limbs of scratch that `advance` uses.
    static var scratch: Int { G2.count &+ 16 &+ Line.scratch }

    let limbs: Limbs

    @inline(__always) var t: G2 { G2(limbs) }
    @inline(__always) var q: Limbs { limbs + 24 }
    @inline(__always) var p: Limbs { limbs + 40 }

    /// T = Q for Q with Z = 1.
    func start(_ point: G2) {
        t.copy(point)
        copyLimbs(q, point.limbs, 16)
    }

    /// The line of the step, if it has one; T goes on. The points have order r.
    func advance(_ step: MillerLoop.Step, _ line: Limbs, _ s: Limbs) -> Bool {
        switch step {
        case .square: return false
        case .double: Line.double(t, line, s)
        case .add: Line.add(t, q, line, s)
        case .conjugate:
            t.negate(t)
            return false
        case .addPsi: addImage(times: 1, line, s)
        case .addMinusPsi2: addImage(times: 2, line, s)
        }
        return true
    }

    /// The line through T and psi(Q), or through T and -psi^2(Q).
    private func addImage(times: Int, _ line: Limbs, _ s: Limbs) {
        let image = G2(s), u = s + G2.count
        copyLimbs(image.x, q, 16)
        Fp2.setOne(image.z)
        for _ in 0..<times { image.psi(image, u) }
        if times == 2 { image.negate(image) }
        Line.add(t, image.limbs, line, u)
    }
}

extension MillerLoop {
    /// Limbs of scratch that `run` uses, besides the pairs.
    static var scratch: Int { Line.count &+ max(MillerPair.scratch, Fp12.scratch) }

    /// f = the product of the Miller functions of `count` pairs that lie one after another, each started and with its P.
    ///
    /// The squarings are shared (Granger and Smart, "On computing products of pairings", eprint 2006/172).
    @inline(never)
    static func run(_ f: Limbs, pairs: Limbs, count: Int, _ s: Limbs) {
        let line = s, u = s + Line.count
        Fp12.setOne(f)
        forEachStep { step in
            if step == .square { Fp12.sqr(f, f, u) }
            if step == .conjugate { Fp12.conj(f, f) }
            for i in 0..<count {
                let pair = MillerPair(limbs: pairs + i &* MillerPair.count)
                guard pair.advance(step, line, u) else { continue }
                Fp2.mulByFp(line, line, pair.p + 4, u)
                Fp2.mulByFp(line + 8, line + 8, pair.p, u)
                Fp12.mulByLine(f, f, line, line + 8, line + 16, u)
            }
        }
    }
}

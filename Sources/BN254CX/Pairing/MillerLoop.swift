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

        /// Whether f is multiplied by a line of each pair.
        @inline(__always) var hasLine: Bool { self != .square && self != .conjugate }
    }

    /// Doublings, additions and the two last lines.
    static var lines: Int { 64 &+ CurveCard.loopBits.nonzeroBitCount &+ 2 }
    /// Limbs of scratch that `run` uses.
    static var scratch: Int { Line.count &+ max(MillerPair.scratch, Fp12.scratch) }

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

    /// f = the Miller function of the pair, or the product of those of the pairs, whose lines come from `lines`.
    ///
    /// Pairs share the squarings (Granger and Smart, "On computing products of pairings", eprint 2006/172).
    @inline(__always)
    static func run(_ f: MillerValue, _ lines: some LineSource, _ s: Limbs) {
        var lines = lines
        f.value.setOne()
        forEachStep { step in
            if step == .square { f.value.square(f.value, s) }
            if step == .conjugate { f.value.conjugate(f.value) }
            lines.multiply(f.value, step, s)
        }
    }
}

/// Where the lines of a pair in the Miller loop come from.
protocol LineSource {
    /// f = f times the line of the step, if it has one. Scratch: `MillerLoop.scratch`.
    mutating func multiply(_ f: Fp12, _ step: MillerLoop.Step, _ s: Limbs)
}

/// The lines of two pairs, for the product of their pairings.
struct BothLines<First: LineSource, Second: LineSource>: LineSource {
    var first: First
    var second: Second

    @inline(__always)
    mutating func multiply(_ f: Fp12, _ step: MillerLoop.Step, _ s: Limbs) {
        first.multiply(f, step, s)
        second.multiply(f, step, s)
    }
}

/// A product of Miller functions in 48 limbs of an arena. It is no value of the pairing before `FinalExponentiation`.
package struct MillerValue {
    let value: Fp12

    /// Over the limbs of `room`, which is of no use until the final exponentiation.
    package init(in room: GT) { value = Fp12(room.limbs) }
}

/// The Miller loop of the optimal ate pairing (Vercauteren, "Optimal pairings", eprint 2008/096; for BN curves eprint
/// 2010/354, algorithm 1): the loop over the bits of 6x + 2 with the point Q, then the lines through psi(Q) and
/// -psi^2(Q). Since x = -u is negative, the loop goes over the bits of 6u - 2; then f is conjugated and the running
/// point T is negated.
package enum MillerLoop {
    /// A step of the loop.
    enum Step {
        /// f = f^2, once for all pairs together.
        case square
        /// Multiply f by the tangent at T; T = 2T.
        case double
        /// Multiply f by the line through T and Q; T = T + Q.
        case add
        /// f = conj f, once for all pairs together; T = -T.
        case conjugate
        /// Multiply f by the line through T and psi(Q); T = T + psi(Q).
        case addPsi
        /// Multiply f by the line through T and -psi^2(Q).
        case addMinusPsi2

        /// Whether f is multiplied by a line of each pair in this step.
        @inline(__always) var hasLine: Bool { self != .square && self != .conjugate }
    }

    /// The number of lines: one for each doubling, one for each addition of Q, and the lines through psi(Q) and
    /// -psi^2(Q).
    static var lines: Int { 64 &+ CurveCard.loopBits.nonzeroBitCount &+ 2 }
    /// The number of limbs of scratch that `run` uses.
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

    /// f = the result of the Miller loop for a pair, or the product of the results for several pairs. `lines` provides
    /// the lines of all pairs.
    ///
    /// All pairs share the squarings (Granger and Smart, "On computing products of pairings", eprint 2006/172).
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

/// Provides the lines of a pair in the Miller loop.
protocol LineSource {
    /// Multiplies f by the line of the step, if the step has a line. Scratch: `MillerLoop.scratch`.
    mutating func multiply(_ f: Fp12, _ step: MillerLoop.Step, _ s: Limbs)
}

/// Provides the lines of two pairs, for the product of their pairings.
struct BothLines<First: LineSource, Second: LineSource>: LineSource {
    var first: First
    var second: Second

    @inline(__always)
    mutating func multiply(_ f: Fp12, _ step: MillerLoop.Step, _ s: Limbs) {
        first.multiply(f, step, s)
        second.multiply(f, step, s)
    }
}

/// A result of the Miller loop in 48 limbs of an arena. `FinalExponentiation` turns this result into a value of the
/// pairing.
package struct MillerValue {
    let value: Fp12

    /// Uses the limbs of `room`, which contain no value of GT until the final exponentiation.
    package init(in room: GT) { value = Fp12(room.limbs) }
}

/// The state of a pair (Q, P) in the Miller loop, in 48 limbs of an arena: the running point T, which starts as Q, then
/// Q and P.
struct MillerPair: LineSource {
    /// The number of limbs of a pair.
    static var count: Int { G2.count &+ G2Affine.count &+ G1Affine.count }
    /// The number of limbs of scratch that `advance` uses.
    static var scratch: Int { G2Affine.count &+ Line.scratch }

    private let t: G2
    private let q: G2Affine
    private let p: G1Affine

    /// The state that is in these limbs.
    fileprivate init(_ limbs: Limbs) {
        var arena = Arena(limbs)
        (t, q, p) = (arena.g2(), arena.g2Affine(), arena.g1Affine())
    }

    /// Makes the state in `count` limbs. Q, and T at the start, are `point`, which has order r. `p` may be nil if
    /// `multiply` is not called, because only `multiply` uses P.
    init(_ limbs: Limbs, _ point: G2Affine, _ p: G1Affine? = nil) {
        self.init(limbs)
        t.affine.copy(point)
        t.z.setOne()
        q.copy(point)
        if let p { self.p.copy(p) }
    }

    /// Computes the next T, and the line of the step if the step has a line.
    @inline(__always)
    func advance(_ step: MillerLoop.Step, _ line: Line, _ s: Limbs) {
        switch step {
        case .square: break
        case .double: line.double(t, s)
        case .add: line.add(t, q, s)
        case .conjugate: t.negate(t)
        case .addPsi, .addMinusPsi2: addImage(step, line, s)
        }
    }

    /// Computes the line through T and psi(Q), or through T and -psi^2(Q).
    private func addImage(_ step: MillerLoop.Step, _ line: Line, _ s: Limbs) {
        let image = G2Affine(s), u = s + G2Affine.count
        image.psi(q, u)
        if step == .addMinusPsi2 {
            image.psi(image, u)
            image.negate(image)
        }
        line.add(t, image, u)
    }

    @inline(__always)
    func multiply(_ f: Fp12, _ step: MillerLoop.Step, _ s: Limbs) {
        let line = Line(s), u = s + Line.count
        advance(step, line, u)
        guard step.hasLine else { return }
        line.l0.multiply(line.l0, byFp: p.y, u)
        line.l1.multiply(line.l1, byFp: p.x, u)
        f.multiply(f, line, u)
    }
}

/// Several pairs, for the product of their pairings.
package struct MillerPairs: LineSource {
    /// The number of limbs of so many pairs.
    package static func count(_ pairs: Int) -> Int { MillerPair.count &* pairs }

    private let limbs: Limbs
    private var pairs = 0

    /// Makes an empty list. The limbs must be there for all pairs that are appended (`count`).
    package init(_ limbs: Limbs) { self.limbs = limbs }

    package var isEmpty: Bool { pairs == 0 }

    /// Adds a copy of the pair (q, p). p must be finite. If q does not have order r, the product means nothing.
    package mutating func append(_ q: G2Affine, _ p: G1Affine) {
        _ = MillerPair(limbs + MillerPairs.count(pairs), q, p)
        pairs &+= 1
    }

    @inline(__always)
    mutating func multiply(_ f: Fp12, _ step: MillerLoop.Step, _ s: Limbs) {
        for i in 0..<pairs { MillerPair(limbs + MillerPairs.count(i)).multiply(f, step, s) }
    }
}

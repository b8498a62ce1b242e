import CBN254CX

/// A sum k1 p1 + k2 p2 + ... of multiples of public points of G1 by public numbers. Variable time.
///
/// All terms share the doublings (Straus, "Addition chains of vectors", American Mathematical Monthly 71, 1964). Both
/// halves of each scalar (`ScalarSplit`) are in non-adjacent form, as in ``G1Multiples/multiplyVartime(_:by:_:)``. A term
/// with halves of 64 bits costs about 29 additions, any other one about 50, and the sum at most 126 doublings.
///
/// The points come from outside, and two of them may be equal or opposite. So the sum uses the complete formulas of
/// ``G1``: with formulas that have exceptions, somebody could choose points whose sum is wrongly infinite.
package struct G1Sum {
    private static var entries: Int { 8 }
    /// A term: the points p, 3p, ..., 15p, the x of their images under the endomorphism, and the digits of both halves.
    private static var term: Int { (G1.count &+ 4) &* entries &+ 2 &* NonAdjacentForm.count }

    /// The number of limbs of a sum of so many terms.
    package static func count(terms: Int) -> Int { terms &* term }
    /// The number of limbs of scratch that `add` and `store` use.
    package static var scratch: Int { G1.count &+ G1.scratch }

    private let limbs: Limbs
    private var terms = 0
    /// The largest number of digits of a half.
    private var digits = 0

    /// Makes a sum without terms. The limbs must be there for all terms that are added (`count`).
    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always)
    private func entry(_ term: Int, _ k: Int) -> G1 { G1(limbs + G1Sum.term &* term + G1.count &* k) }
    @inline(__always)
    private func image(_ term: Int, _ k: Int) -> Limbs {
        limbs + (G1Sum.term &* term &+ G1.count &* G1Sum.entries &+ 4 &* k)
    }
    @inline(__always)
    private func digits(_ term: Int, half: Int) -> NonAdjacentForm {
        NonAdjacentForm(limbs + (G1Sum.term &* (term &+ 1) &- NonAdjacentForm.count &* (2 &- half)))
    }

    /// Adds the term k p for any k < 2^256. p may have any Z and may be infinite.
    package mutating func add(_ p: G1, by k: Scalar, _ s: Limbs) {
        let double = G1(s), t = s + G1.count
        let (k0, k1) = ScalarSplit.split(k, t)
        digits = max(digits, digits(terms, half: 0).setVartime(k0), digits(terms, half: 1).setVartime(k1))
        entry(terms, 0).copy(p)
        double.double(p, t)
        for k in 1..<G1Sum.entries { entry(terms, k).add(entry(terms, k &- 1), double, t) }
        for k in 0..<G1Sum.entries { Fp.mul(image(terms, k), entry(terms, k).x, bn_beta(), t) }
        terms &+= 1
    }

    /// r = the sum of all terms.
    package func store(in r: G1, _ s: Limbs) {
        r.setInfinity()
        for i in stride(from: digits &- 1, through: 0, by: -1) {
            r.double(r, s)
            for term in 0..<terms {
                addMultiple(r, term, digits(term, half: 0)[i], isImage: false, s)
                addMultiple(r, term, digits(term, half: 1)[i], isImage: true, s)
            }
        }
    }

    /// r = r + `digit` times the point of the term, or its image.
    @inline(__always)
    private func addMultiple(_ r: G1, _ term: Int, _ digit: Int, isImage: Bool, _ s: Limbs) {
        guard digit != 0 else { return }
        let point = G1(s), k = Int(digit.magnitude) / 2
        point.copy(entry(term, k))
        if isImage { copyLimbs(point.x, image(term, k), 4) }
        if digit < 0 { Fp.neg(point.y, point.y) }
        r.add(r, point, s + G1.count)
    }
}

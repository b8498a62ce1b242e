extension G1 {
    /// The number of limbs of scratch that `multiplyVartime` uses.
    package static var multiplyVartimeScratch: Int {
        G1Multiples.count &+ max(G1Multiples.scratch, G1Multiples.vartimeScratch)
    }

    /// self = k * p for a public point and a public k < 2^256. Variable time.
    package func multiplyVartime(_ p: G1, by k: Scalar, _ s: Limbs) {
        let multiples = G1Multiples(s), t = s + G1Multiples.count
        multiples.fill(p, t)
        multiples.multiplyVartime(self, by: k, t)
    }
}

extension G1Multiples {
    /// The number of limbs of scratch that `multiplyVartime` uses.
    static var vartimeScratch: Int {
        2 &* NonAdjacentForm.count &+ G1Jacobian.count &+ G1Affine.count &+ 4 &+ G1Jacobian.scratch
    }

    /// r = k * p for public k and p, where p is the point of the table. Both halves of the scalar are written in
    /// non-adjacent form of width 5 and used in one loop (interleaved) (Möller, "Algorithms for multi-exponentiation",
    /// SAC 2001, section 3.2): 125 doublings and about 42 additions.
    ///
    /// No addition is exceptional. If the two points were equal or opposite, the sum's two coefficients minus or plus
    /// the digit would be a relation (see `ScalarSplit` and `multiplyLong`). The relation would not be zero, because
    /// the coefficient to which an odd digit is added is even, and every relation other than zero has a longer number.
    func multiplyVartime(_ r: G1, by k: Scalar, _ s: Limbs) {
        let first = NonAdjacentForm(s), second = NonAdjacentForm(s + NonAdjacentForm.count)
        let sum = G1Jacobian(limbs: s + 2 &* NonAdjacentForm.count), t = sum.limbs + G1Jacobian.count
        let (k0, k1) = ScalarSplit.split(k, t)
        let count = max(first.setVartime(k0), second.setVartime(k1))
        zeroLimbs(sum.limbs, G1Jacobian.count)
        var isInfinite = true
        for i in stride(from: count &- 1, through: 0, by: -1) {
            if !isInfinite { sum.double(t) }
            addVartime(sum, table: 0, first[i], &isInfinite, t)
            addVartime(sum, table: 8, second[i], &isInfinite, t)
        }
        store(sum, in: r, t)
    }

    /// Adds to the sum `digit` times p (`table` 0) or times the image of p (`table` 8). `table` is the index of the
    /// first entry of that point. `isInfinite` tells whether the sum is still infinite.
    @inline(__always)
    private func addVartime(_ sum: G1Jacobian, table: Int, _ digit: Int, _ isInfinite: inout Bool, _ s: Limbs) {
        guard digit != 0 else { return }
        let point = G1Affine(s), t = s + G1Affine.count
        point.copy(entry(table &+ Int(digit.magnitude) / 2))
        if digit < 0 { Fp.negateLazily(point.y, mask: ~0) }
        if isInfinite {
            sum.affine.copy(point)
            Fp.normalise(sum.y)
            Fp.setOne(sum.z)
            isInfinite = false
        } else {
            sum.add(point, ratio: t, t + 4)
        }
    }
}

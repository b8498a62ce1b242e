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
    private static var digits: Int { 128 }
    /// The number of limbs of scratch that `multiplyVartime` uses.
    static var vartimeScratch: Int {
        2 &* digits &+ G1Jacobian.count &+ G1Affine.count &+ 4 &+ G1Jacobian.scratch
    }

    /// r = k * p for public k and p, where p is the point of the table. Both halves of the scalar are written in
    /// non-adjacent form of width 5 and used in one loop (interleaved) (Möller, "Algorithms for multi-exponentiation",
    /// SAC 2001, section 3.2): 125 doublings and about 42 additions.
    ///
    /// No addition is exceptional. If the two points were equal or opposite, the sum's two coefficients minus or plus
    /// the digit would be a relation (see `ScalarSplit` and `multiplyLong`). The relation would not be zero, because
    /// the coefficient to which an odd digit is added is even, and every relation other than zero has a longer number.
    func multiplyVartime(_ r: G1, by k: Scalar, _ s: Limbs) {
        let first = s, second = s + G1Multiples.digits
        let sum = G1Jacobian(limbs: s + 2 &* G1Multiples.digits), t = sum.limbs + G1Jacobian.count
        let (k0, k1) = ScalarSplit.split(k, t)
        let count = max(G1Multiples.recodeVartime(first, k0), G1Multiples.recodeVartime(second, k1))
        zeroLimbs(sum.limbs, G1Jacobian.count)
        var isInfinite = true
        for i in stride(from: count &- 1, through: 0, by: -1) {
            if !isInfinite { sum.double(t) }
            addVartime(sum, table: 0, Int(truncatingIfNeeded: first[i]), &isInfinite, t)
            addVartime(sum, table: 8, Int(truncatingIfNeeded: second[i]), &isInfinite, t)
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

    /// Writes the digits of k from the lowest up: odd numbers between -15 and 15 with at least four zeros between two
    /// of them (Solinas, "Efficient arithmetic on Koblitz curves", 2000, algorithm 4, for integers). Returns the number
    /// of digits.
    private static func recodeVartime(_ digits: Limbs, _ k: SignedScalar) -> Int {
        zeroLimbs(digits, G1Multiples.digits)
        var rest = Int128(bitPattern: k.magnitude), count = 0, i = 0
        while rest != 0 {
            if rest & 1 != 0 {
                let low = Int(truncatingIfNeeded: rest) & 31, digit = low < 16 ? low : low &- 32
                rest = rest &- Int128(digit)
                digits[i] = Limb(truncatingIfNeeded: k.minus == 0 ? digit : 0 &- digit)
                count = i &+ 1
            }
            rest = rest &>> 1
            i &+= 1
        }
        return count
    }
}

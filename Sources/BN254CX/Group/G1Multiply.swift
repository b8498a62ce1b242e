extension G1 {
    /// The number of limbs of scratch that `multiply` uses.
    package static var multiplyScratch: Int { G1Multiples.count &+ G1Multiples.scratch }

    /// self = k * p for k < 2^bits with bits in 1...256. The time depends on `bits` only. See `G1Multiples`.
    package func multiply(_ p: G1, by k: Scalar, bits: Int, _ s: Limbs) {
        let multiples = G1Multiples(s), t = s + G1Multiples.count
        multiples.fill(p, t)
        multiples.multiply(self, by: k, bits: bits, t)
    }
}

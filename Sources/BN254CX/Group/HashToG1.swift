extension G1 {
    /// The number of limbs of scratch that `mapVartime` uses.
    package static var mapScratch: Int { 8 &+ Fp.powerScratch }

    /// self = the point for a hash of 32 bytes (wire section 3): x is the first of hash mod p, then x + 1, ..., for
    /// which x^3 + 2 is a square other than zero; y is the even root. Z is 1.
    ///
    /// Variable time, so only for hashes of public identities. About two Jacobi symbols and one square root. False if
    /// the hash has another length, or if 256 tries find no point (the chance is 2^-256 for a random hash).
    package func mapVartime(hash: Span<UInt8>, _ s: Limbs) -> Bool {
        guard hash.count == 32 else { return false }
        hash.withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { limbsFromBytes(x, base) }
        }
        Fp.fromInteger(x, x, s)
        let right = s, t = s + 4
        for _ in 0..<256 {
            G1Affine.curveRight(right, x, t)
            if Fp.isNonZeroSquareVartime(right, t) {
                Fp.root(y, right, t)
                makeRootEven(s)
                Fp.setOne(z)
                return true
            }
            Fp.add(x, x, Fp.one)
        }
        return false
    }

    /// y = p - y if y is odd. Scratch: 12 limbs.
    private func makeRootEven(_ s: Limbs) {
        Fp.toInteger(s, y, s + 4)
        if s[0] & 1 != 0 { Fp.neg(y, y) }
    }
}

extension G1 {
    /// Limbs of scratch that `mapVartime` uses.
    package static var mapScratch: Int { 8 &+ Fp.powerScratch }

    /// self = the point for 32 bytes of hash (wire section 3): x = hash mod p, then x + 1 until x^3 + 2 is a square
    /// other than zero; y is the even root. Z is 1.
    ///
    /// Variable time: for the hash of a public identity. About two Jacobi symbols and one square root. False for
    /// another length, or when 256 tries find no point (for a random hash that has a chance of 2^-256).
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

    /// Turns y into p - y when it is odd. Scratch: 12 limbs.
    private func makeRootEven(_ s: Limbs) {
        Fp.toInteger(s, y, s + 4)
        if s[0] & 1 != 0 { Fp.neg(y, y) }
    }
}

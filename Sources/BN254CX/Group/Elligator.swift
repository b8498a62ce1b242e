// The map from numbers to points and its inverse that Elligator squared is made of (Tibouchi, "Elligator squared:
// uniform points on elliptic curves of prime order as uniform random strings", eprint 2014/043), with the map of the old
// library: try and increment. Variable time: for public points.
extension G1 {
    /// Limbs of scratch that `preimagesVartime` uses.
    package static var preimageScratch: Int { 16 &+ encodingScratch }

    /// self = f(u, isOdd): the first x = u mod p, u + 1, ... with x^3 + 2 a square other than zero; y odd or even. Z is
    /// 1. False for another length than 32 bytes. Scratch: `mapScratch`.
    package func mapVartime(u: Span<UInt8>, isOdd: Bool, _ s: Limbs) -> Bool {
        guard mapVartime(hash: u, s) else { return false }
        if isOdd { negate(self) }
        return true
    }

    /// All u with f(u, isOdd) = self: base + 1, ..., base + count mod p, for the last x of the curve below that of the
    /// point. `base` becomes four limbs of Fp.
    ///
    /// Nil for the point at infinity, or when there are more than 255 (the chance is 2^-255).
    package func preimagesVartime(base: Limbs, _ s: Limbs) -> (count: Int, isOdd: Bool)? {
        guard infinityMask(s) == 0 else { return nil }
        let point = G1Affine(s), right = s + 8, t = s + 12
        makeAffine(point, t)
        Fp.toInteger(right, point.y, t)
        let isOdd = right[0] & 1 != 0
        copyLimbs(base, point.x, 4)
        for count in 1...255 {
            Fp.sub(base, base, Fp.one)
            G1Affine.curveRight(right, base, t)
            if Fp.isNonZeroSquareVartime(right, t) { return (count, isOdd) }
        }
        return nil
    }

    /// Writes base + m, m in 1...count, as 32 bytes. False for another length. Scratch: 12 limbs.
    package static func encodePreimage(
        base: Limbs, plus m: Int, into octets: inout MutableSpan<UInt8>, _ s: Limbs
    ) -> Bool {
        guard octets.count == 32 else { return false }
        var step = 0
        while step < m {
            Fp.add(base, base, Fp.one)
            step &+= 1
        }
        octets.withUnsafeMutableBufferPointer { buffer in
            if let start = buffer.baseAddress { Fp.encode(start, base, s) }
        }
        return true
    }
}

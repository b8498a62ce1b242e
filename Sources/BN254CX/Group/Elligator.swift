// Elligator squared (Tibouchi, "Elligator squared: uniform points on elliptic curves of prime order as uniform random
// strings", eprint 2014/043) uses this map from numbers to points and its inverse. The map is that of Milagro's
// library: it increments a number until the number is the x of a point. Variable time, so for public points only.
extension G1 {
    /// The number of limbs of scratch that `preimagesVartime` uses.
    package static var preimageScratch: Int { 16 &+ encodingScratch }

    /// self = f(u, isOdd), the point of the number u: x is the first of u mod p, u + 1, ... for which x^3 + 2 is a
    /// square other than zero. y is odd if `isOdd` is true, otherwise even. Z is 1. False if `u` does not have 32
    /// bytes. Scratch: `mapScratch`.
    package func mapVartime(u: Span<UInt8>, isOdd: Bool, _ s: Limbs) -> Bool {
        guard mapVartime(hash: u, s) else { return false }
        if isOdd { negate(self) }
        return true
    }

    /// Finds all u with f(u, isOdd) = self. These are base + 1, ..., base + count mod p, where `base` is the largest x
    /// of a point of the curve below the x of self. `base` receives four limbs of Fp.
    ///
    /// Nil for the point at infinity, and if there are more than 255 such u (the chance is 2^-255).
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

    /// Writes the number base + m as 32 bytes, for m in 1...count. False if `octets` has another length. Scratch: 12
    /// limbs.
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

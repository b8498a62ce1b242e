import CBN254CX

// Octets of G1: 04 || x || y, 65 bytes, coordinates big-endian.
extension G1 {
    /// Bytes of an encoded point.
    package static var octets: Int { 65 }
    /// Limbs of scratch that `decode`, `encode` and `makeAffine` use.
    package static var encodingScratch: Int { 8 &+ Fp.powerScratch }

    /// Reads a point. False unless there are 65 bytes, the prefix is 04, both coordinates are below p and the point is
    /// on the curve. All of E(Fp) has order r, and the form cannot hold the point at infinity. Z becomes 1.
    package func decode(_ octets: Span<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == G1.octets else { return false }
        let isUncompressed = ~nonZeroMask(UInt(octets[0] ^ 4))
        let inRange = octets.withUnsafeBufferPointer { buffer -> UInt in
            guard let base = buffer.baseAddress else { return 0 }
            return Fp.decode(x, base + 1, s) & Fp.decode(y, base + 33, s)
        }
        Fp.setOne(z)
        return declassify(isUncompressed & inRange & G1.onCurveMask(x, y, s)) != 0
    }

    /// Writes the point. False for another length than 65 and for the point at infinity.
    package func encode(into octets: inout MutableSpan<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == G1.octets, declassify(infinityMask(s)) == 0 else { return false }
        let affine = s
        makeAffine(affine, s + 8)
        octets[0] = 4
        octets.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            Fp.encode(base + 1, affine, s + 8)
            Fp.encode(base + 33, affine + 4, s + 8)
        }
        return true
    }

    /// r = x, y of eight limbs: X/Z, Y/Z, and 0, 0 for the point at infinity. One inversion. r must not overlap self.
    package func makeAffine(_ r: Limbs, _ s: Limbs) {
        Fp.inverse(r + 4, z, s)
        Fp.mul(r, x, r + 4, s)
        Fp.mul(r + 4, y, r + 4, s)
    }

    /// All ones when y^2 = x^3 + 2, else zero. Scratch: 20 limbs.
    static func onCurveMask(_ x: ConstLimbs, _ y: ConstLimbs, _ s: Limbs) -> UInt {
        let right = s, left = s + 4, t = s + 8
        curveRight(right, x, t)
        Fp.sqr(left, y, t)
        Fp.sub(left, left, right, t)
        return Fp.zeroMask(left, t)
    }

    /// r = x^3 + 2. r must not overlap x. Scratch: 8 limbs.
    static func curveRight(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        Fp.sqr(r, x, s)
        Fp.mul(r, r, x, s)
        Fp.add(r, r, bn_two())
    }
}

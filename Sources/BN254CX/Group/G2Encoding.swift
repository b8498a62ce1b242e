import CBN254CX

// Octets of G2: x.a || x.b || y.a || y.b, 128 bytes without a prefix, coordinates big-endian, real parts first.
extension G2 {
    /// Bytes of an encoded point.
    package static var octets: Int { 128 }
    /// Limbs of scratch that `decode`, `encode` and `makeAffine` use.
    package static var encodingScratch: Int { max(16 &+ Fp2.inverseScratch, subgroupScratch) }

    /// What octets of the right or the wrong kind are.
    package enum Decoding {
        /// A point of G2; Z is 1.
        case valid
        /// Another length than 128, a coordinate not below p, or off the curve.
        case invalid
        /// On the twist, but not in the subgroup of order r.
        case outsideSubgroup
    }

    /// Reads a point: range, curve and subgroup are checked. The form cannot hold the point at infinity.
    package func decode(_ octets: Span<UInt8>, _ s: Limbs) -> Decoding {
        guard octets.count == G2.octets else { return .invalid }
        let inRange = octets.withUnsafeBufferPointer { buffer -> UInt in
            guard let base = buffer.baseAddress else { return 0 }
            var mask = ~UInt(0)
            for i in 0..<4 { mask &= Fp.decode(limbs + 4 &* i, base + 32 &* i, s) }
            return mask
        }
        Fp2.setOne(z)
        guard declassify(inRange & G2.onCurveMask(x, y, s)) != 0 else { return .invalid }
        return declassify(subgroupMask(s)) != 0 ? .valid : .outsideSubgroup
    }

    /// Writes the point. False for another length than 128 and for the point at infinity.
    package func encode(into octets: inout MutableSpan<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == G2.octets, declassify(infinityMask(s)) == 0 else { return false }
        let affine = s
        makeAffine(affine, s + 16)
        octets.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            for i in 0..<4 { Fp.encode(base + 32 &* i, affine + 4 &* i, s + 16) }
        }
        return true
    }

    /// r = x, y of sixteen limbs: X/Z, Y/Z, and 0, 0 for the point at infinity. r must not overlap self.
    package func makeAffine(_ r: Limbs, _ s: Limbs) {
        Fp2.inverse(r + 8, z, s)
        Fp2.mul(r, x, r + 8, s)
        Fp2.mul(r + 8, y, r + 8, s)
    }

    /// All ones when y^2 = x^3 + (1 - i), else zero. Scratch: 48 limbs.
    static func onCurveMask(_ x: ConstLimbs, _ y: ConstLimbs, _ s: Limbs) -> UInt {
        let right = s, left = s + 8, t = s + 16
        Fp2.sqr(right, x, t)
        Fp2.mul(right, right, x, t)
        Fp2.add(right, right, bn_twist_b())
        Fp2.sqr(left, y, t)
        Fp2.sub(left, left, right)
        return Fp2.zeroMask(left, t)
    }
}

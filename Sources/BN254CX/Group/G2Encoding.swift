// Octets of G2: x.a || x.b || y.a || y.b, 128 bytes without a prefix, coordinates big-endian, real parts first.
extension G2 {
    /// The number of bytes of an encoded point.
    package static var octets: Int { 128 }
    /// The number of limbs of scratch that `decode`, `encode` and `makeAffine` use.
    package static var encodingScratch: Int { max(16 &+ Fp2.inverseScratch, subgroupScratch) }

    /// The result of reading octets.
    package enum Decoding {
        /// A point of G2; Z is 1.
        case valid
        /// The length is not 128, or a coordinate is not below p, or the point is not on the curve.
        case invalid
        /// The point is on the twist, but not in the subgroup of order r.
        case outsideSubgroup
    }

    /// Reads a point, and checks that the coordinates are below p and that the point is on the curve and, unless
    /// `checksOrder` is false, in the subgroup. The encoding has no form for the point at infinity.
    package func decode(_ octets: Span<UInt8>, checksOrder: Bool = true, _ s: Limbs) -> Decoding {
        guard octets.count == G2.octets else { return .invalid }
        let inRange = octets.withUnsafeBufferPointer { buffer -> Limb in
            guard let base = buffer.baseAddress else { return 0 }
            var mask = ~Limb(0)
            for i in 0..<4 { mask &= Fp.decode(limbs + 4 &* i, base + 32 &* i, s) }
            return mask
        }
        z.setOne()
        guard declassify(inRange & affine.onCurveMask(s)) != 0 else { return .invalid }
        guard checksOrder else { return .valid }
        return declassify(subgroupMask(s)) != 0 ? .valid : .outsideSubgroup
    }

    /// Writes the point. False if `octets` does not have 128 bytes, and for the point at infinity.
    package func encode(into octets: inout MutableSpan<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == G2.octets, declassify(infinityMask(s)) == 0 else { return false }
        let point = G2Affine(s), t = s + G2Affine.count
        makeAffine(point, t)
        octets.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            for i in 0..<4 { Fp.encode(base + 32 &* i, point.limbs + 4 &* i, t) }
        }
        return true
    }

    /// r = (X/Z, Y/Z), and (0, 0) for the point at infinity. r must not overlap self.
    package func makeAffine(_ r: G2Affine, _ s: Limbs) {
        r.y.invert(z, s)
        r.x.multiply(x, r.y, s)
        r.y.multiply(y, r.y, s)
    }
}

extension G2Affine {
    /// All ones if y^2 = x^3 + (1 - i), else zero. Scratch: 48 limbs.
    func onCurveMask(_ s: Limbs) -> Limb {
        var arena = Arena(s)
        let right = arena.fp2(), left = arena.fp2(), t = arena.scratch
        right.square(x, t)
        right.multiply(right, x, t)
        right.add(right, Fp2.twistB)
        left.square(y, t)
        left.subtract(left, right)
        return left.zeroMask(t)
    }
}

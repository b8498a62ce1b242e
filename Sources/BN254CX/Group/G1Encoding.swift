// Octets of G1: 04 || x || y, 65 bytes, coordinates big-endian.
extension G1 {
    /// The number of bytes of an encoded point.
    package static var octets: Int { 65 }
    /// The number of limbs of scratch that `decode`, `encode` and `makeAffine` use.
    package static var encodingScratch: Int { 8 &+ Fp.powerScratch }

    /// Reads a point; Z becomes 1. False unless there are 65 bytes, the prefix is 04, both coordinates are below p and
    /// the point is on the curve. Every point of E(Fp) has order r or 1, so no other check is needed. The encoding has
    /// no form for the point at infinity.
    package func decode(_ octets: Span<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == G1.octets else { return false }
        let isUncompressed = ~nonZeroMask(Limb(octets[0] ^ 4))
        let inRange = octets.withUnsafeBufferPointer { buffer -> Limb in
            guard let base = buffer.baseAddress else { return 0 }
            return Fp.decode(x, base + 1, s) & Fp.decode(y, base + 33, s)
        }
        Fp.setOne(z)
        return declassify(isUncompressed & inRange & affine.onCurveMask(s)) != 0
    }

    /// Writes the point. False if `octets` does not have 65 bytes, and for the point at infinity.
    package func encode(into octets: inout MutableSpan<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == G1.octets, declassify(infinityMask(s)) == 0 else { return false }
        let point = G1Affine(s), t = s + G1Affine.count
        makeAffine(point, t)
        return point.encode(into: &octets, t)
    }

    /// Changes `count` points that lie one after another to Z = 1. Returns all ones; if one of the points is infinite,
    /// it returns zero and no point must be used.
    ///
    /// One inversion for all points (Montgomery, "Speeding the Pollard and elliptic curve methods of factorization",
    /// 1987, section 10.3.1) and 5 products for each. Scratch: 4 (count + 2) + `Fp.powerScratch`.
    package static func makeAffine(_ points: Limbs, count: Int, _ s: Limbs) -> Limb {
        let inverse = s, one = s + 4, products = s + 8, t = s + 8 + 4 &* count
        copyLimbs(products, G1(points).z, 4)
        for i in 1..<count {
            Fp.mul(products + 4 &* i, products + 4 &* (i &- 1), G1(points + G1.count &* i).z, t)
        }
        Fp.inverse(inverse, products + 4 &* (count &- 1), t)
        let isFinite = ~Fp.zeroMask(inverse, t)
        for i in stride(from: count &- 1, through: 0, by: -1) {
            let point = G1(points + G1.count &* i)
            copyLimbs(one, inverse, 4)
            if i > 0 { Fp.mul(one, one, products + 4 &* (i &- 1), t) }
            Fp.mul(inverse, inverse, point.z, t)
            Fp.mul(point.x, point.x, one, t)
            Fp.mul(point.y, point.y, one, t)
            Fp.setOne(point.z)
        }
        return isFinite
    }

    /// r = (X/Z, Y/Z), and (0, 0) for the point at infinity. One inversion. r must not overlap self.
    package func makeAffine(_ r: G1Affine, _ s: Limbs) {
        Fp.inverse(r.y, z, s)
        Fp.mul(r.x, x, r.y, s)
        Fp.mul(r.y, y, r.y, s)
    }
}

extension G1Affine {
    /// Writes the point, without an inversion. False if `octets` does not have 65 bytes. Scratch: 12 limbs.
    package func encode(into octets: inout MutableSpan<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == G1.octets else { return false }
        octets[0] = 4
        octets.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            Fp.encode(base + 1, x, s)
            Fp.encode(base + 33, y, s)
        }
        return true
    }

    /// All ones if y^2 = x^3 + 2, else zero. Scratch: 20 limbs.
    func onCurveMask(_ s: Limbs) -> Limb {
        let right = s, left = s + 4, t = s + 8
        G1Affine.curveRight(right, x, t)
        Fp.sqr(left, y, t)
        Fp.sub(left, left, right)
        return Fp.zeroMask(left, t)
    }

    /// r = x^3 + 2, the right side of the curve's equation. r must not overlap x. Scratch: 8 limbs.
    static func curveRight(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        Fp.sqr(r, x, s)
        Fp.mul(r, r, x, s)
        Fp.add(r, r, Fp.two)
    }
}

/// A value of the pairing in 48 limbs of an arena: an element of the cyclotomic subgroup of Fp12, written
/// multiplicatively. The inverse is the conjugate.
package struct GT {
    /// Limbs of a value.
    package static var count: Int { Fp12.count }
    /// Bytes of an encoded value.
    package static var octets: Int { 384 }
    /// Limbs of scratch that `multiply`, `square`, `decode` and `encode` use.
    package static var scratch: Int { 96 &+ Fp12.scratch }

    package let limbs: Limbs

    package init(_ limbs: Limbs) { self.limbs = limbs }

    /// self = a b.
    package func multiply(_ a: GT, _ b: GT, _ s: Limbs) { Fp12.mul(limbs, a.limbs, b.limbs, s) }

    /// self = a^2.
    package func square(_ a: GT, _ s: Limbs) { Fp12.cyclotomicSqr(limbs, a.limbs, s) }

    /// self = 1/a.
    package func invert(_ a: GT) { Fp12.conj(limbs, a.limbs) }

    /// self = a.
    package func copy(_ a: GT) { copyLimbs(limbs, a.limbs, GT.count) }

    /// self = 1.
    package func setOne() { Fp12.setOne(limbs) }

    /// Whether the values are equal; constant time until the answer. Scratch: 8 limbs.
    package func equals(_ a: GT, _ s: Limbs) -> Bool { declassify(Fp12.equalMask(limbs, a.limbs, s)) != 0 }

    /// Whether the value is 1. Scratch: 56 limbs.
    package func isOne(_ s: Limbs) -> Bool {
        Fp12.setOne(s)
        return declassify(Fp12.equalMask(limbs, s, s + 48)) != 0
    }
}

// Octets: twelve coordinates of 32 bytes, big-endian, the coefficients of w^0, w^3, w^1, w^4, w^2, w^5, each with its
// real part first.
extension GT {
    /// Reads an element of Fp12. False for another length than 384, a coordinate not below p, or an element outside
    /// the cyclotomic subgroup, where an inverse would not be the conjugate.
    package func decode(_ octets: Span<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == GT.octets else { return false }
        return octets.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            return declassify(Fp12.decode(limbs, base, s) & Fp12.isCyclotomicMask(limbs, s)) != 0
        }
    }

    /// Writes the value. False for another length than 384.
    package func encode(into octets: inout MutableSpan<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == GT.octets else { return false }
        octets.withUnsafeMutableBufferPointer { buffer in
            if let base = buffer.baseAddress { Fp12.encode(base, limbs, s) }
        }
        return true
    }
}

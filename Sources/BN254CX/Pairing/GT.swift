/// A value of the pairing in 48 limbs of an arena: an element of Fp12 of order r or 1, written multiplicatively. The
/// inverse is the conjugate.
package struct GT {
    /// Limbs of a value.
    package static var count: Int { Fp12.count }
    /// Bytes of an encoded value.
    package static var octets: Int { 384 }
    /// Limbs of scratch that `multiply`, `square`, `decode` and `encode` use.
    package static var scratch: Int { 96 &+ Fp12.powUScratch }

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
    /// What octets of the right or the wrong kind are.
    package enum Decoding {
        /// A value of the pairing.
        case valid
        /// Another length than 384, or a coordinate not below p.
        case invalid
        /// An element of Fp12, but not of order r or 1.
        case outsideSubgroup
    }

    /// Reads a value: range and order are checked.
    package func decode(_ octets: Span<UInt8>, _ s: Limbs) -> Decoding {
        guard octets.count == GT.octets else { return .invalid }
        let inRange = octets.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { Fp12.decode(limbs, $0, s) } ?? 0
        }
        guard declassify(inRange) != 0 else { return .invalid }
        guard declassify(Fp12.isCyclotomicMask(limbs, s)) != 0 else { return .outsideSubgroup }
        return declassify(Fp12.isOrderMask(limbs, s)) != 0 ? .valid : .outsideSubgroup
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

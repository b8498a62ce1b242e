/// A value of the pairing in 48 limbs of an arena: an element of Fp12 whose order is r or 1. The group is written
/// multiplicatively, and the inverse of an element is its conjugate.
package struct GT {
    /// The number of limbs of a value.
    package static var count: Int { Fp12.count }
    /// The number of bytes of an encoded value.
    package static var octets: Int { 384 }
    /// The number of limbs of scratch that `multiply`, `square`, `decode` and `encode` use.
    package static var scratch: Int { 2 &* Fp12.count &+ Fp12.powUScratch }

    package let limbs: Limbs

    package init(_ limbs: Limbs) { self.limbs = limbs }

    /// The value as an element of Fp12.
    @inline(__always) var value: Fp12 { Fp12(limbs) }

    /// self = a * b.
    package func multiply(_ a: GT, _ b: GT, _ s: Limbs) { value.multiply(a.value, b.value, s) }

    /// self = a^2.
    package func square(_ a: GT, _ s: Limbs) { value.cyclotomicSquare(a.value, s) }

    /// self = 1/a.
    package func invert(_ a: GT) { value.conjugate(a.value) }

    /// self = a.
    package func copy(_ a: GT) { value.copy(a.value) }

    /// self = 1.
    package func setOne() { value.setOne() }

    /// Whether the values are equal. Takes constant time. Scratch: 8 limbs.
    package func equals(_ a: GT, _ s: Limbs) -> Bool { declassify(value.equalMask(a.value, s)) != 0 }

    /// Whether the value is 1. Scratch: 56 limbs.
    package func isOne(_ s: Limbs) -> Bool {
        let one = Fp12(s)
        one.setOne()
        return declassify(value.equalMask(one, s + Fp12.count)) != 0
    }
}

// The encoding has twelve coordinates of 32 bytes, big-endian: the coefficients of w^0, w^3, w^1, w^4, w^2, w^5, each
// with its real part first.
extension GT {
    /// The result of reading octets.
    package enum Decoding {
        /// A value of the pairing.
        case valid
        /// The length is not 384, or a coordinate is not below p.
        case invalid
        /// The element of Fp12 does not have order r or 1.
        case outsideSubgroup
    }

    /// Reads a value, and checks that the coordinates are below p and that the order is r or 1.
    package func decode(_ octets: Span<UInt8>, _ s: Limbs) -> Decoding {
        guard octets.count == GT.octets else { return .invalid }
        let inRange = octets.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { value.decode($0, s) } ?? 0
        }
        guard declassify(inRange) != 0 else { return .invalid }
        guard declassify(value.isCyclotomicMask(s)) != 0 else { return .outsideSubgroup }
        return declassify(value.isOrderMask(s)) != 0 ? .valid : .outsideSubgroup
    }

    /// Writes the value. False if `octets` does not have 384 bytes.
    package func encode(into octets: inout MutableSpan<UInt8>, _ s: Limbs) -> Bool {
        guard octets.count == GT.octets else { return false }
        octets.withUnsafeMutableBufferPointer { buffer in
            if let base = buffer.baseAddress { value.encode(base, s) }
        }
        return true
    }
}

extension Arena {
    /// Takes the limbs of a value of the pairing from the arena. They are not initialised.
    package mutating func gt() -> GT { GT(take(GT.count)) }
}

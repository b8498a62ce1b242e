import CBN254CX
import CGMP

/// An integer of 256 bits in four limbs of an arena, by which points are multiplied.
package struct Scalar {
    /// The number of limbs of a scalar.
    package static var count: Int { 4 }

    package let limbs: Limbs

    package init(_ limbs: Limbs) { self.limbs = limbs }

    /// Reads a number from 32 big-endian bytes; every value is allowed. False if there are not 32 bytes.
    package func load(_ octets: Span<UInt8>) -> Bool {
        guard octets.count == 32 else { return false }
        octets.withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { limbsFromBytes(limbs, base) }
        }
        return true
    }

    /// Reads a number from 32 big-endian bytes. False unless the number is in 1..<r. Scratch: 4 limbs.
    package func decode(_ octets: Span<UInt8>, _ s: Limbs) -> Bool {
        guard load(octets) else { return false }
        let isBelow = 0 &- __gmpn_sub_n(s, limbs, bn_r(), 4)
        return declassify(isBelow & ~zeroMask(limbs, 4)) != 0
    }

    /// Reads a number from 32 big-endian bytes. False unless the number is below 2^bits and bits is in 1...256.
    package func decode(_ octets: Span<UInt8>, bits: Int) -> Bool {
        guard bits >= 1, bits <= 256, load(octets) else { return false }
        var excess: Limb = 0
        for i in 0..<4 {
            let free = min(64, max(0, bits &- 64 &* i))
            excess |= free == 64 ? 0 : limbs[i] &>> Limb(free)
        }
        return declassify(nonZeroMask(excess)) == 0
    }

    /// Writes the number as 32 big-endian bytes. False if `octets` has another length.
    package func encode(into octets: inout MutableSpan<UInt8>) -> Bool {
        guard octets.count == 32 else { return false }
        octets.withUnsafeMutableBufferPointer { buffer in
            if let base = buffer.baseAddress { bytesFromLimbs(base, limbs) }
        }
        return true
    }

    /// self = a + b mod r for a, b < r. The sum does not overflow, because 2r < 2^256.
    package func add(_ a: Scalar, _ b: Scalar) {
        addLimbs(limbs, a.limbs, b.limbs, 4)
        let borrow = __gmpn_sub_n(limbs, limbs, bn_r(), 4)
        _ = __gmpn_cnd_add_n(borrow, limbs, limbs, bn_r(), 4)
    }

    /// The `width` bits from bit `position` on; 0 beyond bit 255. `width` divides 64 and `position` is a multiple of
    /// `width`, so these bits lie in one limb. The time does not depend on the scalar.
    @inline(__always)
    func window(at position: Int, width: Int) -> Limb {
        guard position < 256 else { return 0 }
        return limbs[position &>> 6] &>> Limb(position & 63) & (1 &<< Limb(width) &- 1)
    }
}

extension Arena {
    /// Takes the limbs of a scalar from the arena. They are not initialised.
    package mutating func scalar() -> Scalar { Scalar(take(Scalar.count)) }
}

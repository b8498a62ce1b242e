import CBN254CX
import CGMP

// The representative of an element below p, and the functions that need it: comparison, and conversion from and to
// integers and bytes.
extension Fp {
    /// r = a mod p in 0..<p for normal a (see `Fp`).
    @inline(__always)
    static func canonical(_ r: Limbs, _ a: ConstLimbs) {
        let borrow = __gmpn_sub_n(r, a, p, 4)
        _ = __gmpn_cnd_add_n(borrow, r, r, p, 4)
    }

    /// All ones if the element `a` is zero, else zero. Scratch: 4 limbs.
    @inline(__always)
    package static func zeroMask(_ a: ConstLimbs, _ s: Limbs) -> Limb {
        canonical(s, a)
        return BN254CX.zeroMask(s, 4)
    }

    /// r = the Montgomery form of the integer a < 2^256.
    package static func fromInteger(_ r: Limbs, _ a: ConstLimbs, _ s: Limbs) {
        mul(r, a, bn_radix_squared(), s)
    }

    /// r = the integer in 0..<p that `a` represents. Scratch: 8 limbs.
    package static func toInteger(_ r: Limbs, _ a: ConstLimbs, _ s: Limbs) {
        copyLimbs(s, a, 4)
        zeroLimbs(s + 4, 4)
        reduce(r, s)
        canonical(r, r)
    }

    /// Reads a number from 32 big-endian bytes. Returns all ones if the number is below p. Otherwise returns zero, and
    /// r must not be used. Scratch: 8 limbs.
    package static func decode(_ r: Limbs, _ bytes: UnsafePointer<UInt8>, _ s: Limbs) -> Limb {
        limbsFromBytes(r, bytes)
        let isBelow = 0 &- __gmpn_sub_n(s, r, p, 4)
        fromInteger(r, r, s)
        return isBelow
    }

    /// Writes the number that `a` represents as 32 big-endian bytes. Scratch: 12 limbs.
    package static func encode(_ bytes: UnsafeMutablePointer<UInt8>, _ a: ConstLimbs, _ s: Limbs) {
        toInteger(s, a, s + 4)
        bytesFromLimbs(bytes, s)
    }

    /// r = 1.
    package static func setOne(_ r: Limbs) { copyLimbs(r, one, 4) }
}

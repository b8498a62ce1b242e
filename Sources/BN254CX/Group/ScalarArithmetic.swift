import CBN254CX
import CGMP

// Arithmetic modulo the group order r, constant time unless the name says otherwise.
extension Scalar {
    /// The number of limbs of scratch that `invert` and `decodeBelowOrder` use.
    package static var scratch: Int { 8 &+ 16 }

    /// Reads a number from 32 big-endian bytes. False unless the number is below r. Unlike `decode`, this function
    /// accepts 0. Scratch: 4 limbs.
    package func decodeBelowOrder(_ octets: Span<UInt8>, _ s: Limbs) -> Bool {
        guard load(octets) else { return false }
        return declassify(0 &- __gmpn_sub_n(s, limbs, bn_r(), 4)) != 0
    }

    /// self = self mod r for any value. Subtracts r up to seven times, which is enough because 2^256 < 8 r.
    package func reduce() {
        for _ in 0..<7 {
            let borrow = __gmpn_sub_n(limbs, limbs, bn_r(), 4)
            _ = __gmpn_cnd_add_n(borrow, limbs, limbs, bn_r(), 4)
        }
    }

    /// self = 1/a mod r for a in 1..<r. mpn_sec_invert takes 512 steps for every a; r and a together have at most 508
    /// bits.
    package func invert(_ a: Scalar, _ s: Limbs) {
        copyLimbs(s, a.limbs, 4)
        _ = __gmpn_sec_invert(limbs, s, bn_r(), 4, 512, s + 8)
    }

    /// self = a b mod r for public a and b. Variable time. Scratch: 13 limbs.
    package func multiplyVartime(_ a: Scalar, _ b: Scalar, _ s: Limbs) {
        __gmpn_mul_n(s, a.limbs, b.limbs, 4)
        __gmpn_tdiv_qr(s + 8, limbs, 0, s, 8, bn_r(), 4)
    }
}

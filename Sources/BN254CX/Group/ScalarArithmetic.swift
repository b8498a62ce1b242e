import CBN254CX
import CGMP

// Arithmetic modulo the group order r, constant time.
extension Scalar {
    /// Limbs of scratch that `invert` and `decodeBelowOrder` use.
    package static var scratch: Int { 8 &+ 16 }

    /// Reads 32 big-endian bytes. False unless they are below r; 0 is allowed, other than in `decode`. Scratch: 4 limbs.
    package func decodeBelowOrder(_ octets: Span<UInt8>, _ s: Limbs) -> Bool {
        guard load(octets) else { return false }
        return declassify(0 &- __gmpn_sub_n(s, limbs, bn_r(), 4)) != 0
    }

    /// self = self mod r for any value: 2^256 < 8 r, so that seven conditional subtractions do.
    package func reduce() {
        for _ in 0..<7 {
            let borrow = __gmpn_sub_n(limbs, limbs, bn_r(), 4)
            _ = __gmpn_cnd_add_n(borrow, limbs, limbs, bn_r(), 4)
        }
    }

    /// self = 1/a mod r for a in 1..<r. By mpn_sec_invert, whose steps are as many as r and a have bits at most, 508.
    package func invert(_ a: Scalar, _ s: Limbs) {
        copyLimbs(s, a.limbs, 4)
        _ = __gmpn_sec_invert(limbs, s, bn_r(), 4, 512, s + 8)
    }
}

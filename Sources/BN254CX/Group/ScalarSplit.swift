import CBN254CX
import CGMP

/// A signed number: a magnitude of up to 128 bits, and the mask `minus`, which is all ones for a negative number and
/// zero for a positive one.
package struct SignedScalar {
    package let magnitude: UInt128
    package let minus: Limb

    /// Converts from two's complement.
    @inline(__always)
    init(_ value: UInt128) {
        minus = 0 &- Limb(truncatingIfNeeded: value &>> 127)
        let mask = UInt128(truncatingIfNeeded: SignedLimb(bitPattern: minus))
        magnitude = (value ^ mask) &- mask
    }
}

/// Splits a scalar into two short numbers: k = k0 + k1 lambda mod r with |k0|, |k1| < 2^125.6, for every k < 2^256.
/// Constant time.
///
/// On G1 the multiplication by lambda = 36x^3 + 18x^2 + 6x + 1 is (X, Y) -> (beta X, Y) (Gallant, Lambert, Vanstone,
/// "Faster point multiplication on elliptic curves with efficient endomorphisms", CRYPTO 2001, section 4). A relation
/// is a pair (a, b) with a + b lambda = 0 mod r. With m = -(2x + 1) the relations (6x^2 + 4x + 1, -m) and (m, 6x^2 +
/// 2x) are a reduced basis of all relations, with determinant r. c1 = k (6x^2 + 2x)/r and c2 = k m/r are rounded, and
/// c1 times the first and c2 times the second relation are subtracted from (k, 0). Each number of the remainder (k0,
/// k1) is at most half the sum of the absolute values in its column of the basis. For k = a + b lambda with a and b
/// below 2^64, the remainder is (a, b) again.
package enum ScalarSplit {
    /// The number of limbs of scratch.
    package static var scratch: Int { 8 }

    package static func split(_ k: Scalar, _ s: Limbs) -> (SignedScalar, SignedScalar) {
        let x = 0 &- UInt128(CurveCard.u), m = 0 &- (2 &* x &+ 1)
        let c1 = quotient(k, bn_glv_factors(), s), c2 = quotient(k, bn_glv_factors() + 4, s)
        let k0 = lowHalf(k) &- c1 &* (6 &* x &* x &+ 4 &* x &+ 1) &- c2 &* m
        let k1 = c1 &* m &- c2 &* (6 &* x &* x &+ 2 &* x)
        return (SignedScalar(k0), SignedScalar(k1))
    }

    /// The number k * factor / 2^320, rounded, modulo 2^128.
    @inline(__always)
    private static func quotient(_ k: Scalar, _ factor: ConstLimbs, _ s: Limbs) -> UInt128 {
        __gmpn_sec_mul(s, k.limbs, 4, factor, 4, nil)
        return (UInt128(s[6]) &<< 64 | UInt128(s[5])) &+ UInt128(s[4] &>> 63)
    }

    @inline(__always)
    static func lowHalf(_ k: Scalar) -> UInt128 { UInt128(k.limbs[1]) &<< 64 | UInt128(k.limbs[0]) }
}

extension Scalar {
    /// self = a + b * lambda mod r. Different pairs (a, b) yield different results, because the numbers of a relation
    /// other than zero are longer than 64 bits (see `ScalarSplit`). Constant time.
    ///
    /// It is computed as r - (b L mod r) + a with L = -lambda > 0. Both b L and r + a are below 2^256.
    package func setShort(_ a: Limb, _ b: Limb) {
        scaleLimbs(limbs, bn_minus_lambda(), 4, b)
        reduce()
        subLimbs(limbs, bn_r(), limbs, 4)
        var carry: Limb = 0
        limbs[0] = addWithCarry(limbs[0], a, &carry)
        for i in 1..<4 { limbs[i] = addWithCarry(limbs[i], 0, &carry) }
        reduce()
    }
}

/// Splits a scalar into four short numbers: k = k0 + k1 p + k2 p^2 + k3 p^3 mod r with |kj| < 2^63.33, for every k <
/// 2^256. Constant time. On G2 the multiplication by p is the map psi, and on GT the power by p is the Frobenius map.
///
/// Galbraith and Scott, "Exponentiation in pairing-friendly groups using homomorphisms", Pairing 2008, section 4.2.
/// With u = -x, the basis of all relations is the four rows below. The absolute values of each column add up to 5u at
/// most.
///
///     (2u - 1, 0, 2u, -1), (1, 2u - 1, -1, 2u), (2u - 1, -u, 1 - u, -u), (-u, 2u, 2u - 1, -u)
enum ScalarSplit4 {
    /// The number of limbs of scratch.
    static var scratch: Int { 8 }

    static func split(_ k: Scalar, _ s: Limbs) -> (SignedScalar, SignedScalar, SignedScalar, SignedScalar) {
        let u = UInt128(CurveCard.u), v = 2 &* u &- 1
        let a = quotient(k, 0, s), b = quotient(k, 1, s), c = quotient(k, 2, s), d = quotient(k, 3, s)
        let k0 = ScalarSplit.lowHalf(k) &- a &* v &- b &- c &* v &+ d &* u
        let k1 = c &* u &- b &* v &- 2 &* d &* u
        let k2 = b &+ c &* (u &- 1) &- 2 &* a &* u &- d &* v
        let k3 = a &+ (c &+ d) &* u &- 2 &* b &* u
        return (SignedScalar(k0), SignedScalar(k1), SignedScalar(k2), SignedScalar(k3))
    }

    /// The number k * factor / 2^312, rounded, modulo 2^128. The factor is the one of row `row` of `bn_gs_factors`.
    @inline(__always)
    private static func quotient(_ k: Scalar, _ row: Int, _ s: Limbs) -> UInt128 {
        __gmpn_sec_mul(s, k.limbs, 4, bn_gs_factors() + 4 &* row, 4, nil)
        let low = s[5] &<< 8 | s[4] &>> 56, high = s[6] &<< 8 | s[5] &>> 56
        return (UInt128(high) &<< 64 | UInt128(low)) &+ UInt128((s[4] &>> 55) & 1)
    }
}

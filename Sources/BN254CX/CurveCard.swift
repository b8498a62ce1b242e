/// The curve BN254CX, also called BNCX: the pairing-friendly curve of M-Pin.
///
///     x = -0x4000000003C012B1, u = |x|
///     p = 36x^4 + 36x^3 + 24x^2 + 6x + 1      254 bits, p = 3 mod 8
///     r = 36x^4 + 36x^3 + 18x^2 + 6x + 1      254 bits, t = 6x^2 + 1, r = p + 1 - t
///     E:  Y^2 = X^3 + 2 over Fp               order r, cofactor 1, generator (-1, 1)
///     E': Y^2 = X^3 + (1 - i) over Fp2        order r(2p - r), D-type twist: (X, Y) -> (X w^2, Y w^3)
///
///     Fp2  = Fp[i]/(i^2 + 1)
///     Fp6  = Fp2[v]/(v^3 - (1 + i))
///     Fp12 = Fp6[w]/(w^2 - v), hence w^6 = 1 + i
///
/// Pairing: optimal ate, loop length 6u - 2 (65 bits, 64 doublings, 10 additions, two lines more for the Frobenius
/// images); final exponent exactly (p^12 - 1)/r.
///
/// Security: about 100 bits by the estimates for the number field sieve on pairing-friendly curves
/// (Barbulescu and Duquesne, "Updating key size estimations for pairings", J. Cryptology 2019).
///
/// Source of the curve: the field and generators of the Milagro cryptographic library ("BNCX").
package enum CurveCard {
    /// The number u = |x|, the parameter of the curve without its sign.
    package static let u: UInt64 = 0x4000_0000_03C0_12B1

    /// Calls `body` for each digit of u in non-adjacent form, from the one below the highest digit down. A digit is 1,
    /// 0 or -1, and of two neighbours one is 0. A multiplication by u takes 62 doublings and 8 additions.
    @inline(__always)
    static func forEachSignedBitOfU(_ body: (_ sign: Int) -> Void) {
        var bit = 61
        while bit >= 0 {
            let positive = (uPlus &>> UInt64(bit)) & 1
            let negative = (uMinus &>> UInt64(bit)) & 1
            body(Int(positive) &- Int(negative))
            bit &-= 1
        }
    }

    /// u = 2^62 + uPlus - uMinus.
    private static var uPlus: UInt64 { 1 << 26 | 1 << 12 | 1 << 10 | 1 }
    private static var uMinus: UInt64 { 1 << 22 | 1 << 8 | 1 << 6 | 1 << 4 }

    /// 6u - 2 without its highest bit 2^64. The Miller loop goes through these bits, from bit 63 down.
    package static var loopBits: UInt64 { 6 &* u &- 2 }
}

import CBN254CX
import CGMP

// Powers with fixed public exponents, and square roots.
extension Fp {
    /// The number of limbs of scratch that `power`, `root` and `inverse` use.
    package static var powerScratch: Int { 16 &* 4 &+ 4 &+ 8 }

    /// r = a^e for a public exponent e < 2^256 of four limbs. The time does not depend on `a`.
    ///
    /// The exponent is divided into windows of four bits, which are used from the highest down (Handbook of Applied
    /// Cryptography, algorithm 14.82): 252 squarings and at most 14 + 63 multiplications.
    static func power(_ r: Limbs, _ a: ConstLimbs, _ e: ConstLimbs, _ s: Limbs) {
        let table = s, result = s + 64, t = s + 68
        setOne(table)
        copyLimbs(table + 4, a, 4)
        var k = 2
        while k < 16 {
            mul(table + 4 &* k, table + 4 &* (k &- 1), a, t)
            k &+= 1
        }
        copyLimbs(result, table + 4 &* Int(truncatingIfNeeded: e[3] &>> 60), 4)
        var position = 62
        while position >= 0 {
            for _ in 0..<4 { sqr(result, result, t) }
            let window = Int(truncatingIfNeeded: e[position &>> 4] &>> Limb((position & 15) &* 4)) & 15
            if window != 0 { mul(result, result, table + 4 &* window, t) }
            position &-= 1
        }
        copyLimbs(r, result, 4)
    }

    /// r = a^((p + 1)/4): the square root that is itself a square, if `a` is a square (p = 3 mod 4).
    package static func root(_ r: Limbs, _ a: ConstLimbs, _ s: Limbs) { power(r, a, bn_root_exponent(), s) }

    /// Whether `a` is a square other than zero. Takes variable time, so use it for public values only.
    ///
    /// Computes the Jacobi symbol of the Montgomery form. It equals the Jacobi symbol of the number itself, because
    /// 2^320 is a square. Scratch: 4 limbs.
    package static func isNonZeroSquareVartime(_ a: ConstLimbs, _ s: Limbs) -> Bool {
        canonical(s, a)
        var value = __mpz_struct(), modulus = __mpz_struct()
        return __gmpz_jacobi(__gmpz_roinit_n(&value, s, 4), __gmpz_roinit_n(&modulus, p, 4)) == 1
    }
}

/// The final exponentiation f -> f^((p^12 - 1)/r), with exactly this exponent.
package enum FinalExponentiation {
    /// Limbs of scratch that `run` uses.
    package static var scratch: Int { 9 &* 48 &+ max(Fp12.powUScratch, Fp12.inverseScratch) }

    /// r = f^((p^12 - 1)/r). r may be f.
    package static func run(_ r: Limbs, _ f: Limbs, _ s: Limbs) {
        easyPart(s, f, s + 48)
        hardPart(r, s, s + 48)
    }

    /// r = f^((p^6 - 1)(p^2 + 1)): the result lies in the cyclotomic subgroup. One inversion.
    private static func easyPart(_ r: Limbs, _ f: Limbs, _ s: Limbs) {
        let m = s, t = s + 48
        Fp12.inverse(m, f, t)
        Fp12.conj(r, f)
        Fp12.mul(m, m, r, t)
        Fp12.frobenius2(r, m, t)
        Fp12.mul(r, r, m, t)
    }

    /// r = f^((p^4 - p^2 + 1)/r) (Scott, Benger, Charlemagne, Dominguez Perez, Kachisa, "On the final exponentiation
    /// for calculating pairings on ordinary elliptic curves", eprint 2008/490, section 5).
    ///
    /// The exponent is l0 + l1 p + l2 p^2 + p^3 with l2 = 6x^2 + 1, l1 = -36x^3 - 18x^2 - 12x + 1,
    /// l0 = -36x^3 - 30x^2 - 18x - 2, so that the result is y0 y1^2 y2^6 y3^12 y4^18 y5^30 y6^36 with
    ///
    ///     y0 = f^p f^(p^2) f^(p^3)     y2 = (f^(x^2))^(p^2)     y4 = 1/(f^x (f^(x^2))^p)     y6 = 1/(f^(x^3) (f^(x^3))^p)
    ///     y1 = 1/f                     y3 = 1/(f^x)^p           y5 = 1/f^(x^2)
    ///
    /// 3 powers by u, 13 products and 4 squarings beside them, 7 Frobenius maps.
    private static func hardPart(_ r: Limbs, _ f: Limbs, _ s: Limbs) {
        let y0 = s, y2 = s + 48, y3 = s + 96, y4 = s + 144, y5 = s + 192, y6 = s + 240, m = s + 288, t = s + 336
        Fp12.cyclotomicPowU(y4, f, t)
        Fp12.conj(y4, y4)  // f^x
        Fp12.cyclotomicPowU(y5, y4, t)
        Fp12.conj(y5, y5)  // f^(x^2)
        Fp12.cyclotomicPowU(y6, y5, t)
        Fp12.conj(y6, y6)  // f^(x^3)

        Fp12.frobenius(m, y6, t)
        Fp12.mul(y6, y6, m, t)
        Fp12.conj(y6, y6)
        Fp12.frobenius(y3, y4, t)
        Fp12.conj(y3, y3)
        Fp12.frobenius(m, y5, t)
        Fp12.mul(y4, y4, m, t)
        Fp12.conj(y4, y4)
        Fp12.frobenius2(y2, y5, t)
        Fp12.conj(y5, y5)
        Fp12.frobenius(y0, f, t)
        Fp12.frobenius2(m, f, t)
        Fp12.mul(y0, y0, m, t)
        Fp12.frobenius3(m, f, t)
        Fp12.mul(y0, y0, m, t)
        combine(r, f, y0, y2, y3, y4, y5, y6, t)
    }

    /// r = y0 y1^2 y2^6 y3^12 y4^18 y5^30 y6^36, y1 = 1/f, by the vectorial addition chain of eprint 2008/490.
    private static func combine(
        _ r: Limbs, _ f: Limbs, _ y0: Limbs, _ y2: Limbs, _ y3: Limbs, _ y4: Limbs, _ y5: Limbs, _ y6: Limbs,
        _ s: Limbs
    ) {
        let a = y6, b = y3
        Fp12.cyclotomicSqr(a, y6, s)
        Fp12.mul(a, a, y4, s)
        Fp12.mul(a, a, y5, s)  // y4 y5 y6^2
        Fp12.mul(b, b, y5, s)
        Fp12.mul(b, b, a, s)  // y3 y4 y5^2 y6^2
        Fp12.mul(a, a, y2, s)  // y2 y4 y5 y6^2
        Fp12.cyclotomicSqr(b, b, s)
        Fp12.mul(b, b, a, s)  // y2 y3^2 y4^3 y5^5 y6^6
        Fp12.cyclotomicSqr(b, b, s)  // y2^2 y3^4 y4^6 y5^10 y6^12
        Fp12.conj(y5, f)
        Fp12.mul(a, b, y5, s)  // ... y1
        Fp12.mul(b, b, y0, s)  // ... y0
        Fp12.cyclotomicSqr(a, a, s)
        Fp12.mul(r, a, b, s)
    }
}

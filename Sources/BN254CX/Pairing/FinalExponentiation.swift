/// The final exponentiation f -> f^((p^12 - 1)/r), with exactly this exponent.
package enum FinalExponentiation {
    /// The number of limbs of scratch that `run` uses.
    package static var scratch: Int { 9 &* Fp12.count &+ max(Fp12.powUScratch, Fp12.inverseScratch) }

    /// Writes f^((p^12 - 1)/r) to the parameter `r`; in the exponent, r is the order of the group. `r` and `f` may be
    /// the same limbs.
    package static func run(_ r: GT, _ f: MillerValue, _ s: Limbs) {
        let easy = Fp12(s), t = s + Fp12.count
        easyPart(easy, f.value, t)
        hardPart(r.value, easy, t)
    }

    /// r = f^((p^6 - 1)(p^2 + 1)), which lies in the cyclotomic subgroup. One inversion.
    private static func easyPart(_ r: Fp12, _ f: Fp12, _ s: Limbs) {
        let m = Fp12(s), t = s + Fp12.count
        m.invert(f, t)
        r.conjugate(f)
        m.multiply(m, r, t)
        r.frobenius2(m, t)
        r.multiply(r, m, t)
    }

    /// Writes f^((p^4 - p^2 + 1)/r) to the parameter `r`; in the exponent, r is the order of the group (Scott, Benger,
    /// Charlemagne, Dominguez Perez, Kachisa, "On the final exponentiation for calculating pairings on ordinary
    /// elliptic curves", eprint 2008/490, section 5).
    ///
    /// The exponent is l0 + l1 p + l2 p^2 + p^3 with l2 = 6x^2 + 1, l1 = -36x^3 - 18x^2 - 12x + 1,
    /// l0 = -36x^3 - 30x^2 - 18x - 2, so that the result is y0 y1^2 y2^6 y3^12 y4^18 y5^30 y6^36 with
    ///
    ///     y0 = f^p f^(p^2) f^(p^3)     y2 = (f^(x^2))^(p^2)     y4 = 1/(f^x (f^(x^2))^p)     y6 = 1/(f^(x^3) (f^(x^3))^p)
    ///     y1 = 1/f                     y3 = 1/(f^x)^p           y5 = 1/f^(x^2)
    ///
    /// This takes 3 powers by u and, in addition, 13 products, 4 squarings and 7 Frobenius maps.
    private static func hardPart(_ r: Fp12, _ f: Fp12, _ s: Limbs) {
        var arena = Arena(s)
        let y = Factors(&arena), m = arena.fp12(), t = arena.scratch
        y.y4.cyclotomicPowU(f, t)
        y.y4.conjugate(y.y4)  // f^x
        y.y5.cyclotomicPowU(y.y4, t)
        y.y5.conjugate(y.y5)  // f^(x^2)
        y.y6.cyclotomicPowU(y.y5, t)
        y.y6.conjugate(y.y6)  // f^(x^3)

        m.frobenius(y.y6, t)
        y.y6.multiply(y.y6, m, t)
        y.y6.conjugate(y.y6)
        y.y3.frobenius(y.y4, t)
        y.y3.conjugate(y.y3)
        m.frobenius(y.y5, t)
        y.y4.multiply(y.y4, m, t)
        y.y4.conjugate(y.y4)
        y.y2.frobenius2(y.y5, t)
        y.y5.conjugate(y.y5)
        y.y0.frobenius(f, t)
        m.frobenius2(f, t)
        y.y0.multiply(y.y0, m, t)
        m.frobenius3(f, t)
        y.y0.multiply(y.y0, m, t)
        combine(r, f, y, t)
    }

    /// The factors of the result except y1.
    private struct Factors {
        let y0: Fp12, y2: Fp12, y3: Fp12, y4: Fp12, y5: Fp12, y6: Fp12

        init(_ arena: inout Arena) {
            (y0, y2, y3) = (arena.fp12(), arena.fp12(), arena.fp12())
            (y4, y5, y6) = (arena.fp12(), arena.fp12(), arena.fp12())
        }
    }

    /// r = y0 y1^2 y2^6 y3^12 y4^18 y5^30 y6^36, y1 = 1/f, by the vectorial addition chain of eprint 2008/490.
    private static func combine(_ r: Fp12, _ f: Fp12, _ y: Factors, _ s: Limbs) {
        let a = y.y6, b = y.y3
        a.cyclotomicSquare(y.y6, s)
        a.multiply(a, y.y4, s)
        a.multiply(a, y.y5, s)  // y4 y5 y6^2
        b.multiply(b, y.y5, s)
        b.multiply(b, a, s)  // y3 y4 y5^2 y6^2
        a.multiply(a, y.y2, s)  // y2 y4 y5 y6^2
        b.cyclotomicSquare(b, s)
        b.multiply(b, a, s)  // y2 y3^2 y4^3 y5^5 y6^6
        b.cyclotomicSquare(b, s)  // y2^2 y3^4 y4^6 y5^10 y6^12
        y.y5.conjugate(f)
        a.multiply(b, y.y5, s)  // ... y1
        b.multiply(b, y.y0, s)  // ... y0
        a.cyclotomicSquare(a, s)
        r.multiply(a, b, s)
    }
}

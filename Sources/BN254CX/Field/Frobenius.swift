// The Frobenius map x -> x^(p^n). It maps w to (1 + i)^((p^n - 1)/6) w and, for odd n, elements of Fp2 to their
// conjugates.
extension Fp12 {
    /// The coefficient of w^n.
    @inline(__always)
    private func coefficient(_ n: Int) -> Fp2 { Fp2(limbs + 4 &* (n & 1 == 0 ? n : n &+ 5)) }

    /// self = x^p. Scratch: `Fp2.scratch`. 5 products in Fp2.
    package func frobenius(_ x: Fp12, _ s: Limbs) { frobenius(x, s) { Fp2.frobenius($0) } }

    /// self = x^(p^2). The constants lie in Fp. Scratch: 16 limbs. 10 products in Fp.
    package func frobenius2(_ x: Fp12, _ s: Limbs) {
        c0.b0.copy(x.c0.b0)
        for n in 1..<6 { coefficient(n).multiply(x.coefficient(n), byFp: Fp.frobenius2(n), s) }
    }

    /// self = x^(p^3). Scratch: `Fp2.scratch`. 5 products in Fp2.
    package func frobenius3(_ x: Fp12, _ s: Limbs) { frobenius(x, s) { Fp2.frobenius3($0) } }

    /// self = x^p or x^(p^3). `factor` returns, for n, the factor by which the map multiplies w^n.
    @inline(__always)
    private func frobenius(_ x: Fp12, _ s: Limbs, _ factor: (Int) -> Fp2) {
        c0.b0.conjugate(x.c0.b0)
        for n in 1..<6 {
            coefficient(n).conjugate(x.coefficient(n))
            coefficient(n).multiply(coefficient(n), factor(n), s)
        }
    }
}

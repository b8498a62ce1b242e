// Tests whether an element of Fp12 is a value of the pairing.
extension Fp12 {
    /// All ones if self lies in the cyclotomic subgroup, else zero. The test for x = self is that x^(p^4) x = x^(p^2)
    /// and that x is not zero. Scratch: 96 limbs and `scratch`.
    package func isCyclotomicMask(_ s: Limbs) -> Limb {
        var arena = Arena(s)
        let x2 = arena.fp12(), x4 = arena.fp12(), t = arena.scratch
        x2.frobenius2(self, t)
        x4.frobenius2(x2, t)
        x4.multiply(x4, self, t)
        return x4.equalMask(x2, t) & ~zeroMask(t)
    }

    /// All ones if self has order r or 1, else zero; self must lie in the cyclotomic subgroup. Scratch: 96 limbs and
    /// `powUScratch`.
    ///
    /// The test is x^p = x^(6u^2). That is x^r = 1, because r = p + 1 - t with the trace t = 6u^2 + 1, so r = p - 6u^2.
    /// The test needs two powers by u instead of one power by r (the idea of Scott, "A note on group membership tests
    /// for G1, G2 and GT", eprint 2021/1130).
    package func isOrderMask(_ s: Limbs) -> Limb {
        var arena = Arena(s)
        let power = arena.fp12(), other = arena.fp12(), t = arena.scratch
        other.cyclotomicPowU(self, t)
        power.cyclotomicPowU(other, t)
        other.cyclotomicSquare(power, t)
        power.multiply(other, power, t)
        power.cyclotomicSquare(power, t)
        other.frobenius(self, t)
        return power.equalMask(other, t)
    }
}

// Many squarings of the same element, one after another, in the cyclotomic subgroup. Each costs two thirds of a
// `cyclotomicSquare`, and one inversion is needed at the end.
extension Fp12 {
    /// self = x^(2^n) for x in the cyclotomic subgroup, by compressed squarings. Of x = A + B w + C w^2 (see
    /// `cyclotomicSquare`) only B and C are computed in each squaring, because their new values do not depend on A. A
    /// is restored at the end.
    ///
    /// Karabina, "Squaring in cyclotomic subgroups", eprint 2010/542; formulas as in eprint 2010/526, section 5. 6
    /// squarings in Fp2 (12 mpn_sec_mul) and 8 reductions for each square, then `restore`, which needs one inversion in
    /// Fp.
    @inline(never)
    package func compressedSquare(_ x: Fp12, times n: Int, _ s: Limbs) {
        copy(x)
        for _ in 0..<n { squareCompressed(s) }
        restore(s)
    }

    /// Computes B and C of the square: B becomes 3 w^3 C^2 + 2 conj B, and C becomes 3 B^2 - 2 conj C.
    @inline(never)
    private func squareCompressed(_ s: Limbs) {
        var arena = Arena(s)
        let square = arena.fp2Product(), cross = arena.fp2Product()
        let r1 = arena.fp2(), r2 = arena.fp2(), r4 = arena.fp2(), r5 = arena.fp2(), t = arena.scratch
        Fp12.squareInFp4(square, cross, c1.b0, c0.b2, t)
        r2.reduce(square)  // B^2 goes to w^2 and w^5
        r5.reduce(cross)
        Fp12.squareInFp4(square, cross, c0.b1, c1.b2, t)
        let twisted = arena.fp2Product()
        twisted.multiplyByXi(cross, class: 4)
        r1.reduce(twisted)  // w^3 C^2 goes to w^1 and w^4, class 14
        r4.reduce(square)
        for i in 0..<2 {
            let part = 4 &* i
            Fp12.tripleLess(c0.b1.limbs + part, r2.limbs + part, c0.b1.limbs + part)
            Fp12.tripleLess(c0.b2.limbs + part, r4.limbs + part, c0.b2.limbs + part)
            Fp12.triplePlus(c1.b0.limbs + part, r1.limbs + part, c1.b0.limbs + part)
            Fp12.triplePlus(c1.b2.limbs + part, r5.limbs + part, c1.b2.limbs + part)
        }
    }

    /// Computes A = a0 + a1 w^3 from B = b0 + b1 w^3 and C = c0 + c1 w^3 (eprint 2010/526, section 5): with xi = 1 + i,
    /// a1 = (xi c1^2 + 3 c0^2 - 2 b1)/(4 b0), or 2 c0 c1/b1 if b0 = 0; a0 = xi (2 a1^2 + b0 c1 - 3 b1 c0) + 1.
    ///
    /// With 1/0 = 0 the result is right for 1, too, which is the only element with b0 = b1 = 0: if B = 0, then c0 c1 =
    /// 0 and xi c1^2 = -3 c0^2, hence C = 0, and of Fp4 only the element 1 has an order that divides p^4 - p^2 + 1.
    /// Constant time. 1 inversion, 3 squarings and 4 products in Fp2.
    @inline(never)
    private func restore(_ s: Limbs) {
        restoreA1(c1.b0, c0.b2, c0.b1, c1.b2, s)
        restoreA0(c1.b0, c0.b2, c0.b1, c1.b2, s)
    }

    @inline(__always)
    private func restoreA1(_ b0: Fp2, _ b1: Fp2, _ c0: Fp2, _ c1: Fp2, _ s: Limbs) {
        var arena = Arena(s)
        let numerator = arena.fp2(), other = arena.fp2(), w = arena.fp2Product(), v = arena.fp2Product()
        let t = arena.scratch
        v.square(c1, class: 1, t)  // class 6, 2
        w.multiplyByXi(v, class: 2)  // class 8, 8
        v.square(c0, class: 1, t)
        w.addTriple(v)  // class 26, 14
        numerator.reduce(w)
        numerator.subtract(numerator, b1)
        numerator.subtract(numerator, b1)
        other.multiply(c0, c1, t)
        other.add(other, other)
        let mask = b0.zeroMask(t)
        selectLimbs(numerator.limbs, other.limbs, Fp2.count, mask: mask)
        other.add(b0, b0)
        other.add(other, other)
        selectLimbs(other.limbs, b1.limbs, Fp2.count, mask: mask)
        other.invert(other, t)
        self.c1.b1.multiply(numerator, other, t)
    }

    @inline(__always)
    private func restoreA0(_ b0: Fp2, _ b1: Fp2, _ c0: Fp2, _ c1: Fp2, _ s: Limbs) {
        let a0 = self.c0.b0, a1 = self.c1.b1
        var arena = Arena(s)
        let w = arena.fp2Product(), v = arena.fp2Product(), t = arena.scratch
        w.square(a1, class: 1, t)
        v.multiply(b1, c0, class: 1, t)
        w.doubleLessTriple(v, class: 6)  // class 12 + 6, 4 + 6
        v.multiply(b0, c1, class: 1, t)
        w.add(w, v)  // class 20, 12
        v.multiplyByXi(w, class: 12)
        a0.reduce(v)  // class 32
        Fp.add(a0.re, a0.re, Fp.one)
    }
}

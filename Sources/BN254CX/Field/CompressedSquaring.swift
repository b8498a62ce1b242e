import CBN254CX

// Runs of squarings in the cyclotomic subgroup at two thirds of the cost, for one inversion at their end.
extension Fp12 {
    /// r = x^(2^n) for x in the cyclotomic subgroup, by compressed squarings: only B and C of x = A + B w + C w^2 (see
    /// `cyclotomicSqr`), whose squares do not depend on A, go through them.
    ///
    /// Karabina, "Squaring in cyclotomic subgroups", eprint 2010/542; formulas as in eprint 2010/526,
    /// section 5. 6 squarings in Fp2 (12 mpn_sec_mul), 8 reductions for each square, then `restore`, one inversion in
    /// Fp.
    @inline(never)
    package static func compressedSquare(_ r: Limbs, _ x: ConstLimbs, times n: Int, _ s: Limbs) {
        copyLimbs(r, x, 48)
        for _ in 0..<n { compressedSqr(r, s) }
        restore(r, s)
    }

    /// Squares all of x but A: B is 3 w^3 C^2 + 2 conj B, C is 3 B^2 - 2 conj C.
    @inline(never)
    private static func compressedSqr(_ x: Limbs, _ s: Limbs) {
        let square = s, cross = s + 16, result = s + 32, t = s + 64
        fp4SqrWide(square, cross, x + 24, x + 16, t)
        Fp2.reduce(result, square)  // B^2 goes to w^2 and w^5
        Fp2.reduce(result + 24, cross)
        fp4SqrWide(square, cross, x + 8, x + 40, t)
        Fp2.mulByXiWide(t, cross, class: 4)
        Fp2.reduce(result + 16, t)  // w^3 C^2 goes to w^1 and w^4: 14
        Fp2.reduce(result + 8, square)
        for i in 0..<2 {
            tripleLess(x + (8 &+ 4 &* i), result + 4 &* i, x + (8 &+ 4 &* i))
            tripleLess(x + (16 &+ 4 &* i), result + (8 &+ 4 &* i), x + (16 &+ 4 &* i))
            triplePlus(x + (24 &+ 4 &* i), result + (16 &+ 4 &* i), x + (24 &+ 4 &* i))
            triplePlus(x + (40 &+ 4 &* i), result + (24 &+ 4 &* i), x + (40 &+ 4 &* i))
        }
    }

    /// Computes A = a0 + a1 w^3 of x from B = b0 + b1 w^3 and C = c0 + c1 w^3 (eprint 2010/526, section 5):
    /// a1 = (xi c1^2 + 3 c0^2 - 2 b1)/(4 b0), or 2 c0 c1/b1 if b0 = 0; a0 = xi (2 a1^2 + b0 c1 - 3 b1 c0) + 1.
    ///
    /// With 1/0 = 0 it is right for x = 1 too, the only element with b0 = b1 = 0: B = 0 leaves c0 c1 = 0 and
    /// xi c1^2 = -3 c0^2, hence C = 0, and no other element of Fp4 has an order that divides p^4 - p^2 + 1.
    /// Constant time. 1 inversion, 3 squarings and 4 products in Fp2.
    @inline(never)
    private static func restore(_ x: Limbs, _ s: Limbs) {
        let b0 = x + 24, b1 = x + 16, c0 = x + 8, c1 = x + 40, a1 = x + 32
        let numerator = s, other = s + 8, w = s + 16, v = s + 32, t = s + 48
        Fp2.sqrWide(v, c1, t)  // 6, 2
        Fp2.mulByXiWide(w, v, class: 2)  // 8, 8
        Fp2.sqrWide(v, c0, t)
        addTriple(w, v)  // 26, 14
        Fp2.reduce(numerator, w)
        Fp2.sub(numerator, numerator, b1)
        Fp2.sub(numerator, numerator, b1)
        Fp2.mul(other, c0, c1, t)
        Fp2.add(other, other, other)
        let mask = Fp2.zeroMask(b0, t)
        selectLimbs(numerator, other, 8, mask: mask)
        Fp2.add(other, b0, b0)
        Fp2.add(other, other, other)
        selectLimbs(other, b1, 8, mask: mask)
        Fp2.inverse(other, other, t)
        Fp2.mul(a1, numerator, other, t)
        Fp2.sqrWide(w, a1, t)
        Fp2.mulWide(v, b1, c0, class: 1, t)
        doubleLessTriple(w, v)  // 12 + 6, 4 + 6
        Fp2.mulWide(v, b0, c1, class: 1, t)
        addLimbs(w, w, v, 16)  // 20, 12
        Fp2.mulByXiWide(v, w, class: 12)
        Fp2.reduce(x, v)  // 32
        Fp.add(x, x, bn_one())
    }

    /// w = w + 3v, sixteen limbs each.
    @inline(__always)
    private static func addTriple(_ w: Limbs, _ v: ConstLimbs) {
        (Wide(w) + Wide(v) + Wide(v) + Wide(v)).store(w)
        (Wide(w + 8) + Wide(v + 8) + Wide(v + 8) + Wide(v + 8)).store(w + 8)
    }

    /// w = 2w - 3v, sixteen limbs each, v of class 2: adds 6 to twice the class of w.
    @inline(__always)
    private static func doubleLessTriple(_ w: Limbs, _ v: ConstLimbs) {
        addLimbs(w, w, w, 16)
        (Wide(w) + Wide(multiple: 6) - Wide(v) - Wide(v) - Wide(v)).store(w)
        (Wide(w + 8) + Wide(multiple: 6) - Wide(v + 8) - Wide(v + 8) - Wide(v + 8)).store(w + 8)
    }
}

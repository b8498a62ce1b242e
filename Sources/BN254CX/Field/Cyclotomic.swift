// Arithmetic in the cyclotomic subgroup of order p^4 - p^2 + 1, where the inverse is the conjugate.
extension Fp12 {
    /// self = x^2 for x in the cyclotomic subgroup.
    ///
    /// Granger and Scott, "Faster squaring in the cyclotomic subgroup of sixth degree extensions", PKC 2010, section
    /// 3.2: with Fp4 = Fp2[w^3] and x = A + B w + C w^2, x^2 = 3A^2 - 2 conj A + (3 w^3 C^2 + 2 conj B) w +
    /// (3B^2 - 2 conj C) w^2. 9 squarings in Fp2 (18 mpn_sec_mul), 12 reductions.
    @inline(never)
    package func cyclotomicSquare(_ x: Fp12, _ s: Limbs) {
        var arena = Arena(s)
        let square = arena.fp2Product(), cross = arena.fp2Product(), r = arena.fp12(), t = arena.scratch
        Fp12.squareInFp4(square, cross, x.c0.b0, x.c1.b1, t)
        r.c0.b0.reduce(square)  // A^2
        r.c1.b1.reduce(cross)
        Fp12.squareInFp4(square, cross, x.c1.b0, x.c0.b2, t)
        r.c0.b1.reduce(square)  // B^2 goes to w^2 and w^5
        r.c1.b2.reduce(cross)
        Fp12.squareInFp4(square, cross, x.c0.b1, x.c1.b2, t)
        let twisted = arena.fp2Product()
        twisted.multiplyByXi(cross, class: 4)
        r.c1.b0.reduce(twisted)  // w^3 C^2 goes to w^1 and w^4, class 14
        r.c0.b2.reduce(square)
        var i = 0
        while i < 24 {
            Fp12.tripleLess(limbs + i, r.limbs + i, x.limbs + i)
            Fp12.triplePlus(c1.limbs + i, r.c1.limbs + i, x.c1.limbs + i)
            i &+= 4
        }
    }

    /// Computes (a + b w^3)^2 = square + cross w^3 for normal a and b (see `Fp` for "normal" and "class"): `square` is
    /// a^2 + xi b^2 with xi = 1 + i, its real part of class 14 and its imaginary part of class 10. `cross` is 2ab, of
    /// class 10 and 4. Scratch: `squareInFp4Scratch`.
    ///
    /// `cross` is computed as (a + b)^2 - a^2 - b^2. A squaring in Fp2 adds a multiple of p to the real part of its
    /// result. With s = a + b, this multiple is 4p (s0 + s1) for s^2, and 2p (s0 + s1) for a^2 and b^2 together. So the
    /// real part of `cross` contains the difference 2p (s0 + s1), of class 8, in addition to 2 (a0 b0 - a1 b1). The
    /// real part is not negative: 2p (a1 + b1) - 2 a1 b1 = 2p a1 + 2 b1 (p - a1), and a1 is below p + 2^196.
    @inline(__always)
    static func squareInFp4(_ square: Fp2Product, _ cross: Fp2Product, _ a: Fp2, _ b: Fp2, _ s: Limbs) {
        var arena = Arena(s)
        let bb = arena.fp2Product(), sum = arena.fp2(), t = arena.scratch
        square.square(a, class: 1, t)  // class 6, 2
        bb.square(b, class: 1, t)
        sum.addLazily(a, b)
        cross.square(sum, class: 2, t)  // class 24, 8
        cross.subtract(square, bb)  // class 8 + 2
        square.multiplyByXi(bb, class: 2, plus: square)  // class 6 + 2 + 6, 2 + 6 + 2
    }

    /// r = 3t - 2x, computed as 2(t + 2p - x) + t, which is of class 7 (see `Fp`).
    @inline(__always)
    static func tripleLess(_ r: Limbs, _ t: ConstLimbs, _ x: ConstLimbs) {
        let difference = Narrow(t) + Narrow(evenMultiple: 1) - Narrow(x)
        (difference + difference + Narrow(t)).normal.store(r)
    }

    /// r = 3t + 2x, computed as 2(t + x) + t, which is of class 5 (see `Fp`).
    @inline(__always)
    static func triplePlus(_ r: Limbs, _ t: ConstLimbs, _ x: ConstLimbs) {
        let sum = Narrow(t) + Narrow(x)
        (sum + sum + Narrow(t)).normal.store(r)
    }

    /// self = x^(2^n), n positive.
    @inline(__always)
    private func cyclotomicSquare(_ x: Fp12, times n: Int, _ s: Limbs) {
        cyclotomicSquare(x, s)
        var i = 1
        while i < n {
            cyclotomicSquare(self, s)
            i &+= 1
        }
    }

    /// self = x^u for x in the cyclotomic subgroup, where u is the number in `CurveCard`; self must not overlap x.
    ///
    /// Since u = 2^62 + 15 (2^22 + 2^8 + 2^6 - 1) and x^16 is computed anyway on the way to x^(2^62), this takes 62
    /// squarings and 5 products.
    package func cyclotomicPowU(_ x: Fp12, _ s: Limbs) {
        var arena = Arena(s)
        let h = arena.fp12(), t = arena.scratch
        cyclotomicSquare(x, times: 4, t)
        h.conjugate(x)
        h.multiply(self, h, t)  // x^15
        compressedSquare(self, times: 36, t)
        multiply(self, h, t)  // x^(2^40 + 15)
        cyclotomicSquare(self, times: 14, t)
        multiply(self, h, t)
        cyclotomicSquare(self, times: 2, t)
        multiply(self, h, t)
        cyclotomicSquare(self, times: 6, t)
        h.conjugate(h)
        multiply(self, h, t)
    }

    /// The number of limbs of scratch that `cyclotomicPowU` uses.
    package static var powUScratch: Int { Fp12.count &+ scratch }
}

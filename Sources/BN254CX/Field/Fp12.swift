/// Fp12 = Fp6[w]/(w^2 - v): an element c0 + c1 w in 48 limbs of an arena.
///
/// c0 has the coefficients of w^0, w^2, w^4, and c1 those of w^1, w^3, w^5.
package struct Fp12 {
    /// The number of limbs of an element.
    package static var count: Int { 48 }
    /// The number of limbs of scratch that `multiply`, `square` and the products with lines use.
    package static var scratch: Int { 3 &* Fp6Product.count &+ 2 &* Fp6.count &+ Fp6Product.scratch }

    package let limbs: Limbs

    @inline(__always)
    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) package var c0: Fp6 { Fp6(limbs) }
    @inline(__always) package var c1: Fp6 { Fp6(limbs + 24) }

    /// self = x * y (Karatsuba over Fp6; eprint 2010/354, algorithm 20, with the lazy reduction of eprint 2010/526).
    ///
    /// 18 products in Fp2, 12 reductions.
    @inline(never)
    package func multiply(_ x: Fp12, _ y: Fp12, _ s: Limbs) {
        var arena = Arena(s)
        let t0 = arena.fp6Product(), t1 = arena.fp6Product(), t2 = arena.fp6Product()
        let xSum = arena.fp6(), ySum = arena.fp6(), t = arena.scratch
        xSum.add(x.c0, x.c1)
        ySum.add(y.c0, y.c1)
        t0.multiply(x.c0, y.c0, t)  // class 10, 8, 6
        t1.multiply(x.c1, y.c1, t)
        t2.multiply(xSum, ySum, t)
        t2.subtract(t0, t1)
        c1.reduce(t2)  // class 10 + 22
        t0.addTimesV(t1, class: 6)
        c0.reduce(t0)  // class 22
    }

    /// self = x^2 for x = a + b w (complex squaring; eprint 2010/354, algorithm 22): the halves of the result are (a +
    /// b)(a + v b) - ab - v ab and 2ab.
    ///
    /// 12 products in Fp2, 12 reductions.
    @inline(never)
    package func square(_ x: Fp12, _ s: Limbs) {
        var arena = Arena(s)
        let ab = arena.fp6Product(), u = arena.fp6Product(), sum = arena.fp6(), twisted = arena.fp6()
        let t = arena.scratch, a = x.c0, b = x.c1
        sum.add(a, b)
        // twisted.b0 = a0 + xi b2; its real part is computed as a00 + b20 + 2p - b21, of class 4
        let real = Narrow(a.b0.re) + Narrow(evenMultiple: 1) - Narrow(b.b2.im) + Narrow(b.b2.re)
        real.normal.store(twisted.b0.re)
        (Narrow(a.b0.im) + Narrow(b.b2.re) + Narrow(b.b2.im)).normal.store(twisted.b0.im)
        twisted.b1.add(a.b1, b.b0)
        twisted.b2.add(a.b2, b.b1)
        ab.multiply(a, b, t)  // class 10, 8, 6
        u.multiply(sum, twisted, t)
        u.subtractTimesOnePlusV(ab)
        c0.reduce(u)
        ab.double()
        c1.reduce(ab)  // class 20
    }

    /// self = x * (l0 + l1 w + l3 w^3), where the second factor is a line of the Miller loop. 13 products in Fp2, 12
    /// reductions.
    ///
    /// Karatsuba over Fp6 with the halves l0 and l1 + l3 v.
    @inline(never)
    package func multiply(_ x: Fp12, _ line: Line, _ s: Limbs) {
        var arena = Arena(s)
        let t0 = arena.fp6Product(), t1 = arena.fp6Product(), t2 = arena.fp6Product()
        let xSum = arena.fp6(), lineSum = arena.fp2(), t = arena.scratch
        t0.b0.multiply(x.c0.b0, line.l0, class: 1, t)  // class 2
        t0.b1.multiply(x.c0.b1, line.l0, class: 1, t)
        t0.b2.multiply(x.c0.b2, line.l0, class: 1, t)
        t1.multiply(x.c1, sparse: line.l1, line.l3, t)  // class 6, 4, 4
        xSum.add(x.c0, x.c1)
        lineSum.add(line.l0, line.l1)
        t2.multiply(xSum, sparse: lineSum, line.l3, t)
        t2.subtract(t0, t1)
        c1.reduce(t2)  // class 6 + 22
        t0.addTimesV(t1, class: 4)
        c0.reduce(t0)  // class 10
    }

    /// self = x * (1 + l1 w + l3 w^3), where the second factor is a line divided by its constant. 10 products in Fp2,
    /// 12 reductions.
    @inline(never)
    package func multiply(_ x: Fp12, _ line: MonicLine, _ s: Limbs) {
        var arena = Arena(s)
        let t0 = arena.fp6Product(), t1 = arena.fp6Product(), u = arena.fp2Product()
        let r = arena.fp12(), t = arena.scratch
        t0.multiply(x.c1, sparse: line.l1, line.l3, t)  // class 6, 4, 4
        t1.multiply(x.c0, sparse: line.l1, line.l3, t)
        u.multiplyByXi(t0.b2, class: 4)  // v t0, class 8
        r.c0.b0.reduce(u)
        r.c0.b1.reduce(t0.b0)
        r.c0.b2.reduce(t0.b1)
        r.c1.reduce(t1)
        Fp.add(limbs, x.limbs, r.limbs, count: 12)
    }

    /// self = x^(p^6): c0 - c1 w.
    package func conjugate(_ x: Fp12) {
        c0.copy(x.c0)
        c1.negate(x.c1)
    }

    /// self = 1/x, and 0 for 0 (eprint 2010/354, algorithm 23): conj(x)/(c0^2 - v c1^2).
    package func invert(_ x: Fp12, _ s: Limbs) {
        var arena = Arena(s)
        let n = arena.fp6(), m = arena.fp6(), t = arena.scratch
        n.multiply(x.c0, x.c0, t)
        m.multiply(x.c1, x.c1, t)
        n.subtractTimesV(m, t)
        n.invert(n, t)
        conjugate(x)
        c0.multiply(c0, n, t)
        c1.multiply(c1, n, t)
    }

    /// The number of limbs of scratch that `invert` uses.
    package static var inverseScratch: Int { 2 &* Fp6.count &+ max(Fp6.scratch, Fp6.inverseScratch) }
}

extension Fp12 {
    /// self = a.
    package func copy(_ a: Fp12) { copyLimbs(limbs, a.limbs, Fp12.count) }

    /// self = 1.
    package func setOne() {
        Fp.setOne(limbs)
        zeroLimbs(limbs + 4, 44)
    }
}

extension Arena {
    /// Takes the limbs of an element of Fp12 from the arena. They are not initialised.
    @inline(__always)
    mutating func fp12() -> Fp12 { Fp12(take(Fp12.count)) }
}

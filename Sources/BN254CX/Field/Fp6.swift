/// Fp6 = Fp2[v]/(v^3 - (1 + i)): an element b0 + b1 v + b2 v^2 in 24 limbs of an arena.
///
/// Since v = w^2, these are the coefficients of w^0, w^2, w^4.
package struct Fp6 {
    /// The number of limbs of an element.
    package static var count: Int { 24 }
    /// The number of limbs of scratch that `multiply` uses.
    package static var scratch: Int { Fp6Product.count &+ Fp6Product.scratch }

    package let limbs: Limbs

    @inline(__always)
    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) package var b0: Fp2 { Fp2(limbs) }
    @inline(__always) package var b1: Fp2 { Fp2(limbs + 8) }
    @inline(__always) package var b2: Fp2 { Fp2(limbs + 16) }

    /// self = x * y. 6 products in Fp2, 6 reductions.
    package func multiply(_ x: Fp6, _ y: Fp6, _ s: Limbs) {
        let w = Fp6Product(s)
        w.multiply(x, y, s + Fp6Product.count)
        reduce(w)
    }

    /// self = the reduction of w. Every component of w has class 50 at most (see `Fp`). self and w must not overlap.
    @inline(__always)
    func reduce(_ w: Fp6Product) { Fp.reduce(limbs, w.limbs, count: 6) }

    /// self = a + b.
    @inline(__always)
    func add(_ a: Fp6, _ b: Fp6) { Fp.add(limbs, a.limbs, b.limbs, count: 6) }

    /// self = -a.
    @inline(__always)
    func negate(_ a: Fp6) {
        for i in 0..<6 { Fp.neg(limbs + 4 &* i, a.limbs + 4 &* i) }
    }

    /// self = a.
    @inline(__always)
    func copy(_ a: Fp6) { copyLimbs(limbs, a.limbs, Fp6.count) }

    /// self = self - v * a.
    func subtractTimesV(_ a: Fp6, _ s: Limbs) {
        let top = Fp2(s)
        top.multiplyByXi(a.b2, s + Fp2.count)
        b2.subtract(b2, a.b1)
        b1.subtract(b1, a.b0)
        b0.subtract(b0, top)
    }

    /// self = 1/x, and 0 for x = 0 (Beuchat and others, "High-speed software implementation of the optimal ate pairing
    /// over Barreto-Naehrig curves", eprint 2010/354, algorithm 17). 9 products, 3 squarings and one inversion in Fp2.
    package func invert(_ x: Fp6, _ s: Limbs) {
        var arena = Arena(s)
        let c = arena.fp6(), m = arena.fp2(), t = arena.scratch
        c.b0.square(x.b0, t)
        m.multiply(x.b1, x.b2, t)
        m.multiplyByXi(m, t)
        c.b0.subtract(c.b0, m)  // b0^2 - xi b1 b2
        c.b1.square(x.b2, t)
        c.b1.multiplyByXi(c.b1, t)
        m.multiply(x.b0, x.b1, t)
        c.b1.subtract(c.b1, m)  // xi b2^2 - b0 b1
        c.b2.square(x.b1, t)
        m.multiply(x.b0, x.b2, t)
        c.b2.subtract(c.b2, m)  // b1^2 - b0 b2
        Fp6.invertNorm(m, x, c, t)
        b0.multiply(c.b0, m, t)
        b1.multiply(c.b1, m, t)
        b2.multiply(c.b2, m, t)
    }

    /// m = 1/(x0 c0 + xi (x2 c1 + x1 c2)) for the coefficients x0, x1, x2 of x and c0, c1, c2 of c, with xi = 1 + i.
    private static func invertNorm(_ m: Fp2, _ x: Fp6, _ c: Fp6, _ s: Limbs) {
        var arena = Arena(s)
        let n = arena.fp2(), t = arena.scratch
        n.multiply(x.b2, c.b1, t)
        m.multiply(x.b1, c.b2, t)
        n.add(n, m)
        n.multiplyByXi(n, t)
        m.multiply(x.b0, c.b0, t)
        m.add(m, n)
        m.invert(m, t)
    }

    /// The number of limbs of scratch that `invert` uses.
    package static var inverseScratch: Int { Fp6.count &+ 2 &* Fp2.count &+ Fp2.inverseScratch }
}

extension Arena {
    /// Takes the limbs of an element of Fp6 from the arena. They are not initialised.
    @inline(__always)
    mutating func fp6() -> Fp6 { Fp6(take(Fp6.count)) }
}

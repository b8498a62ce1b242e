/// A line of the Miller loop, in 24 limbs of an arena: l0, l1, l3.
///
/// A line goes through the point (xT, yT) of the twist with the slope lambda. Its value at a point (xP, yP) of E is
/// yP - lambda xP w + (lambda xT - yT) w^3, up to a factor in Fp2, which the final exponentiation removes. With the
/// coefficients of this type, which do not depend on (xP, yP), the value is l0 yP + l1 xP w + l3 w^3.
package struct Line {
    /// The number of limbs of a line.
    package static var count: Int { 24 }
    /// The number of limbs of scratch that `double` and `add` use.
    static var scratch: Int { 7 &* Fp2.count &+ Fp2.scratch &+ Fp2.count &+ G2DoublingTerms.count }

    package let limbs: Limbs

    @inline(__always)
    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) var l0: Fp2 { Fp2(limbs) }
    @inline(__always) var l1: Fp2 { Fp2(limbs + 8) }
    @inline(__always) var l3: Fp2 { Fp2(limbs + 16) }

    /// t = 2t, and self = the tangent at t: l0 = 2YZ, l1 = -3X^2, l3 = Y^2 - 3b' Z^2.
    ///
    /// The slope is lambda = 3X^2/(2YZ), and all coefficients are multiplied by 2YZ. The equation of the curve yields
    /// X^3/Z = Y^2 - b' Z^2 (Costello, Lange, Naehrig, "Faster pairing computations on curves with high-degree twists",
    /// PKC 2010, section 5, in the coordinates of `G2`). 3 squarings and 6 products in Fp2.
    @inline(never)
    func double(_ t: G2, _ s: Limbs) {
        let terms = G2DoublingTerms(limbs: s), w = Fp2Product(s + G2DoublingTerms.count)
        terms.compute(t, w.limbs)
        l0.add(terms.yz, terms.yz)
        l3.subtract(terms.yy, terms.b)
        w.square(t.x, class: 1, w.limbs + Fp2Product.count)  // class 6, 2
        (Wide(multiple: 18) - Wide(w.re) * 3).store(w.re)
        (Wide(multiple: 18) - Wide(w.im) * 3).store(w.im)
        l1.reduce(w)  // class 18
        terms.finish(t, w.limbs)
    }

    /// t = t + q, and self = the line through t and q. t must not be q, -q or infinite. l0 = mu, l1 = -theta, l3 =
    /// theta x - mu y with q = (x, y), theta = Y - y Z, mu = X - x Z.
    ///
    /// Mixed addition of homogeneous coordinates (eprint 2010/526, section 4, formulas 11 and 12): X3 = mu H, Y3 =
    /// theta (G - H) - Y E, Z3 = Z E with E = mu^3, G = X mu^2, H = E + Z theta^2 - 2G. The condition on t holds in a
    /// Miller loop over a point of order r. 11 products and 2 squarings in Fp2.
    @inline(never)
    func add(_ t: G2, _ q: G2Affine, _ s: Limbs) {
        var arena = Arena(s)
        let theta = arena.fp2(), mu = arena.fp2(), e = arena.fp2(), g = arena.fp2(), h = arena.fp2(), m = arena.fp2()
        let u = arena.scratch
        theta.multiply(q.y, t.z, u)
        theta.subtract(t.y, theta)
        mu.multiply(q.x, t.z, u)
        mu.subtract(t.x, mu)
        m.square(mu, u)
        e.multiply(mu, m, u)  // E = mu^3
        g.multiply(t.x, m, u)  // G = X mu^2
        h.square(theta, u)
        h.multiply(h, t.z, u)
        h.add(h, e)
        h.subtract(h, g)
        h.subtract(h, g)  // H = E + Z theta^2 - 2G
        t.x.multiply(mu, h, u)
        g.subtract(g, h)
        g.multiply(theta, g, u)
        m.multiply(t.y, e, u)
        t.y.subtract(g, m)
        t.z.multiply(t.z, e, u)
        l0.copy(mu)
        l1.negate(theta)
        g.multiply(theta, q.x, u)
        m.multiply(mu, q.y, u)
        l3.subtract(g, m)
    }
}

/// A line divided by its l0, in sixteen limbs of an arena: the coefficients l1 and l3 of 1 + l1 w + l3 w^3, before they
/// are multiplied by the coordinates of a point.
package struct MonicLine {
    /// The number of limbs of a line.
    package static var count: Int { 16 }

    package let limbs: Limbs

    @inline(__always)
    package init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) var l1: Fp2 { Fp2(limbs) }
    @inline(__always) var l3: Fp2 { Fp2(limbs + 8) }
}

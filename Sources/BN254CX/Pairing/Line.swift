import CBN254CX

/// The lines of the Miller loop. A line through points of the twist, taken at a point (xP, yP) of E, is
/// yP - lambda xP w + (lambda xT - yT) w^3 up to a factor in Fp2, which the final exponentiation removes. It is held
/// without the point as l0, l1, l3 in 24 limbs: l0 yP + l1 xP w + l3 w^3.
enum Line {
    /// Limbs of a line.
    static var count: Int { 24 }
    /// Limbs of scratch that `double` and `add` use.
    static var scratch: Int { 7 &* 8 &+ Fp2.scratch &+ 8 &+ G2DoublingTerms.count }

    /// t = 2t and the tangent at t: l0 = 2YZ, l1 = -3X^2, l3 = Y^2 - 3b' Z^2.
    ///
    /// lambda = 3X^2/(2YZ), scaled by 2YZ, and X^3/Z = Y^2 - b' Z^2 by the equation of the curve (Costello, Lange,
    /// Naehrig, "Faster pairing computations on curves with high-degree twists", PKC 2010, section 5, in the
    /// coordinates of `G2`). 3 squarings and 6 products in Fp2.
    @inline(never)
    static func double(_ t: G2, _ line: Limbs, _ s: Limbs) {
        let terms = G2DoublingTerms(limbs: s), w = s + G2DoublingTerms.count, v = w + 16
        terms.compute(t, w)
        Fp2.add(line, terms.yz, terms.yz)
        Fp2.sub(line + 16, terms.yy, terms.b)
        Fp2.sqrWide(w, t.x, v)  // 6, 2
        scaleLimbs(w, w, 8, 3)
        scaleLimbs(w + 8, w + 8, 8, 3)
        subLimbs(w, bn_wide_multiples() + 8 &* 18, w, 8)
        subLimbs(w + 8, bn_wide_multiples() + 8 &* 18, w + 8, 8)
        Fp2.reduce(line + 8, w)  // 18
        terms.finish(t, w)
    }

    /// t = t + q and the line through t and q, for q = (x, y) affine in sixteen limbs, t neither q nor -q nor infinite:
    /// l0 = mu, l1 = -theta, l3 = theta x - mu y with theta = Y - y Z, mu = X - x Z.
    ///
    /// Mixed addition of homogeneous coordinates (eprint 2010/526, section 4, formulas 11 and 12): X3 = mu H,
    /// Y3 = theta (G - H) - Y E, Z3 = Z E with E = mu^3, G = X mu^2, H = E + Z theta^2 - 2G. The condition holds in a
    /// Miller loop over a point of order r. 11 products and 2 squarings in Fp2.
    @inline(never)
    static func add(_ t: G2, _ q: ConstLimbs, _ line: Limbs, _ s: Limbs) {
        let theta = s, mu = s + 8, e = s + 16, g = s + 24, h = s + 32, m = s + 40, u = s + 48
        Fp2.mul(theta, q + 8, t.z, u)
        Fp2.sub(theta, t.y, theta)
        Fp2.mul(mu, q, t.z, u)
        Fp2.sub(mu, t.x, mu)
        Fp2.sqr(m, mu, u)
        Fp2.mul(e, mu, m, u)  // E = mu^3
        Fp2.mul(g, t.x, m, u)  // G = X mu^2
        Fp2.sqr(h, theta, u)
        Fp2.mul(h, h, t.z, u)
        Fp2.add(h, h, e)
        Fp2.sub(h, h, g)
        Fp2.sub(h, h, g)  // H = E + Z theta^2 - 2G
        Fp2.mul(t.x, mu, h, u)
        Fp2.sub(g, g, h)
        Fp2.mul(g, theta, g, u)
        Fp2.mul(m, t.y, e, u)
        Fp2.sub(t.y, g, m)
        Fp2.mul(t.z, t.z, e, u)
        copyLimbs(line, mu, 8)
        Fp2.neg(line + 8, theta)
        Fp2.mul(g, theta, q, u)
        Fp2.mul(m, mu, q + 8, u)
        Fp2.sub(line + 16, g, m)
    }
}

/// A sum of products in Fp2 before its reduction: two numbers of eight limbs. The classes are those of `Fp`.
struct Fp2Product {
    /// The number of limbs of a sum.
    static var count: Int { 16 }
    /// The number of limbs of scratch that `multiply` and the squarings use.
    static var scratch: Int { 16 }

    let limbs: Limbs

    @inline(__always)
    init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) var re: Limbs { limbs }
    @inline(__always) var im: Limbs { limbs + 8 }

    /// self = x * y. The classes of x and y (see `Fp`) must be at most 3 each; `k` is their product. Both components of
    /// self are of class 2k.
    ///
    /// Karatsuba (Devegili, Ó hÉigeartaigh, Scott, Dahab, "Multiplication and squaring on pairing-friendly fields",
    /// eprint 2006/471, section 3.1): with T0 = x0 y0 and T1 = x1 y1, the real part is T0 - T1 + k p^2, the imaginary
    /// part (x0 + x1)(y0 + y1) - T0 - T1. 3 mpn_sec_mul.
    @inline(never)
    func multiply(_ x: Fp2, _ y: Fp2, class k: Int, _ s: Limbs) {
        let t1 = s + 8
        (Narrow(x.re) + Narrow(x.im)).store(s)
        (Narrow(y.re) + Narrow(y.im)).store(s + 4)
        Fp.mulWide(re, x.re, y.re)
        Fp.mulWide(t1, x.im, y.im)
        Fp.mulWide(im, s, s + 4)
        (Wide(im) - Wide(re) - Wide(t1)).store(im)
        (Wide(re) + Wide(multiple: k) - Wide(t1)).store(re)
    }

    /// self = x^2 for x of class k (see `Fp`), 1 or 2. The real part is of class 6 k^2, the imaginary part of class 2
    /// k^2.
    ///
    /// The two parts are (x0 + x1)(x0 - x1 + 2k p) and 2 x0 x1 (eprint 2006/471, section 3.2, complex squaring). 2
    /// mpn_sec_mul.
    @inline(never)
    func square(_ x: Fp2, class k: Int, _ s: Limbs) {
        (Narrow(x.re) + Narrow(x.im)).store(s)
        (Narrow(x.re) + Narrow(evenMultiple: k) - Narrow(x.im)).store(s + 4)
        (Narrow(x.re) + Narrow(x.re)).store(s + 8)
        Fp.mulWide(re, s, s + 4)
        Fp.mulWide(im, s + 8, x.im)
    }

    /// self = x^2 for normal x, as by `square`, but the real part is of class 2 (see `Fp`): x0^2 - x1^2 + p^2. 1
    /// mpn_sec_mul, 2 mpn_sec_sqr.
    @inline(never)
    func squareTightly(_ x: Fp2, _ s: Limbs) {
        Fp.sqrWide(re, x.re)
        Fp.sqrWide(s, x.im)
        (Wide(re) + Wide(multiple: 1) - Wide(s)).store(re)
        (Narrow(x.re) + Narrow(x.re)).store(s)
        Fp.mulWide(im, s, x.im)
    }
}

// Linear maps. They compute modulo 2^512, so intermediate sums may overflow. Only a sum that is then reduced must be in
// range.
extension Fp2Product {
    /// self = a.
    @inline(__always)
    func copy(_ a: Fp2Product) { copyLimbs(limbs, a.limbs, Fp2Product.count) }

    /// self = a + b.
    @inline(__always)
    func add(_ a: Fp2Product, _ b: Fp2Product) {
        (Wide(a.re) + Wide(b.re)).store(re)
        (Wide(a.im) + Wide(b.im)).store(im)
    }

    /// self = a + 2b.
    @inline(__always)
    func addTwice(_ a: Fp2Product, _ b: Fp2Product) {
        (Wide(a.re) + Wide(b.re) + Wide(b.re)).store(re)
        (Wide(a.im) + Wide(b.im) + Wide(b.im)).store(im)
    }

    /// self = self + 3a.
    @inline(__always)
    func addTriple(_ a: Fp2Product) {
        (Wide(re) + Wide(a.re) + Wide(a.re) + Wide(a.re)).store(re)
        (Wide(im) + Wide(a.im) + Wide(a.im) + Wide(a.im)).store(im)
    }

    /// self = self - a. The class of a (see `Fp`) is k; the class of self grows by k.
    @inline(__always)
    func subtract(_ a: Fp2Product, class k: Int) {
        (Wide(re) + Wide(multiple: k) - Wide(a.re)).store(re)
        (Wide(im) + Wide(multiple: k) - Wide(a.im)).store(im)
    }

    /// self = self - 2a, where 2a is of class k (see `Fp`). The class of self grows by k.
    @inline(__always)
    func subtractTwice(_ a: Fp2Product, class k: Int) {
        (Wide(re) + Wide(multiple: k) - Wide(a.re) - Wide(a.re)).store(re)
        (Wide(im) + Wide(multiple: k) - Wide(a.im) - Wide(a.im)).store(im)
    }

    /// self = 2 self - 3a, where 3a is of class k (see `Fp`). The class of self is doubled and then grows by k.
    @inline(__always)
    func doubleLessTriple(_ a: Fp2Product, class k: Int) {
        (Wide(re) + Wide(re) + Wide(multiple: k) - Wide(a.re) - Wide(a.re) - Wide(a.re)).store(re)
        (Wide(im) + Wide(im) + Wide(multiple: k) - Wide(a.im) - Wide(a.im) - Wide(a.im)).store(im)
    }

    /// self = self - a - b. The caller must ensure that the result is not negative.
    @inline(__always)
    func subtract(_ a: Fp2Product, _ b: Fp2Product) {
        (Wide(re) - Wide(a.re) - Wide(b.re)).store(re)
        (Wide(im) - Wide(a.im) - Wide(b.im)).store(im)
    }

    /// self = a * k.
    @inline(__always)
    func scale(_ a: Fp2Product, by k: Limb) {
        (Wide(a.re) * k).store(re)
        (Wide(a.im) * k).store(im)
    }

    /// self = (1 + i) * w for w of class k (see `Fp`). The result is of class 2k. self and w must not overlap.
    @inline(__always)
    func multiplyByXi(_ w: Fp2Product, class k: Int) {
        (Wide(w.re) + Wide(multiple: k) - Wide(w.im)).store(re)
        (Wide(w.re) + Wide(w.im)).store(im)
    }

    /// self = (1 + i) * w + a for w of class k (see `Fp`). The class is that of a plus 2k. self may be a, but not w.
    @inline(__always)
    func multiplyByXi(_ w: Fp2Product, class k: Int, plus a: Fp2Product) {
        (Wide(w.re) + Wide(multiple: k) - Wide(w.im) + Wide(a.re)).store(re)
        (Wide(w.re) + Wide(w.im) + Wide(a.im)).store(im)
    }

    /// self = (a + b)(c + d) - a c - b d = a d + b c for normal a, b, c, d (see `Fp`), given the products ac and bd of
    /// class 2. The result is of class 4. Scratch: 32 limbs.
    ///
    /// `multiply` has added 4 p^2 to the real part of (a + b)(c + d), and p^2 to each of the real parts of ac and bd.
    /// So the real part of the result contains 2 p^2 in addition. This makes it positive: the real part of ad + bc is
    /// at least -2 p^2.
    @inline(__always)
    func cross(_ a: Fp2, _ b: Fp2, _ c: Fp2, _ d: Fp2, _ ac: Fp2Product, _ bd: Fp2Product, _ s: Limbs) {
        let left = Fp2(s), right = Fp2(s + Fp2.count)
        left.addLazily(a, b)
        right.addLazily(c, d)
        multiply(left, right, class: 4, s + 2 &* Fp2.count)
        subtract(ac, bd)
    }

    /// The number of limbs of scratch that `cross` uses.
    static var crossScratch: Int { 2 &* Fp2.count &+ scratch }
}

extension Arena {
    /// Takes the limbs of a sum of products in Fp2 from the arena. They are not initialised.
    @inline(__always)
    mutating func fp2Product() -> Fp2Product { Fp2Product(take(Fp2Product.count)) }
}

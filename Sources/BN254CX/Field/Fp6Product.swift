/// A sum of products in Fp6 before its reduction: three sums of products in Fp2.
struct Fp6Product {
    /// The number of limbs of a sum.
    static var count: Int { 48 }
    /// The number of limbs of scratch that the products use.
    static var scratch: Int { 3 &* Fp2Product.count &+ Fp2Product.crossScratch }

    let limbs: Limbs

    @inline(__always)
    init(_ limbs: Limbs) { self.limbs = limbs }

    @inline(__always) var b0: Fp2Product { Fp2Product(limbs) }
    @inline(__always) var b1: Fp2Product { Fp2Product(limbs + 16) }
    @inline(__always) var b2: Fp2Product { Fp2Product(limbs + 32) }

    /// self = x * y for normal x and y (see `Fp`). The three coefficients are of class 10, 8, 6.
    ///
    /// Karatsuba in Fp2 (eprint 2006/471, section 4.1), unreduced. 6 products in Fp2.
    @inline(never)
    func multiply(_ x: Fp6, _ y: Fp6, _ s: Limbs) {
        var arena = Arena(s)
        let v0 = arena.fp2Product(), v1 = arena.fp2Product(), v2 = arena.fp2Product()
        let t = arena.scratch
        v0.multiply(x.b0, y.b0, class: 1, t)
        v1.multiply(x.b1, y.b1, class: 1, t)
        v2.multiply(x.b2, y.b2, class: 1, t)
        b1.cross(x.b1, x.b2, y.b1, y.b2, v1, v2, t)
        b0.multiplyByXi(b1, class: 4, plus: v0)  // xi (x1 y2 + x2 y1) + x0 y0, class 8 + 2
        b1.cross(x.b0, x.b1, y.b0, y.b1, v0, v1, t)
        b1.multiplyByXi(v2, class: 2, plus: b1)  // x0 y1 + x1 y0 + xi x2 y2, class 4 + 4
        b2.cross(x.b0, x.b2, y.b0, y.b2, v0, v2, t)
        b2.add(b2, v1)  // x0 y2 + x2 y0 + x1 y1, class 4 + 2
    }

    /// self = x * (l0 + l1 v) for normal x, l0 and l1 (see `Fp`). The three coefficients are of class 6, 4, 4.
    ///
    /// Karatsuba for the two lower coefficients, two plain products for the upper one. 5 products in Fp2.
    @inline(never)
    func multiply(_ x: Fp6, sparse l0: Fp2, _ l1: Fp2, _ s: Limbs) {
        var arena = Arena(s)
        let v0 = arena.fp2Product(), v1 = arena.fp2Product(), m = arena.fp2Product(), t = arena.scratch
        v0.multiply(x.b0, l0, class: 1, t)
        v1.multiply(x.b1, l1, class: 1, t)
        b1.cross(x.b0, x.b1, l0, l1, v0, v1, t)  // x0 l1 + x1 l0, class 4
        m.multiply(x.b2, l1, class: 1, t)
        b0.multiplyByXi(m, class: 2, plus: v0)  // x0 l0 + xi x2 l1, class 2 + 4
        b2.multiply(x.b2, l0, class: 1, t)
        b2.add(b2, v1)  // x1 l1 + x2 l0, class 2 + 2
    }

    /// self = 2 self, which doubles the classes (see `Fp`).
    @inline(__always)
    func double() {
        b0.add(b0, b0)
        b1.add(b1, b1)
        b2.add(b2, b2)
    }

    /// self = self + v * t, where v * t has the coefficients xi t2, t0 and t1 with xi = 1 + i, and t2 is of class k
    /// (see `Fp`).
    @inline(__always)
    func addTimesV(_ t: Fp6Product, class k: Int) {
        b1.add(b1, t.b0)
        b2.add(b2, t.b1)
        b0.multiplyByXi(t.b2, class: k, plus: b0)
    }

    /// self = self - a - b, where a and b are of class 11 at most and self of class 28 at most (see `Fp`). The class of
    /// self grows by 22.
    @inline(__always)
    func subtract(_ a: Fp6Product, _ b: Fp6Product) {
        var i = 0
        while i < Fp6Product.count {
            let multiple = Wide(multiple: 22)
            (Wide(limbs + i) + multiple - Wide(a.limbs + i) - Wide(b.limbs + i)).store(limbs + i)
            i &+= 8
        }
    }

    /// self = self - t - v * t, where the coefficients of self and t are of class 10, 8, 6 (see `Fp`). The coefficients
    /// are s0 - t0 - xi t2, s1 - t1 - t0 and s2 - t2 - t1 with xi = 1 + i. The result is of class 32, 26, 20.
    @inline(__always)
    func subtractTimesOnePlusV(_ t: Fp6Product) {
        let t0 = t.b0, t2 = t.b2
        (Wide(b0.re) + Wide(multiple: 16) - Wide(t0.re) - Wide(t2.re) + Wide(t2.im)).store(b0.re)  // class 10 + 16 + 6
        (Wide(b0.im) + Wide(multiple: 22) - Wide(t0.im) - Wide(t2.re) - Wide(t2.im)).store(b0.im)  // class 10 + 22
        var i = Fp2Product.count
        while i < Fp6Product.count {
            // For the second coefficient, 18 is the class (see `Fp`) of t1 + t0; for the third, 14 is the class of t2 +
            // t1.
            let multiple = Wide(multiple: i < 2 &* Fp2Product.count ? 18 : 14)
            let lower = Wide(t.limbs + (i &- Fp2Product.count))
            (Wide(limbs + i) + multiple - Wide(t.limbs + i) - lower).store(limbs + i)
            i &+= 8
        }
    }
}

extension Arena {
    /// Takes the limbs of a sum of products in Fp6 from the arena. They are not initialised.
    @inline(__always)
    mutating func fp6Product() -> Fp6Product { Fp6Product(take(Fp6Product.count)) }
}

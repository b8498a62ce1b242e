/// Fp2 = Fp[i]/(i^2 + 1): an element re + im i in eight limbs of an arena.
///
/// Bounds and classes are those of `Fp`, for each component. In all types of the tower a function writes its result to
/// `self`, which may be one of the operands.
package struct Fp2 {
    /// The number of limbs of an element.
    package static var count: Int { 8 }
    /// The number of limbs of scratch that `multiply` and `square` use.
    package static var scratch: Int { Fp2Product.count &+ Fp2Product.scratch }

    package let limbs: Limbs

    @inline(__always)
    package init(_ limbs: Limbs) { self.limbs = limbs }

    /// The real part.
    @inline(__always) package var re: Limbs { limbs }
    /// The imaginary part.
    @inline(__always) package var im: Limbs { limbs + 4 }

    /// self = x * y for x and y of class 3 at most (see `Fp`). 3 mpn_sec_mul, 2 reductions.
    @inline(__always)
    package func multiply(_ x: Fp2, _ y: Fp2, _ s: Limbs) {
        let w = Fp2Product(s)
        w.multiply(x, y, class: 9, s + Fp2Product.count)
        reduce(w)
    }

    /// self = x^2 for normal x (see `Fp`). 2 mpn_sec_mul, 2 reductions.
    @inline(__always)
    package func square(_ x: Fp2, _ s: Limbs) {
        let w = Fp2Product(s)
        w.square(x, class: 1, s + Fp2Product.count)
        reduce(w)
    }

    /// self = x * k for k in Fp. Scratch: 16 limbs. 2 mpn_sec_mul, 2 reductions.
    @inline(__always)
    package func multiply(_ x: Fp2, byFp k: ConstLimbs, _ s: Limbs) {
        let w = Fp2Product(s)
        Fp.mulWide(w.re, x.re, k)
        Fp.mulWide(w.im, x.im, k)
        reduce(w)
    }

    /// self = 1/x, and 0 for x = 0: conj(x)/(re^2 + im^2). One inversion in Fp.
    package func invert(_ x: Fp2, _ s: Limbs) {
        let norm = s, t = s + 4
        Fp.sqrWide(t, x.re)
        Fp.sqrWide(t + 8, x.im)
        (Wide(t) + Wide(t + 8)).reduced.store(norm)  // class 2
        Fp.inverse(norm, norm, t)
        conjugate(x)
        multiply(self, byFp: norm, t)
    }

    /// The number of limbs of scratch that `invert` uses.
    package static var inverseScratch: Int { 4 &+ Fp.powerScratch }

    /// self = the reduction of w. Both components of w have class 50 at most (see `Fp`). self and w must not overlap.
    @inline(__always)
    func reduce(_ w: Fp2Product) { Fp.reduce(limbs, w.limbs, count: 2) }
}

// Linear maps. Each component of a result is a sum that is brought below p + 2^196 once, at the end.
extension Fp2 {
    /// self = a + b.
    @inline(__always)
    package func add(_ a: Fp2, _ b: Fp2) {
        Fp.add(re, a.re, b.re)
        Fp.add(im, a.im, b.im)
    }

    /// self = a - b.
    @inline(__always)
    package func subtract(_ a: Fp2, _ b: Fp2) {
        Fp.sub(re, a.re, b.re)
        Fp.sub(im, a.im, b.im)
    }

    /// self = -a.
    @inline(__always)
    package func negate(_ a: Fp2) {
        Fp.neg(re, a.re)
        Fp.neg(im, a.im)
    }

    /// self = conj(a) = a^p.
    @inline(__always)
    package func conjugate(_ a: Fp2) {
        copyLimbs(re, a.re, 4)
        Fp.neg(im, a.im)
    }

    /// self = (1 + i) * a: the real part is re - im, the imaginary part re + im. Scratch: 4 limbs.
    @inline(__always)
    package func multiplyByXi(_ a: Fp2, _ s: Limbs) {
        Fp.sub(s, a.re, a.im)
        Fp.add(im, a.re, a.im)
        copyLimbs(re, s, 4)
    }

    /// self = a + b, not normalised: its class (see `Fp`) is the sum of both classes.
    @inline(__always)
    func addLazily(_ a: Fp2, _ b: Fp2) {
        (Narrow(a.re) + Narrow(b.re)).store(re)
        (Narrow(a.im) + Narrow(b.im)).store(im)
    }

    /// self = a - b for normal b, not normalised: its class (see `Fp`) is that of a plus 2.
    @inline(__always)
    func subtractLazily(_ a: Fp2, _ b: Fp2) {
        (Narrow(a.re) + Narrow(evenMultiple: 1) - Narrow(b.re)).store(re)
        (Narrow(a.im) + Narrow(evenMultiple: 1) - Narrow(b.im)).store(im)
    }

    /// Changes self, of class 7 at most (see `Fp`), to a value of the same element whose components are below p +
    /// 2^196.
    @inline(__always)
    func normalise() {
        Fp.normalise(re)
        Fp.normalise(im)
    }

    /// All ones if the value is zero, else zero. Scratch: 4 limbs.
    @inline(__always)
    package func zeroMask(_ s: Limbs) -> Limb { Fp.zeroMask(re, s) & Fp.zeroMask(im, s) }

    /// self = a.
    @inline(__always)
    package func copy(_ a: Fp2) { copyLimbs(limbs, a.limbs, Fp2.count) }

    /// self = 1.
    package func setOne() {
        Fp.setOne(re)
        zeroLimbs(im, 4)
    }
}

extension Arena {
    /// Takes the limbs of an element of Fp2 from the arena. They are not initialised.
    @inline(__always)
    mutating func fp2() -> Fp2 { Fp2(take(Fp2.count)) }
}

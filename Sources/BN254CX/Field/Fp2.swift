import CBN254CX

/// Fp2 = Fp[i]/(i^2 + 1): a + b i as eight limbs, real part first.
///
/// Bounds and classes are those of `Fp`, for each component.
package enum Fp2 {
    /// Limbs of an element.
    package static var count: Int { 8 }
    /// Limbs of scratch that `mulWide` and `sqrWide` use.
    static var wideScratch: Int { 16 }
    /// Limbs of scratch that `mul` and `sqr` use.
    package static var scratch: Int { 32 }

    /// w = x y, sixteen limbs, for classes that multiply to k <= 25, each at most 3. Both components are of class 2k.
    ///
    /// Karatsuba (Devegili, Ó hÉigeartaigh, Scott, Dahab, "Multiplication and squaring on pairing-friendly fields",
    /// eprint 2006/471, section 3.1): real T0 - T1 + k p^2, imaginary (x0 + x1)(y0 + y1) - T0 - T1. 3 mpn_sec_mul.
    @inline(never)
    static func mulWide(_ w: Limbs, _ x: ConstLimbs, _ y: ConstLimbs, class k: Int, _ s: Limbs) {
        let t1 = s + 8
        addLimbs(s, x, x + 4, 4)
        addLimbs(s + 4, y, y + 4, 4)
        Fp.mulWide(w, x, y)
        Fp.mulWide(t1, x + 4, y + 4)
        Fp.mulWide(w + 8, s, s + 4)
        (Wide(w + 8) - Wide(w) - Wide(t1)).store(w + 8)
        (Wide(w) + Wide(multiple: k) - Wide(t1)).store(w)
    }

    /// w = x^2, sixteen limbs, x of class k, 1 or 2. Real part of class 6 k^2, imaginary of class 2 k^2.
    ///
    /// (x0 + x1)(x0 - x1 + 2k p) and 2 x0 x1 (eprint 2006/471, section 3.2, complex squaring). 2 mpn_sec_mul.
    @inline(never)
    static func sqrWide(_ w: Limbs, _ x: ConstLimbs, class k: Int = 1, _ s: Limbs) {
        let offset: ConstLimbs = bn_even_multiples() + 4 &* k
        (Narrow(x) + Narrow(x + 4)).store(s)
        (Narrow(x) + Narrow(offset) - Narrow(x + 4)).store(s + 4)
        (Narrow(x) + Narrow(x)).store(s + 8)
        Fp.mulWide(w, s, s + 4)
        Fp.mulWide(w + 8, s + 8, x + 4)
    }

    /// w = x^2 as `sqrWide`, but with a real part of class 2: x0^2 - x1^2 + p^2. 1 mpn_sec_mul, 2 mpn_sec_sqr.
    @inline(never)
    static func sqrWideTight(_ w: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        Fp.sqrWide(w, x)
        Fp.sqrWide(s, x + 4)
        (Wide(w) + Wide(multiple: 1) - Wide(s)).store(w)
        addLimbs(s, x, x, 4)
        Fp.mulWide(w + 8, s, x + 4)
    }

    /// r = w reduced: both components up to class 50. r must not overlap w.
    @inline(__always)
    static func reduce(_ r: Limbs, _ w: Limbs) {
        Fp.reduce(r, w, count: 2)
    }

    /// r = x y, for classes that multiply to 9 at most, each at most 3. 3 mpn_sec_mul, 2 reductions.
    @inline(__always)
    package static func mul(_ r: Limbs, _ x: ConstLimbs, _ y: ConstLimbs, _ s: Limbs) {
        mulWide(s, x, y, class: 9, s + 16)
        reduce(r, s)
    }

    /// r = x^2, x normal. 2 mpn_sec_mul, 2 reductions.
    @inline(__always)
    package static func sqr(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        sqrWide(s, x, s + 16)
        reduce(r, s)
    }

    /// r = x k for k in Fp. Scratch: 16 limbs. 2 mpn_sec_mul, 2 reductions.
    @inline(__always)
    package static func mulByFp(_ r: Limbs, _ x: ConstLimbs, _ k: ConstLimbs, _ s: Limbs) {
        Fp.mulWide(s, x, k)
        Fp.mulWide(s + 8, x + 4, k)
        reduce(r, s)
    }

    /// r = 1/x, and 0 for 0: conj(x)/(x0^2 + x1^2). One inversion in Fp.
    package static func inverse(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        let norm = s, t = s + 4
        Fp.sqrWide(t, x)
        Fp.sqrWide(t + 8, x + 4)
        addLimbs(t, t, t + 8, 8)
        Fp.reduce(norm, t)
        Fp.inverse(norm, norm, t)
        conj(r, x)
        mulByFp(r, r, norm, t)
    }

    /// Limbs of scratch that `inverse` uses.
    package static var inverseScratch: Int { 4 &+ Fp.powerScratch }
}

// Linear maps: additions of vectors, then one normalisation for each component.
extension Fp2 {
    /// r = a + b.
    @inline(__always)
    package static func add(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs) {
        Fp.add(r, a, b, count: 2)
    }

    /// r = a - b.
    @inline(__always)
    package static func sub(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs) {
        Fp.sub(r, a, b)
        Fp.sub(r + 4, a + 4, b + 4)
    }

    /// r = -a.
    @inline(__always)
    package static func neg(_ r: Limbs, _ a: ConstLimbs) {
        Fp.neg(r, a)
        Fp.neg(r + 4, a + 4)
    }

    /// r = conj(a) = a^p.
    @inline(__always)
    package static func conj(_ r: Limbs, _ a: ConstLimbs) {
        copyLimbs(r, a, 4)
        Fp.neg(r + 4, a + 4)
    }

    /// r = (1 + i) a: real a0 - a1, imaginary a0 + a1. Scratch: 4 limbs.
    @inline(__always)
    package static func mulByXi(_ r: Limbs, _ a: ConstLimbs, _ s: Limbs) {
        Fp.sub(s, a, a + 4)
        Fp.add(r + 4, a, a + 4)
        copyLimbs(r, s, 4)
    }

    /// All ones when a is zero, else zero. Scratch: 4 limbs.
    @inline(__always)
    package static func zeroMask(_ a: ConstLimbs, _ s: Limbs) -> UInt {
        Fp.zeroMask(a, s) & Fp.zeroMask(a + 4, s)
    }

    /// r = 1.
    package static func setOne(_ r: Limbs) {
        Fp.setOne(r)
        zeroLimbs(r + 4, 4)
    }
}

// The same linear maps on unreduced products.
extension Fp2 {
    /// r = (1 + i) w, sixteen limbs each, w of class k; r of class 2k. r must not overlap w.
    @inline(__always)
    static func mulByXiWide(_ r: Limbs, _ w: ConstLimbs, class k: Int) {
        (Wide(w) + Wide(multiple: k) - Wide(w + 8)).store(r)
        (Wide(w) + Wide(w + 8)).store(r + 8)
    }

    /// r = (1 + i) w + a, sixteen limbs each, w of class k; adds 2k to the class of a. r may be a but not w.
    @inline(__always)
    static func mulByXiAddWide(_ r: Limbs, _ w: ConstLimbs, class k: Int, _ a: ConstLimbs) {
        (Wide(w) + Wide(multiple: k) - Wide(w + 8) + Wide(a)).store(r)
        (Wide(w) + Wide(w + 8) + Wide(a + 8)).store(r + 8)
    }
}

/// Fp in Montgomery form with radix 2^320: a is stored as a 2^320 mod p in four limbs.
///
/// **Bounds.** A value "of class c" is below c p (1 + 2^-57). A value is "normal" if it is below p + 2^196, which is
/// class 1. Stored elements are normal. Sums and differences inside a formula may have a higher class if they fit into
/// 256 bits (class 7: 2^256 = 7.11 p). An eight-limb product "of class c" is below c p (p + 2^199); 512 bits have room
/// for class 50. The 2^199 is there because the factors may exceed p: (p + 2^196)^2 < p (p + 2^199). The reduction of a
/// product up to class 50 is normal without a conditional subtraction (see `Wide.reduced`). So the tower adds and
/// subtracts products first and reduces once for each component of the result (lazy reduction: Aranha, Karabina, Longa,
/// Gebotys, López, "Faster explicit formulas for computing pairings over ordinary curves", EUROCRYPT 2011, section 3).
/// A comment at the end of a line states the class of the result: in Fp2 those of the real and the imaginary part, in
/// Fp6 those of the three coefficients. "class 8 + 2" is 10 and shows the classes that were added.
///
/// Only `canonical` computes the representative below p, for comparison and encoding.
///
/// Every function takes constant time unless its name ends in `Vartime`. A result may be written over an operand;
/// scratch (`s`, the last parameter) must not overlap either.
package enum Fp {
    /// The number of limbs of an element.
    package static var count: Int { 4 }
    /// The number of limbs of scratch that `mul` and `sqr` use.
    package static var scratch: Int { 8 }

    /// r = t / 2^320 mod p for t of eight limbs, which r may overlap. r is below p + 2^196 for every t. See
    /// `Wide.reduced`.
    @inline(never)
    package static func reduce(_ r: Limbs, _ t: ConstLimbs) { Wide(t).reduced.store(r) }

    /// Reduces n products that lie one after another, each as `reduce` does. r must not overlap t.
    @inline(never)
    static func reduce(_ r: Limbs, _ t: ConstLimbs, count n: Int) {
        var i = 0
        while i < n {
            Wide(t + 8 &* i).reduced.store(r + 4 &* i)
            i &+= 1
        }
    }

    /// r = x * y. The product of the classes of x and y (see `Fp`) must be at most 50. 1 mpn_sec_mul, 1 reduction.
    @inline(__always)
    package static func mul(_ r: Limbs, _ x: ConstLimbs, _ y: ConstLimbs, _ s: Limbs) {
        mulWide(s, x, y)
        Wide(s).reduced.store(r)
    }

    /// r = x^2 for x of class 7 at most (see `Fp`). 1 mpn_sec_sqr, 1 reduction.
    @inline(__always)
    package static func sqr(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        sqrWide(s, x)
        Wide(s).reduced.store(r)
    }

    /// Changes r, of class 7 at most (see `Fp`), to a value of the same element below p + 2^196.
    @inline(__always)
    static func normalise(_ r: Limbs) { Narrow(r).normal.store(r) }

    /// r = a + b.
    @inline(__always)
    package static func add(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs) {
        (Narrow(a) + Narrow(b)).normal.store(r)
    }

    /// r = a + b for n elements that lie one after another. r may be a or b.
    @inline(__always)
    static func add(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, count n: Int) {
        var i = 0
        while i < n {
            add(r + 4 &* i, a + 4 &* i, b + 4 &* i)
            i &+= 1
        }
    }

    /// r = a - b, computed as a + 2p - b.
    @inline(__always)
    package static func sub(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs) {
        (Narrow(a) + Narrow(evenMultiple: 1) - Narrow(b)).normal.store(r)
    }

    /// r = -a, computed as 2p - a.
    @inline(__always)
    package static func neg(_ r: Limbs, _ a: ConstLimbs) {
        (Narrow(evenMultiple: 1) - Narrow(a)).normal.store(r)
    }

    /// r = 2p - r, which is of class 2, if the mask is all ones; otherwise r stays. Before the call, r must be normal
    /// (see `Fp`).
    @inline(__always)
    static func negateLazily(_ r: Limbs, mask: Limb) {
        let value = Narrow(r)
        value.replaced(by: Narrow(evenMultiple: 1) - value, mask: mask).store(r)
    }
}

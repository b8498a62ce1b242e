import CBN254CX
import CGMP

/// A product before its reduction: eight limbs in registers. Several products are added here, and only the sum is
/// stored.
///
/// Sums are computed modulo 2^512, so only the final sum must be in range.
struct Wide {
    private(set) var a: Limb, b: Limb, c: Limb, d: Limb, e: Limb, f: Limb, g: Limb, h: Limb

    /// Loads eight limbs from p.
    @inline(__always)
    init(_ p: ConstLimbs) { (a, b, c, d, e, f, g, h) = (p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]) }

    /// The number k p(p + 2^199) for k up to 36, which is added to a difference to make it positive.
    @inline(__always)
    init(multiple k: Int) { self.init(bn_wide_multiples() + 8 &* k) }

    @inline(__always)
    func store(_ r: Limbs) { (r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]) = (a, b, c, d, e, f, g, h) }

    @inline(__always)
    static func + (x: Wide, y: Wide) -> Wide {
        var sum = x, carry: Limb = 0
        sum.a = addWithCarry(x.a, y.a, &carry)
        sum.b = addWithCarry(x.b, y.b, &carry)
        sum.c = addWithCarry(x.c, y.c, &carry)
        sum.d = addWithCarry(x.d, y.d, &carry)
        sum.e = addWithCarry(x.e, y.e, &carry)
        sum.f = addWithCarry(x.f, y.f, &carry)
        sum.g = addWithCarry(x.g, y.g, &carry)
        sum.h = addWithCarry(x.h, y.h, &carry)
        return sum
    }

    @inline(__always)
    static func - (x: Wide, y: Wide) -> Wide {
        var difference = x, borrow: Limb = 0
        difference.a = subWithBorrow(x.a, y.a, &borrow)
        difference.b = subWithBorrow(x.b, y.b, &borrow)
        difference.c = subWithBorrow(x.c, y.c, &borrow)
        difference.d = subWithBorrow(x.d, y.d, &borrow)
        difference.e = subWithBorrow(x.e, y.e, &borrow)
        difference.f = subWithBorrow(x.f, y.f, &borrow)
        difference.g = subWithBorrow(x.g, y.g, &borrow)
        difference.h = subWithBorrow(x.h, y.h, &borrow)
        return difference
    }

    @inline(__always)
    static func * (x: Wide, k: Limb) -> Wide {
        var product = x, carry: Limb = 0
        product.a = mulAdd(x.a, k, 0, &carry)
        product.b = mulAdd(x.b, k, 0, &carry)
        product.c = mulAdd(x.c, k, 0, &carry)
        product.d = mulAdd(x.d, k, 0, &carry)
        product.e = mulAdd(x.e, k, 0, &carry)
        product.f = mulAdd(x.f, k, 0, &carry)
        product.g = mulAdd(x.g, k, 0, &carry)
        product.h = mulAdd(x.h, k, 0, &carry)
        return product
    }
}

/// An element of Fp in registers, four limbs, of class 7 at most (see `Fp`).
struct Narrow {
    private var a: Limb, b: Limb, c: Limb, d: Limb

    /// Loads four limbs from p.
    @inline(__always)
    init(_ p: ConstLimbs) { (a, b, c, d) = (p[0], p[1], p[2], p[3]) }

    /// The number 2k p for k = 0, 1, 2, which is added to a difference to make it positive.
    @inline(__always)
    init(evenMultiple k: Int) { self.init(bn_even_multiples() + 4 &* k) }

    @inline(__always)
    init(_ a: Limb, _ b: Limb, _ c: Limb, _ d: Limb) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }

    @inline(__always)
    func store(_ r: Limbs) { (r[0], r[1], r[2], r[3]) = (a, b, c, d) }

    @inline(__always)
    static func + (x: Narrow, y: Narrow) -> Narrow {
        var sum = x, carry: Limb = 0
        sum.a = addWithCarry(x.a, y.a, &carry)
        sum.b = addWithCarry(x.b, y.b, &carry)
        sum.c = addWithCarry(x.c, y.c, &carry)
        sum.d = addWithCarry(x.d, y.d, &carry)
        return sum
    }

    @inline(__always)
    static func - (x: Narrow, y: Narrow) -> Narrow {
        var difference = x, borrow: Limb = 0
        difference.a = subWithBorrow(x.a, y.a, &borrow)
        difference.b = subWithBorrow(x.b, y.b, &borrow)
        difference.c = subWithBorrow(x.c, y.c, &borrow)
        difference.d = subWithBorrow(x.d, y.d, &borrow)
        return difference
    }

    @inline(__always)
    static func * (x: Narrow, k: Limb) -> Narrow {
        var product = x, carry: Limb = 0
        product.a = mulAdd(x.a, k, 0, &carry)
        product.b = mulAdd(x.b, k, 0, &carry)
        product.c = mulAdd(x.c, k, 0, &carry)
        product.d = mulAdd(x.d, k, 0, &carry)
        return product
    }

    /// `other` if the mask is all ones, otherwise self. Constant time.
    @inline(__always)
    func replaced(by other: Narrow, mask: Limb) -> Narrow {
        Narrow(a ^ (a ^ other.a) & mask, b ^ (b ^ other.b) & mask, c ^ (c ^ other.c) & mask, d ^ (d ^ other.d) & mask)
    }

    /// The number v - q p, which represents the same element as this number v and is below p + 2^196. The quotient is q
    /// = floor(v_3 m / 2^124), where v_3 and p_3 are the highest limbs of v and p, and m = floor(2^124/(p_3 + 1)).
    ///
    /// v_3 m / 2^124 is at most v/p and less than 2^-57.6 below it. So the result is not negative and is below p (1 +
    /// 2^-57.6) < p + 2^196. 5 products of limbs.
    @inline(__always)
    var normal: Narrow {
        let quotient = d.multipliedFullWidth(by: Limb(BN_QUOTIENT_FACTOR)).high &>> 60
        let p: ConstLimbs = bn_p()
        var multiple = self, carry: Limb = 0
        multiple.a = mulAdd(p[0], quotient, 0, &carry)
        multiple.b = mulAdd(p[1], quotient, 0, &carry)
        multiple.c = mulAdd(p[2], quotient, 0, &carry)
        multiple.d = mulAdd(p[3], quotient, 0, &carry)
        return self - multiple
    }
}

// Products of elements by GMP, before their reduction.
extension Fp {
    /// w = x * y, eight limbs. The class of w (see `Fp`) is the product of the classes of x and y, at most 50. 1
    /// mpn_sec_mul.
    @inline(__always)
    static func mulWide(_ w: Limbs, _ x: ConstLimbs, _ y: ConstLimbs) { __gmpn_sec_mul(w, x, 4, y, 4, nil) }

    /// w = x^2, eight limbs. The class of w (see `Fp`) is the square of the class of x, at most 50. 1 mpn_sec_sqr.
    @inline(__always)
    static func sqrWide(_ w: Limbs, _ x: ConstLimbs) { __gmpn_sec_sqr(w, x, 4, nil) }
}

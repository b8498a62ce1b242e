import CBN254CX

/// Eight limbs in registers: an unreduced product, or two elements of Fp side by side. Sums of several products are
/// built here and stored once; `addLimbs` and `subLimbs` go through memory each time.
///
/// Sums wrap modulo 2^512, so that only the end of a chain of sums has to be in range.
struct Wide {
    private(set) var a: UInt, b: UInt, c: UInt, d: UInt, e: UInt, f: UInt, g: UInt, h: UInt

    /// The eight limbs at p.
    @inline(__always)
    init(_ p: ConstLimbs) { (a, b, c, d, e, f, g, h) = (p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]) }

    /// k p(p + 2^199), k at most 36: keeps a difference positive.
    @inline(__always)
    init(multiple k: Int) { self.init(bn_wide_multiples() + 8 &* k) }

    @inline(__always)
    func store(_ r: Limbs) { (r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7]) = (a, b, c, d, e, f, g, h) }

    @inline(__always)
    static func + (x: Wide, y: Wide) -> Wide {
        var sum = x, carry: UInt = 0
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
        var difference = x, borrow: UInt = 0
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
}

/// Four limbs in registers: an element of Fp of class 7 at most.
struct Narrow {
    private var a: UInt, b: UInt, c: UInt, d: UInt

    /// The four limbs at p.
    @inline(__always)
    init(_ p: ConstLimbs) { (a, b, c, d) = (p[0], p[1], p[2], p[3]) }

    @inline(__always)
    init(_ a: UInt, _ b: UInt, _ c: UInt, _ d: UInt) { (self.a, self.b, self.c, self.d) = (a, b, c, d) }

    @inline(__always)
    func store(_ r: Limbs) { (r[0], r[1], r[2], r[3]) = (a, b, c, d) }

    @inline(__always)
    static func + (x: Narrow, y: Narrow) -> Narrow {
        var sum = x, carry: UInt = 0
        sum.a = addWithCarry(x.a, y.a, &carry)
        sum.b = addWithCarry(x.b, y.b, &carry)
        sum.c = addWithCarry(x.c, y.c, &carry)
        sum.d = addWithCarry(x.d, y.d, &carry)
        return sum
    }

    @inline(__always)
    static func - (x: Narrow, y: Narrow) -> Narrow {
        var difference = x, borrow: UInt = 0
        difference.a = subWithBorrow(x.a, y.a, &borrow)
        difference.b = subWithBorrow(x.b, y.b, &borrow)
        difference.c = subWithBorrow(x.c, y.c, &borrow)
        difference.d = subWithBorrow(x.d, y.d, &borrow)
        return difference
    }

    /// The value v made normal: v - q p with q = floor(v_3 m / 2^124), where v_3 and p_3 are the top limbs and
    /// m = floor(2^124/(p_3 + 1)).
    ///
    /// v_3 m / 2^124 is never above v/p and less than 2^-57.6 below it, so that what is left is not negative and below
    /// p (1 + 2^-57.6) < p + 2^196. 5 products of limbs.
    @inline(__always)
    var normal: Narrow {
        let quotient = d.multipliedFullWidth(by: UInt(BN_QUOTIENT_FACTOR)).high &>> 60
        let p: ConstLimbs = bn_p()
        var multiple = self, carry: UInt = 0
        multiple.a = mulAdd(p[0], quotient, 0, &carry)
        multiple.b = mulAdd(p[1], quotient, 0, &carry)
        multiple.c = mulAdd(p[2], quotient, 0, &carry)
        multiple.d = mulAdd(p[3], quotient, 0, &carry)
        return self - multiple
    }
}

import CBN254CX
import CGMP

/// Fp in Montgomery form with radix 2^320: a is held as a 2^320 mod p in four limbs.
///
/// **Bounds.** A value "of class c" is below c p (1 + 2^-57); "normal" is class 1, precisely below p + 2^196. Stored
/// elements are normal; sums and differences inside a formula may be of a higher class as long as they fit 256 bits
/// (class 7: 2^256 = 7.11 p). An eight-limb product "of class c" is below c p (p + 2^199); 512 bits hold class 50.
/// 2^199 leaves room for the excess of normal values: (p + 2^196)^2 < p (p + 2^199). A reduction of a product up to
/// class 50 is normal without a conditional subtraction (see `reduce`), so the tower adds and subtracts products and
/// reduces once for each component of the result (lazy reduction: Aranha, Karabina, Longa, Gebotys, López, "Faster
/// explicit formulas for computing pairings over ordinary curves", EUROCRYPT 2011, section 3).
///
/// Only `canonical` yields the one representative below p, for comparison and encoding.
///
/// Every function is constant time unless its name ends in `Vartime`. A result may lie where an operand lies; scratch
/// (`s`, the last parameter) may not overlap either.
package enum Fp {
    /// Limbs of an element.
    package static var count: Int { 4 }
    /// Limbs of scratch that `mul` and `sqr` use.
    package static var scratch: Int { 8 }

    @inline(__always) static var p: ConstLimbs { bn_p() }

    /// w = x y, eight limbs. Class: the product of the classes, at most 50. 1 mpn_sec_mul.
    @inline(__always)
    static func mulWide(_ w: Limbs, _ x: ConstLimbs, _ y: ConstLimbs) { __gmpn_sec_mul(w, x, 4, y, 4, nil) }

    /// w = x^2, eight limbs. Class: the square of the class, at most 50. 1 mpn_sec_sqr.
    @inline(__always)
    static func sqrWide(_ w: Limbs, _ x: ConstLimbs) { __gmpn_sec_sqr(w, x, 4, nil) }

    /// r = t / 2^320 mod p for t of eight limbs, which are destroyed and must not overlap r. Normal for every t.
    ///
    /// Montgomery reduction by five limbs (Montgomery, "Modular multiplication without trial division", 1985): with
    /// t < 2^512 the result is below 2^512/2^320 + p < p + 2^192. The four first carries wait in r and are added at
    /// once. 5 mpn_addmul_1, 1 mpn_add_n.
    @inline(__always)
    static func reduce(_ r: Limbs, _ t: Limbs) {
        let factor = UInt(BN_MONTGOMERY_FACTOR)
        r[0] = __gmpn_addmul_1(t, p, 4, t[0] &* factor)
        r[1] = __gmpn_addmul_1(t + 1, p, 4, t[1] &* factor)
        r[2] = __gmpn_addmul_1(t + 2, p, 4, t[2] &* factor)
        r[3] = __gmpn_addmul_1(t + 3, p, 4, t[3] &* factor)
        let carry = __gmpn_add_n(t + 4, t + 4, r, 4)
        let top = __gmpn_addmul_1(t + 4, p, 4, t[4] &* factor)
        r[0] = t[5]
        r[1] = t[6]
        r[2] = t[7]
        r[3] = carry &+ top
    }

    /// r = x y; the classes multiply to at most 50. 1 mpn_sec_mul, 1 reduction.
    @inline(__always)
    package static func mul(_ r: Limbs, _ x: ConstLimbs, _ y: ConstLimbs, _ s: Limbs) {
        mulWide(s, x, y)
        reduce(r, s)
    }

    /// r = x^2, x of class 7 at most. 1 mpn_sec_sqr, 1 reduction.
    @inline(__always)
    package static func sqr(_ r: Limbs, _ x: ConstLimbs, _ s: Limbs) {
        sqrWide(s, x)
        reduce(r, s)
    }

    /// Makes a value v of class 7 at most normal: subtracts q p with q = floor(v_3 m / 2^124), where v_3 and p_3 are the
    /// top limbs and m = floor(2^124/(p_3 + 1)).
    ///
    /// v_3 m / 2^124 is never above v/p and less than 2^-57.6 below it, so that what is left is not negative and below
    /// p (1 + 2^-57.6) < p + 2^196. 1 mpn_submul_1.
    @inline(__always)
    static func normalise(_ r: Limbs) {
        let quotient = r[3].multipliedFullWidth(by: UInt(BN_QUOTIENT_FACTOR)).high &>> 60
        _ = __gmpn_submul_1(r, p, 4, quotient)
    }

    /// Makes n values that lie side by side normal, each of class 7 at most.
    @inline(__always)
    static func normalise(_ r: Limbs, count n: Int) {
        var i = 0
        while i < n {
            normalise(r + 4 &* i)
            i &+= 1
        }
    }

    /// r = a + b.
    @inline(__always)
    package static func add(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs) {
        addLimbs(r, a, b, 4)
        normalise(r)
    }

    /// r = a - b, as a + 2p - b. Scratch: 4 limbs.
    @inline(__always)
    package static func sub(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ s: Limbs) {
        addLimbs(s, a, bn_two_p_vector(), 4)
        subLimbs(r, s, b, 4)
        normalise(r)
    }

    /// r = -a, as 2p - a.
    @inline(__always)
    package static func neg(_ r: Limbs, _ a: ConstLimbs) {
        subLimbs(r, bn_two_p_vector(), a, 4)
        normalise(r)
    }

    /// r = a mod p in 0..<p, a normal.
    @inline(__always)
    static func canonical(_ r: Limbs, _ a: ConstLimbs) {
        let borrow = __gmpn_sub_n(r, a, p, 4)
        _ = __gmpn_cnd_add_n(borrow, r, r, p, 4)
    }

    /// All ones when a is zero, else zero. Scratch: 4 limbs.
    @inline(__always)
    package static func zeroMask(_ a: ConstLimbs, _ s: Limbs) -> UInt {
        canonical(s, a)
        return BN254CX.zeroMask(s, 4)
    }
}

// Integers in and out.
extension Fp {
    /// r = the Montgomery form of the integer a < 2^256.
    package static func fromInteger(_ r: Limbs, _ a: ConstLimbs, _ s: Limbs) {
        mul(r, a, bn_radix_squared(), s)
    }

    /// r = the integer 0..<p that a stands for. Scratch: 8 limbs.
    package static func toInteger(_ r: Limbs, _ a: ConstLimbs, _ s: Limbs) {
        copyLimbs(s, a, 4)
        zeroLimbs(s + 4, 4)
        reduce(r, s)
        canonical(r, r)
    }

    /// r = 32 big-endian bytes. All ones when they are below p, else zero and r is of no use. Scratch: 8 limbs.
    package static func decode(_ r: Limbs, _ bytes: UnsafePointer<UInt8>, _ s: Limbs) -> UInt {
        limbsFromBytes(r, bytes)
        let isBelow = 0 &- __gmpn_sub_n(s, r, p, 4)
        fromInteger(r, r, s)
        return isBelow
    }

    /// 32 big-endian bytes of a. Scratch: 12 limbs.
    package static func encode(_ bytes: UnsafeMutablePointer<UInt8>, _ a: ConstLimbs, _ s: Limbs) {
        toInteger(s, a, s + 4)
        bytesFromLimbs(bytes, s)
    }

    /// r = 1.
    package static func setOne(_ r: Limbs) { copyLimbs(r, bn_one(), 4) }
}

import CBN254CX

/// A limb as in GMP: 64 bits of a number, also on processors with shorter words.
#if arch(wasm32)
    package typealias Limb = UInt64
    typealias SignedLimb = Int64
#else
    package typealias Limb = UInt
    typealias SignedLimb = Int
#endif

/// The address of the limbs of a number, the lowest limb first. The functions work on memory that their callers lend:
/// see `withArena`.
package typealias Limbs = UnsafeMutablePointer<Limb>
/// Limbs that are only read.
package typealias ConstLimbs = UnsafePointer<Limb>

/// Sets n limbs that held secrets to zero, in a way that the compiler does not remove.
@inline(__always)
package func wipe(_ r: Limbs, _ n: Int) { bn_wipe(r, UInt(bitPattern: n &* 8)) }

/// Returns a + b + carry without its 65th bit, which replaces `carry`.
///
/// The overflow flags are read as bytes, without a conditional expression, so that the compiler makes no branch and the
/// chain becomes add, adc, adc, ... For the few limbs of a formula this is faster than a call of `mpn_add_n`, which
/// takes 1.5 to 1.9 ns.
@inline(__always)
func addWithCarry(_ a: Limb, _ b: Limb, _ carry: inout Limb) -> Limb {
    let (sum, first) = a.addingReportingOverflow(b)
    let (result, second) = sum.addingReportingOverflow(carry)
    carry = limb(first) | limb(second)
    return result
}

/// Returns a - b - borrow modulo 2^64. `borrow` becomes 1 if the difference is negative, otherwise 0.
@inline(__always)
func subWithBorrow(_ a: Limb, _ b: Limb, _ borrow: inout Limb) -> Limb {
    let (difference, first) = a.subtractingReportingOverflow(b)
    let (result, second) = difference.subtractingReportingOverflow(borrow)
    borrow = limb(first) | limb(second)
    return result
}

/// Returns the lower 64 bits of a * b + t + carry. The upper 64 bits replace `carry`.
@inline(__always)
func mulAdd(_ a: Limb, _ b: Limb, _ t: Limb, _ carry: inout Limb) -> Limb {
    #if arch(wasm32)
        return mulAddByHalves(a, b, t, &carry)
    #else
        let value = UInt128(a) &* UInt128(b) &+ UInt128(t) &+ UInt128(carry)
        carry = Limb(truncatingIfNeeded: value &>> 64)
        return Limb(truncatingIfNeeded: value)
    #endif
}

/// Computes the same as ``mulAdd(_:_:_:_:)`` from four products of 32 by 32 bits. WebAssembly has no larger product: for
/// a `UInt128` LLVM calls a function that returns the result in memory. No sum here overflows.
@inline(__always)
package func mulAddByHalves(_ a: Limb, _ b: Limb, _ t: Limb, _ carry: inout Limb) -> Limb {
    let half: Limb = 0xffff_ffff
    let (a0, a1) = (a & half, a &>> 32)
    let (b0, b1) = (b & half, b &>> 32)
    let low = a0 &* b0 &+ (t & half) &+ (carry & half)
    let middle = a1 &* b0 &+ (t &>> 32) &+ (low &>> 32)
    let other = a0 &* b1 &+ (carry &>> 32) &+ (middle & half)
    carry = a1 &* b1 &+ (middle &>> 32) &+ (other &>> 32)
    return other &<< 32 | low & half
}

/// 1 for true, 0 for false, without a conditional expression.
@inline(__always)
func limb(_ flag: Bool) -> Limb { Limb(unsafeBitCast(flag, to: UInt8.self)) }

/// r = a + b over n limbs, n = 4 or a multiple of 8. The highest limb must not overflow. Several elements may lie one
/// after another. No carry goes from one element to the next, because each sum is below 2^256; so every eight limbs are
/// added in a carry chain of their own.
@inline(__always)
func addLimbs(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ n: Int) {
    var start = 0
    while start < n {
        var carry: Limb = 0
        var i = start
        while i < start &+ min(n, 8) {
            r[i] = addWithCarry(a[i], b[i], &carry)
            i &+= 1
        }
        start &+= 8
    }
}

/// r = a - b over n limbs, n = 4 or a multiple of 8. No element of b may be larger than the element of a at the same
/// place.
@inline(__always)
func subLimbs(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ n: Int) {
    var start = 0
    while start < n {
        var borrow: Limb = 0
        var i = start
        while i < start &+ min(n, 8) {
            r[i] = subWithBorrow(a[i], b[i], &borrow)
            i &+= 1
        }
        start &+= 8
    }
}

/// r = a * k over n limbs, n = 4 or a multiple of 8. No element of the result may overflow.
@inline(__always)
func scaleLimbs(_ r: Limbs, _ a: ConstLimbs, _ n: Int, _ k: Limb) {
    var start = 0
    while start < n {
        var carry: Limb = 0
        var i = start
        while i < start &+ min(n, 8) {
            r[i] = mulAdd(a[i], k, 0, &carry)
            i &+= 1
        }
        start &+= 8
    }
}

@inline(__always)
func copyLimbs(_ r: Limbs, _ a: ConstLimbs, _ n: Int) {
    var i = 0
    while i < n {
        r[i] = a[i]
        i &+= 1
    }
}

@inline(__always)
func zeroLimbs(_ r: Limbs, _ n: Int) {
    var i = 0
    while i < n {
        r[i] = 0
        i &+= 1
    }
}

/// All ones if every limb is zero, else zero. Constant time.
@inline(__always)
func zeroMask(_ a: ConstLimbs, _ n: Int) -> Limb {
    var bits: Limb = 0
    var i = 0
    while i < n {
        bits |= a[i]
        i &+= 1
    }
    return ~nonZeroMask(bits)
}

/// All ones if `bits` is not zero, else zero. Constant time.
@inline(__always)
func nonZeroMask(_ bits: Limb) -> Limb { 0 &- ((bits | (0 &- bits)) &>> 63) }

/// Returns the mask in a way that hides its origin from the compiler. If the compiler knows that a mask has only two
/// values, it may make a branch of the selection, as it once did.
@inline(never) @_optimize(none)
private func opaque(_ mask: Limb) -> Limb { mask }

/// r = a if the mask is all ones; r stays if it is zero. Constant time.
@inline(__always)
func selectLimbs(_ r: Limbs, _ a: ConstLimbs, _ n: Int, mask: Limb) {
    let mask = opaque(mask)
    var i = 0
    while i < n {
        r[i] ^= (r[i] ^ a[i]) & mask
        i &+= 1
    }
}

/// Converts 32 big-endian bytes to four limbs.
func limbsFromBytes(_ r: Limbs, _ bytes: UnsafePointer<UInt8>) {
    var i = 0
    while i < 4 {
        var limb: Limb = 0
        var j = 0
        while j < 8 {
            limb = limb &<< 8 | Limb(bytes[(3 &- i) &* 8 &+ j])
            j &+= 1
        }
        r[i] = limb
        i &+= 1
    }
}

/// Converts four limbs to 32 big-endian bytes.
func bytesFromLimbs(_ bytes: UnsafeMutablePointer<UInt8>, _ a: ConstLimbs) {
    var i = 0
    while i < 32 {
        bytes[31 &- i] = UInt8(truncatingIfNeeded: a[i &>> 3] &>> Limb((i & 7) &* 8))
        i &+= 1
    }
}

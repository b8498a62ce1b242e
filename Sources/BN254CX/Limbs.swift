import CBN254CX

/// 64 bits of a number, the limb of GMP, also where the processor's own words are shorter.
#if arch(wasm32)
    package typealias Limb = UInt64
    typealias SignedLimb = Int64
#else
    package typealias Limb = UInt
    typealias SignedLimb = Int
#endif

/// Little-endian limbs. The engine works on memory that its callers lend: see `withArena`.
package typealias Limbs = UnsafeMutablePointer<Limb>
/// Limbs that are only read.
package typealias ConstLimbs = UnsafePointer<Limb>

/// Zeros n limbs that held secrets; the compiler does not leave it out.
@inline(__always)
package func wipe(_ r: Limbs, _ n: Int) { bn_wipe(r, UInt(bitPattern: n &* 8)) }

/// a + b + carry; the new carry, 0 or 1, replaces the old one.
///
/// The overflow flags are read as bytes: no choice is written, so that no branch can be compiled, and the chain becomes
/// add, adc, adc, ... For the few limbs of a formula that is faster than a call of `mpn_add_n` (1.5 to 1.9 ns each).
@inline(__always)
func addWithCarry(_ a: Limb, _ b: Limb, _ carry: inout Limb) -> Limb {
    let (sum, first) = a.addingReportingOverflow(b)
    let (result, second) = sum.addingReportingOverflow(carry)
    carry = limb(first) | limb(second)
    return result
}

/// a - b - borrow; the new borrow, 0 or 1, replaces the old one.
@inline(__always)
func subWithBorrow(_ a: Limb, _ b: Limb, _ borrow: inout Limb) -> Limb {
    let (difference, first) = a.subtractingReportingOverflow(b)
    let (result, second) = difference.subtractingReportingOverflow(borrow)
    borrow = limb(first) | limb(second)
    return result
}

/// a b + t + carry; the upper half replaces the carry.
@inline(__always)
func mulAdd(_ a: Limb, _ b: Limb, _ t: Limb, _ carry: inout Limb) -> Limb {
    let value = UInt128(a) &* UInt128(b) &+ UInt128(t) &+ UInt128(carry)
    carry = Limb(truncatingIfNeeded: value &>> 64)
    return Limb(truncatingIfNeeded: value)
}

/// 1 for true, 0 for false, without a choice.
@inline(__always)
func limb(_ flag: Bool) -> Limb { Limb(unsafeBitCast(flag, to: UInt8.self)) }

/// r = a + b over n limbs, n = 4 or a multiple of 8. The top must not overflow; components that lie side by side do not
/// carry into each other because every one of them has room at its top, so that each eight limbs are a chain of their
/// own.
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

/// r = a - b over n limbs, n = 4 or a multiple of 8, every component of a at least that of b.
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

/// r = a k over n limbs, n = 4 or a multiple of 8; no component overflows its place.
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

/// All ones when every limb is zero, else zero. Constant time.
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

/// All ones when `bits` is not zero, else zero. Constant time.
@inline(__always)
func nonZeroMask(_ bits: Limb) -> Limb { 0 &- ((bits | (0 &- bits)) &>> 63) }

/// The mask, in a way that the compiler cannot see through: it knows that a mask has two values, and has turned a
/// selection by one into a branch.
@inline(never) @_optimize(none)
private func opaque(_ mask: Limb) -> Limb { mask }

/// r = a where the mask is all ones, r unchanged where it is zero. Constant time.
@inline(__always)
func selectLimbs(_ r: Limbs, _ a: ConstLimbs, _ n: Int, mask: Limb) {
    let mask = opaque(mask)
    var i = 0
    while i < n {
        r[i] ^= (r[i] ^ a[i]) & mask
        i &+= 1
    }
}

/// r = 32 big-endian bytes as four limbs.
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

/// 32 big-endian bytes of four limbs.
func bytesFromLimbs(_ bytes: UnsafeMutablePointer<UInt8>, _ a: ConstLimbs) {
    var i = 0
    while i < 32 {
        bytes[31 &- i] = UInt8(truncatingIfNeeded: a[i &>> 3] &>> Limb((i & 7) &* 8))
        i &+= 1
    }
}

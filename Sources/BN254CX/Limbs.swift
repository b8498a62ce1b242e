import CGMP

/// Little-endian 64-bit limbs. The engine works on memory that its callers lend: see `withArena`.
package typealias Limbs = UnsafeMutablePointer<UInt>
/// Limbs that are only read.
package typealias ConstLimbs = UnsafePointer<UInt>

/// r = a + b over n limbs. The top must not overflow; components that lie side by side do not carry into each other
/// because every one of them has room at its top.
@inline(__always)
func addLimbs(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ n: Int) { _ = __gmpn_add_n(r, a, b, n) }

/// r = a - b over n limbs, every component of a at least that of b.
@inline(__always)
func subLimbs(_ r: Limbs, _ a: ConstLimbs, _ b: ConstLimbs, _ n: Int) { _ = __gmpn_sub_n(r, a, b, n) }

/// r = a k over n limbs.
@inline(__always)
func scaleLimbs(_ r: Limbs, _ a: ConstLimbs, _ n: Int, _ k: UInt) { _ = __gmpn_mul_1(r, a, n, k) }

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
func zeroMask(_ a: ConstLimbs, _ n: Int) -> UInt {
    var bits: UInt = 0
    var i = 0
    while i < n {
        bits |= a[i]
        i &+= 1
    }
    return ~nonZeroMask(bits)
}

/// All ones when `bits` is not zero, else zero. Constant time.
@inline(__always)
func nonZeroMask(_ bits: UInt) -> UInt { 0 &- ((bits | (0 &- bits)) &>> 63) }

/// r = a where the mask is all ones, r unchanged where it is zero. Constant time.
@inline(__always)
func selectLimbs(_ r: Limbs, _ a: ConstLimbs, _ n: Int, mask: UInt) {
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
        var limb: UInt = 0
        var j = 0
        while j < 8 {
            limb = limb &<< 8 | UInt(bytes[(3 &- i) &* 8 &+ j])
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
        bytes[31 &- i] = UInt8(truncatingIfNeeded: a[i &>> 3] &>> UInt((i & 7) &* 8))
        i &+= 1
    }
}

import CBN254CX

// Inversion by division steps (Bernstein and Yang, "Fast constant-time gcd computation and modular inversion", eprint
// 2019/266), in the form with half-integer delta and signed limbs of 62 bits.
//
// The computation starts with f = p and g = a; after 590 steps f is 1 or -1 and g is 0. This number of steps suffices
// for 256 bits (section 11 of the paper, with the hull computed for delta = 1/2). The next 59 steps depend only on the
// lowest limbs of f and g. Each round collects 59 steps in a matrix of four numbers, and then applies the matrix to all
// limbs of f and g and, modulo p, to d and e. d starts as 0 and e as a constant e0, so that d a = f e0 and e a = g e0
// always hold. There are ten rounds. No step branches on a value.
extension Fp {
    /// r = 1/a, and 0 for a = 0; constant time. Scratch: `powerScratch`. Takes as long as about 200 products of GMP.
    package static func inverse(_ r: Limbs, _ a: ConstLimbs, _ s: Limbs) {
        let f = s, g = s + 5, d = s + 10, e = s + 15, t = s + 20
        SignedLimbs.split(f, p)
        canonical(t, a)
        SignedLimbs.split(g, t)
        zeroLimbs(d, 5)
        // e starts as 2^640. `a` is the Montgomery form a' 2^320 of a number a', and the result 2^640/(a' 2^320) =
        // 2^320/a' is the Montgomery form of 1/a'.
        SignedLimbs.split(e, bn_radix_squared())
        var zeta: SignedLimb = -1
        for _ in 0..<10 {
            let matrix = DivisionSteps(&zeta, f[0], g[0])
            matrix.apply(f, g)
            matrix.applyModP(d, e)
        }
        SignedLimbs.join(r, d, negate: SignedLimb(bitPattern: f[4]) &>> 63)
    }
}

/// A number in five limbs of 62 bits, each in a word of 64 bits. The highest limb is signed.
private enum SignedLimbs {
    static var mask: Limb { Limb.max &>> 2 }

    /// r = the number `a`, which has four limbs of 64 bits.
    @inline(__always)
    static func split(_ r: Limbs, _ a: ConstLimbs) {
        r[0] = a[0] & mask
        r[1] = (a[0] &>> 62 | a[1] &<< 2) & mask
        r[2] = (a[1] &>> 60 | a[2] &<< 4) & mask
        r[3] = (a[2] &>> 58 | a[3] &<< 6) & mask
        r[4] = a[3] &>> 56
    }

    /// r = a mod p in 0..<p, or -a mod p if `negate` is -1. a is in -2p..<p, r has four limbs of 64 bits.
    @inline(__always)
    static func join(_ r: Limbs, _ a: Limbs, negate: SignedLimb) {
        addP(a, times: SignedLimb(bitPattern: a[4]) &>> 63)
        for i in 0..<5 { a[i] = Limb(bitPattern: (SignedLimb(bitPattern: a[i]) ^ negate) &- negate) }
        carry(a)
        addP(a, times: SignedLimb(bitPattern: a[4]) &>> 63)
        r[0] = a[0] | a[1] &<< 62
        r[1] = a[1] &>> 2 | a[2] &<< 60
        r[2] = a[2] &>> 4 | a[3] &<< 58
        r[3] = a[3] &>> 6 | a[4] &<< 56
    }

    /// Adds p if `times` is -1.
    @inline(__always)
    private static func addP(_ a: Limbs, times mask: SignedLimb) {
        let p: ConstLimbs = bn_p_signed()
        for i in 0..<5 { a[i] = a[i] &+ p[i] & Limb(bitPattern: mask) }
        carry(a)
    }

    /// Brings the four lower limbs into the range 0..<2^62, with carries into the next limb.
    @inline(__always)
    private static func carry(_ a: Limbs) {
        for i in 0..<4 {
            a[i &+ 1] = a[i &+ 1] &+ Limb(bitPattern: SignedLimb(bitPattern: a[i]) &>> 62)
            a[i] &= mask
        }
    }
}

/// The matrix (u v; q r) of 59 division steps, multiplied by 2^62: (u f + v g, q f + r g) is 2^62 times the values of f
/// and g after these steps.
private struct DivisionSteps {
    let u: SignedLimb, v: SignedLimb, q: SignedLimb, r: SignedLimb

    /// Computes the matrix from `f0` and `g0`, the lowest limbs of f and g. `zeta` is -(delta + 1/2) and is updated.
    @inline(__always)
    init(_ zeta: inout SignedLimb, _ f0: Limb, _ g0: Limb) {
        var u: Limb = 8, v: Limb = 0, q: Limb = 0, r: Limb = 8, f = f0, g = g0
        for _ in 0..<59 {
            // One step: if delta > 0 and g is odd, (f, g) becomes (g, -f). Then f is added to g if g is odd, and g is
            // halved.
            var swap = Limb(bitPattern: zeta &>> 63)
            let odd = 0 &- (g & 1)
            g = g &+ ((f ^ swap) &- swap) & odd
            q = q &+ ((u ^ swap) &- swap) & odd
            r = r &+ ((v ^ swap) &- swap) & odd
            swap &= odd
            zeta = (zeta ^ SignedLimb(bitPattern: swap)) &- 1
            f = f &+ g & swap
            u = u &+ q & swap
            v = v &+ r & swap
            g &>>= 1
            u &<<= 1
            v &<<= 1
        }
        (self.u, self.v) = (SignedLimb(bitPattern: u), SignedLimb(bitPattern: v))
        (self.q, self.r) = (SignedLimb(bitPattern: q), SignedLimb(bitPattern: r))
    }

    /// Multiplies the vector (f, g) by the matrix and divides it by 2^62. The division is exact.
    @inline(__always)
    func apply(_ f: Limbs, _ g: Limbs) {
        var cf = DivisionSteps.combine(u, f[0], v, g[0]) &>> 62
        var cg = DivisionSteps.combine(q, f[0], r, g[0]) &>> 62
        for i in 1..<5 {
            let fi = f[i], gi = g[i]
            cf = cf &+ DivisionSteps.combine(u, fi, v, gi)
            cg = cg &+ DivisionSteps.combine(q, fi, r, gi)
            f[i &- 1] = Limb(truncatingIfNeeded: cf) & SignedLimbs.mask
            g[i &- 1] = Limb(truncatingIfNeeded: cg) & SignedLimbs.mask
            cf = cf &>> 62
            cg = cg &>> 62
        }
        f[4] = Limb(truncatingIfNeeded: cf)
        g[4] = Limb(truncatingIfNeeded: cg)
    }

    /// Multiplies the vector (d, e) by the matrix and divides it by 2^62, modulo p. Multiples of p are added before the
    /// division, so that the lowest 62 bits are zero. Values in -2p..<p stay in this range.
    @inline(__always)
    func applyModP(_ d: Limbs, _ e: Limbs) {
        let p: ConstLimbs = bn_p_signed(), inverse = 0 &- Limb(BN_MONTGOMERY_FACTOR)
        let signD = SignedLimb(bitPattern: d[4]) &>> 63, signE = SignedLimb(bitPattern: e[4]) &>> 63
        var md = Limb(bitPattern: (u & signD) &+ (v & signE)), me = Limb(bitPattern: (q & signD) &+ (r & signE))
        var cd = DivisionSteps.combine(u, d[0], v, e[0]), ce = DivisionSteps.combine(q, d[0], r, e[0])
        md = md &- (inverse &* Limb(truncatingIfNeeded: cd) &+ md) & SignedLimbs.mask
        me = me &- (inverse &* Limb(truncatingIfNeeded: ce) &+ me) & SignedLimbs.mask
        let timesD = SignedLimb(bitPattern: md), timesE = SignedLimb(bitPattern: me)
        cd = (cd &+ DivisionSteps.product(timesD, p[0])) &>> 62
        ce = (ce &+ DivisionSteps.product(timesE, p[0])) &>> 62
        for i in 1..<5 {
            let di = d[i], ei = e[i]
            cd = cd &+ DivisionSteps.combine(u, di, v, ei) &+ DivisionSteps.product(timesD, p[i])
            ce = ce &+ DivisionSteps.combine(q, di, r, ei) &+ DivisionSteps.product(timesE, p[i])
            d[i &- 1] = Limb(truncatingIfNeeded: cd) & SignedLimbs.mask
            e[i &- 1] = Limb(truncatingIfNeeded: ce) & SignedLimbs.mask
            cd = cd &>> 62
            ce = ce &>> 62
        }
        d[4] = Limb(truncatingIfNeeded: cd)
        e[4] = Limb(truncatingIfNeeded: ce)
    }

    @inline(__always)
    private static func product(_ a: SignedLimb, _ b: Limb) -> Int128 { Int128(a) &* Int128(SignedLimb(bitPattern: b)) }

    @inline(__always)
    private static func combine(_ a: SignedLimb, _ x: Limb, _ b: SignedLimb, _ y: Limb) -> Int128 {
        product(a, x) &+ product(b, y)
    }
}

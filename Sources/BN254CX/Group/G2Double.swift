/// The values from which both a doubling on the twist and the tangent of the Miller loop are made: five elements of
/// Fp2 in 40 limbs of scratch.
struct G2DoublingTerms {
    /// Limbs of the terms.
    static var count: Int { 40 }
    /// Limbs of scratch that `compute` and `finish` use.
    static var scratch: Int { 3 &* 16 &+ 16 }

    let limbs: Limbs

    /// Y^2.
    @inline(__always) var yy: Limbs { limbs }
    /// B = b3 Z^2.
    @inline(__always) var b: Limbs { limbs + 8 }
    /// C = Y^2 - 3 b3 Z^2.
    @inline(__always) var c: Limbs { limbs + 16 }
    /// YZ.
    @inline(__always) var yz: Limbs { limbs + 24 }
    /// 2XY.
    @inline(__always) var xy: Limbs { limbs + 32 }

    /// The terms of p. 2 squarings and 2 products in Fp2, 10 reductions.
    @inline(__always)
    func compute(_ p: G2, _ s: Limbs) {
        let w = s, v = s + 16, u = s + 32, t = s + 48
        Fp2.sqrWide(w, p.y, t)  // 6, 2
        Fp2.sqrWideTight(v, p.z, t)  // 2, 2
        G2.mulByB3Wide(u, v, class: 2, times: 9)  // 3 b3 Z^2: 36
        copyLimbs(t, w, 16)
        G2.subWide(t, u, class: 36)
        Fp2.reduce(c, t)  // 42
        G2.mulByB3Wide(u, v, class: 2, times: 3)
        Fp2.reduce(b, u)  // 12
        Fp2.reduce(yy, w)
        Fp2.mulWide(w, p.y, p.z, class: 1, t)
        Fp2.reduce(yz, w)
        Fp2.mulWide(w, p.x, p.y, class: 1, t)
        addLimbs(w, w, w, 16)
        Fp2.reduce(xy, w)  // 4
    }

    /// r = 2p: X3 = 2XY C, Y3 = C (C + 4B) + 8 Y^2 B, Z3 = 8 Y^2 YZ (eprint 2015/1060, algorithm 9, rearranged).
    /// 4 products in Fp2, 6 reductions.
    @inline(__always)
    func finish(_ r: G2, _ s: Limbs) {
        let w = s, v = s + 16, sum = s + 32, t = s + 48
        Fp2.mulWide(w, xy, c, class: 1, t)
        Fp2.reduce(r.x, w)
        Fp2.mulWide(w, yy, yz, class: 1, t)
        scaleLimbs(w, w, 16, 8)
        Fp2.reduce(r.z, w)  // 16
        scaleLimbs(sum, b, 8, 4)
        addLimbs(sum, sum, c, 8)
        Fp.normalise(sum, count: 2)
        Fp2.mulWide(w, c, sum, class: 1, t)
        Fp2.mulWide(v, yy, b, class: 1, t)
        scaleLimbs(v, v, 16, 8)
        addLimbs(w, w, v, 16)
        Fp2.reduce(r.y, w)  // 2 + 16
    }
}

extension G2 {
    /// self = 2p. 2 squarings and 6 products in Fp2, 16 reductions.
    @inline(never)
    package func double(_ p: G2, _ s: Limbs) {
        let terms = G2DoublingTerms(limbs: s)
        terms.compute(p, s + G2DoublingTerms.count)
        terms.finish(self, s + G2DoublingTerms.count)
    }
}

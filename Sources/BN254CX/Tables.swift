import CBN254CX

// The constants of the curve in the types of this module. Nothing may write to them.
extension Fp {
    @inline(__always) static var p: ConstLimbs { bn_p() }
    /// The number 1.
    @inline(__always) static var one: ConstLimbs { bn_one() }
    /// The constant b of the curve, 2.
    @inline(__always) static var two: ConstLimbs { bn_two() }

    /// The factor (1 + i)^(n (p^2 - 1)/6) by which the map x -> x^(p^2) multiplies w^n, for n in 0..<6.
    @inline(__always)
    static func frobenius2(_ n: Int) -> ConstLimbs { bn_frobenius_2() + 4 &* n }
}

extension Fp2 {
    @inline(__always)
    init(constant: ConstLimbs) { self.init(Limbs(mutating: constant)) }

    /// The constant b' of the twist, 1 - i.
    @inline(__always) static var twistB: Fp2 { Fp2(constant: bn_twist_b()) }

    /// The factor (1 + i)^(n (p - 1)/6) by which the map x -> x^p multiplies w^n, for n in 0..<6.
    @inline(__always)
    static func frobenius(_ n: Int) -> Fp2 { Fp2(constant: bn_frobenius_1() + 8 &* n) }

    /// The factor (1 + i)^(n (p^3 - 1)/6) by which the map x -> x^(p^3) multiplies w^n, for n in 0..<6.
    @inline(__always)
    static func frobenius3(_ n: Int) -> Fp2 { Fp2(constant: bn_frobenius_3() + 8 &* n) }
}

extension G1 {
    /// self = the generator of G1, (-1, 1).
    package func setGenerator() { copyLimbs(limbs, bn_g1_generator(), G1.count) }
}

extension G2 {
    /// self = the generator of G2.
    package func setGenerator() { copyLimbs(limbs, bn_g2_generator(), G2.count) }
}

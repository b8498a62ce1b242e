import BN254CX

/// The operations of a field of the tower. Each result gets new limbs of the workspace.
struct Ring {
    typealias Binary = (Limbs, Limbs, Limbs, Limbs) -> Void
    let name: String, components: Int
    let multiply: Binary
    let invert: (Limbs, Limbs, Limbs) -> Void

    static var fp: Ring {
        Ring(name: "Fp", components: 1, multiply: { Fp.mul($0, $1, $2, $3) }, invert: { Fp.inverse($0, $1, $2) })
    }
    static var fp2: Ring {
        Ring(
            name: "Fp2", components: 2, multiply: { Fp2($0).multiply(Fp2($1), Fp2($2), $3) },
            invert: { Fp2($0).invert(Fp2($1), $2) })
    }
    static var fp6: Ring {
        Ring(
            name: "Fp6", components: 6, multiply: { Fp6($0).multiply(Fp6($1), Fp6($2), $3) },
            invert: { Fp6($0).invert(Fp6($1), $2) })
    }
    static var fp12: Ring {
        Ring(
            name: "Fp12", components: 12, multiply: { Fp12($0).multiply(Fp12($1), Fp12($2), $3) },
            invert: { Fp12($0).invert(Fp12($1), $2) })
    }

    func random(_ w: inout Workspace) -> Limbs { w.elements(components) }

    func one(_ w: inout Workspace) -> Limbs {
        let result = w.elements(components, all: 0)
        Fp.setOne(result)
        return result
    }

    func mul(_ a: Limbs, _ b: Limbs, _ w: inout Workspace) -> Limbs {
        let result = w.arena.take(4 * components)
        multiply(result, a, b, w.scratch)
        return result
    }

    func inverse(_ a: Limbs, _ w: inout Workspace) -> Limbs {
        let result = w.arena.take(4 * components)
        invert(result, a, w.scratch)
        return result
    }

    func add(_ a: Limbs, _ b: Limbs, _ w: inout Workspace) -> Limbs {
        let result = w.arena.take(4 * components)
        for i in 0..<components { Fp.add(result + 4 * i, a + 4 * i, b + 4 * i) }
        return result
    }

    func sub(_ a: Limbs, _ b: Limbs, _ w: inout Workspace) -> Limbs {
        let result = w.arena.take(4 * components)
        for i in 0..<components { Fp.sub(result + 4 * i, a + 4 * i, b + 4 * i) }
        return result
    }

    func equal(_ a: Limbs, _ b: Limbs, _ w: inout Workspace) -> Bool {
        let difference = sub(a, b, &w)
        return (0..<components).allSatisfy { Fp.zeroMask(difference + 4 * $0, w.scratch) != 0 }
    }
}

/// The common operations of G1 and G2, so that one function can test a law for both.
protocol LawPoint {
    static var count: Int { get }
    var limbs: Limbs { get }
    static func take(_ w: inout Workspace) -> Self
    func add(_ p: Self, _ q: Self, _ s: Limbs)
    func double(_ p: Self, _ s: Limbs)
    func negate(_ p: Self)
    func copy(_ p: Self)
    func setInfinity()
    func multiply(_ p: Self, by k: Scalar, bits: Int, _ s: Limbs)
    func infinityMask(_ s: Limbs) -> UInt
    func equalMask(_ q: Self, _ s: Limbs) -> UInt
}

extension G1: LawPoint {
    static func take(_ w: inout Workspace) -> G1 { w.arena.g1() }
}

extension G2: LawPoint {
    static func take(_ w: inout Workspace) -> G2 { w.arena.g2() }
}

extension Workspace {
    /// Returns the same point with Z = 1.
    mutating func affine(_ p: G1) -> G1 {
        let result = arena.g1()
        p.makeAffine(result.affine, scratch)
        Fp.setOne(result.limbs + 8)
        return result
    }

    /// Returns the same point with Z = 1.
    mutating func affine(_ q: G2) -> G2 {
        let result = arena.g2()
        q.makeAffine(result.affine, scratch)
        Fp2(result.limbs + 16).setOne()
        return result
    }
}

import BN254CX

/// Makes the values of a test: an arena for them, and random numbers that are the same in every run with the same seed.
struct Workspace {
    var arena: Arena
    private var state: UInt64

    /// Runs `body` with an arena four times as large as that of the engine, so that it has room for many values.
    static func run(seed: UInt64 = 1, _ body: (inout Workspace) throws -> Void) rethrows {
        var limbs = [UInt](repeating: 0, count: 4 * Arena.capacity)
        try limbs.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("the limbs are somewhere") }
            var workspace = Workspace(arena: Arena(base), state: seed)
            try body(&workspace)
        }
    }

    private init(arena: Arena, state: UInt64) {
        self.arena = arena
        self.state = state
    }

    /// The free limbs of the arena.
    var scratch: Limbs { arena.scratch }

    /// The next random limb (splitmix64).
    mutating func next() -> UInt {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return UInt(z ^ (z >> 31))
    }

    /// A random integer of four limbs.
    mutating func integer() -> BigInt {
        let limbs = [next(), next(), next(), next()]
        return BigInt(limbs, 4)
    }

    /// Returns `count` random normal elements of Fp, one after the other. One in four is an extreme: 0, 1, p - 1, p, or
    /// the largest normal value, p + 2^196 - 1.
    mutating func elements(_ count: Int) -> Limbs {
        let result = arena.take(4 * count)
        for i in 0..<count {
            let value = next() % 4 == 0 ? extreme() : integer().mod(Parameters.p)
            store(value, result + 4 * i)
        }
        return result
    }

    private mutating func extreme() -> BigInt {
        let p = Parameters.p
        let values: [BigInt] = [0, 1, p - 1, p, p + BigInt(2).power(196) - 1]
        return values[Int(next() % 5)]
    }

    /// Returns `count` elements of Fp, all with `value` as their representation in limbs.
    mutating func elements(_ count: Int, all value: BigInt) -> Limbs {
        let result = arena.take(4 * count)
        for i in 0..<count { store(value, result + 4 * i) }
        return result
    }

    private func store(_ value: BigInt, _ place: Limbs) {
        let limbs = value.limbs(4)
        for j in 0..<4 { place[j] = limbs[j] }
    }

    /// A random scalar of at most `bits` bits.
    mutating func scalar(bits: Int = 256) -> Scalar {
        let result = arena.scalar(), limbs = integer().mod(BigInt(2).power(bits)).limbs(4)
        for j in 0..<4 { result.limbs[j] = limbs[j] }
        return result
    }

    /// Returns the scalar `value`.
    mutating func scalar(_ value: BigInt) -> Scalar {
        let result = arena.scalar(), limbs = value.limbs(4)
        for j in 0..<4 { result.limbs[j] = limbs[j] }
        return result
    }

    /// A random point of G1.
    mutating func g1() -> G1 {
        let point = arena.g1(), k = scalar()
        point.setGenerator()
        point.multiply(point, by: k, bits: 256, scratch)
        return point
    }

    /// A random point of G2.
    mutating func g2() -> G2 {
        let point = arena.g2(), k = scalar()
        point.setGenerator()
        point.multiply(point, by: k, bits: 256, scratch)
        return point
    }

    /// Sets r to k times p by complete doublings and additions only, so that p may be any point of the twist.
    func doubleAndAdd(_ r: G2, _ p: G2, _ k: BigInt) {
        r.setInfinity()
        for index in stride(from: k.bitCount - 1, through: 0, by: -1) {
            r.double(r, scratch)
            if k.bit(index) { r.add(r, p, scratch) }
        }
    }

    /// Sets r to a^k by squarings and products only. a must be in the cyclotomic subgroup.
    func squareAndMultiply(_ r: GT, _ a: GT, _ k: BigInt) {
        r.setOne()
        for index in stride(from: k.bitCount - 1, through: 0, by: -1) {
            r.square(r, scratch)
            if k.bit(index) { r.multiply(r, a, scratch) }
        }
    }

    /// A random point of G2 with Z = 1.
    mutating func affineG2() -> G2 {
        let point = g2(), affine = arena.g2()
        point.makeAffine(affine.affine, scratch)
        Fp2(affine.limbs + 16).setOne()
        return affine
    }

    /// A random point of G1 with Z = 1.
    mutating func affineG1() -> G1 {
        let point = g1(), affine = arena.g1()
        point.makeAffine(affine.affine, scratch)
        Fp.setOne(affine.limbs + 8)
        return affine
    }

    /// Returns a random value of the pairing: a random power of the pairing of the two generators.
    mutating func gt() -> GT {
        let q = arena.g2(), p = arena.g1(), value = arena.gt()
        q.setGenerator()
        p.setGenerator()
        Pairing.pairing(value, q.affine, p.affine, scratch)
        value.power(value, by: scalar(), bits: 256, scratch)
        return value
    }
}

// Converts the engine's values to those of the textbook arithmetic in SlowField.swift, to compare them.
extension Workspace {
    func slow(_ a: ConstLimbs) -> SlowFp {
        Fp.toInteger(scratch, a, scratch + 4)
        return SlowFp(BigInt(scratch, 4))
    }

    func slow2(_ a: ConstLimbs) -> SlowFp2 { SlowFp2(slow(a), slow(a + 4)) }

    /// Converts an element of Fp12. The engine stores the coefficients of w^0, w^2, w^4 at the places 0, 1, 2, and
    /// those of w^1, w^3, w^5 at the places 3, 4, 5.
    func slow12(_ a: ConstLimbs) -> SlowFp12 { SlowFp12([0, 3, 1, 4, 2, 5].map { slow2(a + 8 * $0) }) }

    func slow(_ point: G1) -> SlowPoint<SlowFp>? {
        if point.infinityMask(scratch) != 0 { return nil }
        point.makeAffine(G1Affine(scratch), scratch + 8)
        let copy = (0..<8).map { scratch[$0] }
        return copy.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { SlowPoint(x: slow($0), y: slow($0 + 4)) }
        }
    }

    func slow(_ point: G2) -> SlowPoint<SlowFp2>? {
        if point.infinityMask(scratch) != 0 { return nil }
        point.makeAffine(G2Affine(scratch), scratch + 16)
        let copy = (0..<16).map { scratch[$0] }
        return copy.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { SlowPoint(x: slow2($0), y: slow2($0 + 8)) }
        }
    }
}

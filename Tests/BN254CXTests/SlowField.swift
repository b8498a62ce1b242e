/// An integer mod p. The fields in this file, Fp, Fp2 and Fp12, are computed as in textbooks, and the tests compare the
/// engine with them. They share no code with the engine, and use no Montgomery form, Karatsuba or lazy reduction.
struct SlowFp: Equatable {
    let value: BigInt

    static let p = Slow(Parameters.p)

    init(_ value: BigInt) { self.value = value.mod(SlowFp.p.number) }

    static func == (a: SlowFp, b: SlowFp) -> Bool { a.value == b.value }
    static func + (a: SlowFp, b: SlowFp) -> SlowFp { SlowFp(a.value + b.value) }
    static func - (a: SlowFp, b: SlowFp) -> SlowFp { SlowFp(a.value - b.value) }
    static func * (a: SlowFp, b: SlowFp) -> SlowFp { SlowFp(a.value * b.value) }
    var inverse: SlowFp { SlowFp(value.inverse(mod: SlowFp.p.number)) }
    var isZero: Bool { value == 0 }
}

/// A constant number. Threads can share it, because a `BigInt` does not change after it was made.
struct Slow: @unchecked Sendable {
    let number: BigInt
    init(_ number: BigInt) { self.number = number }
}

/// The element a + b i of Fp2, with i^2 = -1.
struct SlowFp2: Equatable {
    let a: SlowFp, b: SlowFp

    init(_ a: SlowFp, _ b: SlowFp) {
        self.a = a
        self.b = b
    }

    init(_ a: BigInt, _ b: BigInt) { self.init(SlowFp(a), SlowFp(b)) }

    static var zero: SlowFp2 { SlowFp2(0, 0) }
    static var one: SlowFp2 { SlowFp2(1, 0) }
    /// The element 1 + i, which is w^6 in Fp12.
    static var xi: SlowFp2 { SlowFp2(1, 1) }

    static func + (x: SlowFp2, y: SlowFp2) -> SlowFp2 { SlowFp2(x.a + y.a, x.b + y.b) }
    static func - (x: SlowFp2, y: SlowFp2) -> SlowFp2 { SlowFp2(x.a - y.a, x.b - y.b) }
    static func * (x: SlowFp2, y: SlowFp2) -> SlowFp2 { SlowFp2(x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a) }
    var inverse: SlowFp2 {
        let norm = (a * a + b * b).inverse
        return SlowFp2(a * norm, SlowFp(0) - b * norm)
    }
    var isZero: Bool { a.isZero && b.isZero }

    /// Returns self^e.
    func power(_ e: BigInt) -> SlowFp2 { slowPower(self, e, one: .one, *) }
}

/// The element c0 + c1 w + ... + c5 w^5 of Fp12, with coefficients in Fp2 and w^6 = 1 + i.
struct SlowFp12: Equatable {
    let c: [SlowFp2]

    init(_ c: [SlowFp2]) { self.c = c }

    static var one: SlowFp12 { SlowFp12([.one] + [SlowFp2](repeating: .zero, count: 5)) }

    /// Returns the element s w^n, whose only coefficient other than zero is s.
    static func monomial(_ s: SlowFp2, _ n: Int) -> SlowFp12 {
        SlowFp12((0..<6).map { $0 == n ? s : .zero })
    }

    static func + (x: SlowFp12, y: SlowFp12) -> SlowFp12 { SlowFp12((0..<6).map { x.c[$0] + y.c[$0] }) }
    static func - (x: SlowFp12, y: SlowFp12) -> SlowFp12 { SlowFp12((0..<6).map { x.c[$0] - y.c[$0] }) }
    static func * (x: SlowFp12, y: SlowFp12) -> SlowFp12 {
        var product = [SlowFp2](repeating: .zero, count: 11)
        for i in 0..<6 where !x.c[i].isZero {
            for j in 0..<6 where !y.c[j].isZero { product[i + j] = product[i + j] + x.c[i] * y.c[j] }
        }
        return SlowFp12((0..<6).map { $0 < 5 ? product[$0] + .xi * product[$0 + 6] : product[5] })
    }

    /// Returns self^e.
    func power(_ e: BigInt) -> SlowFp12 { slowPower(self, e, one: .one, *) }
}

/// Returns base^e by square and multiply, from the highest bit of e downwards.
func slowPower<Value>(_ base: Value, _ e: BigInt, one: Value, _ multiply: (Value, Value) -> Value) -> Value {
    var result = one
    for index in stride(from: e.bitCount - 1, through: 0, by: -1) {
        result = multiply(result, result)
        if e.bit(index) { result = multiply(result, base) }
    }
    return result
}

/// The engine's reduction of a product, step by step, but on integers of any size. Each of the five steps adds a
/// multiple of p that makes the lowest limb 0, and then drops this limb. In the first three steps it is a multiple of
/// p (-1/p mod 2^64), whose own lowest limb is -1, so that no factor must be computed.
struct SlowReduction {
    private let limb = BigInt(2).power(64)
    private let friendly: BigInt
    private let factor: BigInt

    init() {
        factor = limb - Parameters.p.inverse(mod: limb)
        friendly = Parameters.p * factor
    }

    func reduced(_ t: BigInt) -> BigInt {
        var value = t
        for _ in 0..<3 { value = (value + friendly * value.mod(limb)).quotient(limb) }
        for _ in 0..<2 { value = (value + Parameters.p * (value * factor).mod(limb)).quotient(limb) }
        return value
    }
}

/// Textbook arithmetic, with which the engine is compared: integers mod p, pairs of them, polynomials in w. It shares
/// no code with the engine, and uses no Montgomery form, no Karatsuba and no lazy reduction.
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

/// A constant number. It can be shared, because a `BigInt` does not change after it was made.
struct Slow: @unchecked Sendable {
    let number: BigInt
    init(_ number: BigInt) { self.number = number }
}

/// a + b i with i^2 = -1.
struct SlowFp2: Equatable {
    let a: SlowFp, b: SlowFp

    init(_ a: SlowFp, _ b: SlowFp) {
        self.a = a
        self.b = b
    }

    init(_ a: BigInt, _ b: BigInt) { self.init(SlowFp(a), SlowFp(b)) }

    static var zero: SlowFp2 { SlowFp2(0, 0) }
    static var one: SlowFp2 { SlowFp2(1, 0) }
    /// 1 + i = w^6.
    static var xi: SlowFp2 { SlowFp2(1, 1) }

    static func + (x: SlowFp2, y: SlowFp2) -> SlowFp2 { SlowFp2(x.a + y.a, x.b + y.b) }
    static func - (x: SlowFp2, y: SlowFp2) -> SlowFp2 { SlowFp2(x.a - y.a, x.b - y.b) }
    static func * (x: SlowFp2, y: SlowFp2) -> SlowFp2 { SlowFp2(x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a) }
    var inverse: SlowFp2 {
        let norm = (a * a + b * b).inverse
        return SlowFp2(a * norm, SlowFp(0) - b * norm)
    }
    var isZero: Bool { a.isZero && b.isZero }

    /// self^e.
    func power(_ e: BigInt) -> SlowFp2 { slowPower(self, e, one: .one, *) }
}

/// c0 + c1 w + ... + c5 w^5 over Fp2 with w^6 = 1 + i.
struct SlowFp12: Equatable {
    let c: [SlowFp2]

    init(_ c: [SlowFp2]) { self.c = c }

    static var one: SlowFp12 { SlowFp12([.one] + [SlowFp2](repeating: .zero, count: 5)) }

    /// s w^n.
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

    /// self^e.
    func power(_ e: BigInt) -> SlowFp12 { slowPower(self, e, one: .one, *) }
}

/// Square and multiply, from the top bit.
func slowPower<Value>(_ base: Value, _ e: BigInt, one: Value, _ multiply: (Value, Value) -> Value) -> Value {
    var result = one
    for index in stride(from: e.bitCount - 1, through: 0, by: -1) {
        result = multiply(result, result)
        if e.bit(index) { result = multiply(result, base) }
    }
    return result
}

/// The reduction of a product, limb by limb, on whole integers. Each step adds the multiple of p' that makes the lowest
/// limb 0, and then drops that limb. p' is p (-1/p mod 2^64) in the first three steps and p in the last two.
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

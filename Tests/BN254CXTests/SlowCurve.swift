/// A point of y^2 = x^3 + b in affine coordinates, with the group law as textbooks define it, case by case. Nil stands
/// for the point at infinity.
struct SlowPoint<Field: SlowFieldElement>: Equatable {
    let x: Field, y: Field

    static func add(_ p: SlowPoint?, _ q: SlowPoint?) -> SlowPoint? {
        guard let p else { return q }
        guard let q else { return p }
        if p.x == q.x && (p.y + q.y).isZero { return nil }
        let three = Field(integer: 3), two = Field(integer: 2)
        let slope = p == q ? three * p.x * p.x * (two * p.y).inverse : (q.y - p.y) * (q.x - p.x).inverse
        let x = slope * slope - p.x - q.x
        return SlowPoint(x: x, y: slope * (p.x - x) - p.y)
    }

    static func multiply(_ p: SlowPoint?, _ k: BigInt) -> SlowPoint? { slowPower(p, k, one: nil, add) }

    static func negate(_ p: SlowPoint?) -> SlowPoint? { p.map { SlowPoint(x: $0.x, y: Field(integer: 0) - $0.y) } }
}

/// The operations of a field that the group law needs.
protocol SlowFieldElement: Equatable, SendableMetatype {
    init(integer: Int)
    static func + (a: Self, b: Self) -> Self
    static func - (a: Self, b: Self) -> Self
    static func * (a: Self, b: Self) -> Self
    var inverse: Self { get }
    var isZero: Bool { get }
}

extension SlowFp: SlowFieldElement {
    init(integer: Int) { self.init(BigInt(integerLiteral: integer)) }
}

extension SlowFp2: SlowFieldElement {
    init(integer: Int) { self.init(BigInt(integerLiteral: integer), 0) }
}

extension SlowFp12: SlowFieldElement {
    init(integer: Int) { self = .monomial(SlowFp2(integer: integer), 0) }

    var isZero: Bool { c.allSatisfy(\.isZero) }

    /// The inverse, 1/self. Replacing w by zeta w, where zeta is a sixth root of unity in Fp, gives five other images
    /// of self. Their product, `cofactor`, times self is a number n in Fp2, so the inverse is cofactor / n.
    var inverse: SlowFp12 {
        let p = SlowFp.p.number
        let zeta = SlowFp2(SlowFp12.sixthRoot, 0)
        var cofactor = SlowFp12.one, root = SlowFp2.one
        for _ in 1..<6 {
            root = root * zeta
            cofactor = cofactor * SlowFp12((0..<6).map { c[$0] * root.power(BigInt(integerLiteral: $0)) })
        }
        precondition(p.mod(6) == 1)
        return cofactor * .monomial((self * cofactor).c[0].inverse, 0)
    }

    /// A primitive sixth root of unity mod p. It satisfies z^2 - z + 1 = 0, so it is (1 + sqrt(-3))/2.
    private static var sixthRoot: BigInt {
        let p = SlowFp.p.number
        let root = (p - 3).power((p + 1).quotient(4), mod: p)
        return ((1 + root) * BigInt(2).inverse(mod: p)).mod(p)
    }
}

/// The optimal ate pairing as textbooks define it. Points of the twist are moved to the curve over Fp12, each line is
/// divided by its vertical line, and the final exponentiation is one power.
enum SlowPairing {
    static func pairing(_ q: SlowPoint<SlowFp2>, _ p: SlowPoint<SlowFp>) -> SlowFp12 {
        let q12 = untwist(q), p12 = SlowPoint(x: lift(p.x), y: lift(p.y))
        let loop = 0 - (6 * Parameters.x + 2)
        var f = SlowFp12.one, t = q12
        for index in stride(from: loop.bitCount - 2, through: 0, by: -1) {
            f = f * f * step(&t, t, p12)
            if loop.bit(index) { f = f * step(&t, q12, p12) }
        }
        f = f.inverse
        t = SlowPoint(x: t.x, y: SlowFp12(integer: 0) - t.y)
        let q1 = frobenius(q12), q2 = frobenius(q1)
        f = f * step(&t, q1, p12)
        f = f * step(&t, SlowPoint(x: q2.x, y: SlowFp12(integer: 0) - q2.y), p12)
        let exponent = (Parameters.p.power(12) - 1).quotient(Parameters.r)
        return f.power(exponent)
    }

    private static func lift(_ a: SlowFp) -> SlowFp12 { .monomial(SlowFp2(a, SlowFp(0)), 0) }

    private static func untwist(_ q: SlowPoint<SlowFp2>) -> SlowPoint<SlowFp12> {
        SlowPoint(x: .monomial(q.x, 2), y: .monomial(q.y, 3))
    }

    private static func frobenius(_ q: SlowPoint<SlowFp12>) -> SlowPoint<SlowFp12> {
        SlowPoint(x: q.x.power(Parameters.p), y: q.y.power(Parameters.p))
    }

    /// Returns the value that the line through the points t and q has at the point p, divided by the value there of the
    /// vertical line through t + q. Replaces t by t + q.
    private static func step(
        _ t: inout SlowPoint<SlowFp12>, _ q: SlowPoint<SlowFp12>, _ p: SlowPoint<SlowFp12>
    ) -> SlowFp12 {
        let three = SlowFp12(integer: 3), two = SlowFp12(integer: 2)
        let slope = t == q ? three * t.x * t.x * (two * t.y).inverse : (q.y - t.y) * (q.x - t.x).inverse
        let line = p.y - t.y - slope * (p.x - t.x)
        let x = slope * slope - t.x - q.x
        t = SlowPoint(x: x, y: slope * (t.x - x) - t.y)
        return line * (p.x - t.x).inverse
    }
}

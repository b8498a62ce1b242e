import BN254CX

// A second implementation of the engine's pairing for `ToyCurveTests`, with the same formulas over any BN curve whose
// prime p is 3 mod 4.

// MARK: - fields

/// The element a + b i of the curve's Fp2, with i^2 = -1.
struct TwinFp2<Curve: TwinCurve>: SlowFieldElement {
    let a: Curve.Base, b: Curve.Base

    init(_ a: Curve.Base, _ b: Curve.Base) {
        self.a = a
        self.b = b
    }

    init(integer: Int) { self.init(Curve.Base(integer: integer), Curve.Base(integer: 0)) }

    static func + (x: Self, y: Self) -> Self { Self(x.a + y.a, x.b + y.b) }
    static func - (x: Self, y: Self) -> Self { Self(x.a - y.a, x.b - y.b) }
    static func * (x: Self, y: Self) -> Self { Self(x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a) }
    static func * (k: Int, x: Self) -> Self { Self(integer: k) * x }
    static prefix func - (x: Self) -> Self { Self(integer: 0) - x }
    var conjugate: Self { Self(a, Curve.Base(integer: 0) - b) }
    var isZero: Bool { a.isZero && b.isZero }
    var inverse: Self {
        let norm = (a * a + b * b).inverse
        return Self(a * norm, Curve.Base(integer: 0) - b * norm)
    }
}

/// The element c0 + c1 w + ... + c5 w^5 of the curve's Fp12, with w^6 = xi.
struct TwinFp12<Curve: TwinCurve>: Equatable {
    var c: [TwinFp2<Curve>]

    static var one: Self { Self(c: (0..<6).map { TwinFp2(integer: $0 == 0 ? 1 : 0) }) }

    static func * (x: Self, y: Self) -> Self {
        var low = [TwinFp2<Curve>](repeating: TwinFp2(integer: 0), count: 6), high = low
        for i in 0..<6 where !x.c[i].isZero {
            for j in 0..<6 where !y.c[j].isZero {
                if i + j < 6 {
                    low[i + j] = low[i + j] + x.c[i] * y.c[j]
                } else {
                    high[i + j - 6] = high[i + j - 6] + x.c[i] * y.c[j]
                }
            }
        }
        let xi = Curve.xi
        return Self(c: (0..<6).map { low[$0] + xi * high[$0] })
    }

    /// The p^6-th power, in which w becomes -w. For elements of the cyclotomic subgroup it is the inverse.
    var conjugate: Self { Self(c: (0..<6).map { $0 % 2 == 0 ? c[$0] : -c[$0] }) }

    /// The square of an element of the cyclotomic subgroup, by Granger and Scott's formula (`Fp12.cyclotomicSquare`).
    var cyclotomicSquare: Self {
        let xi = Curve.xi
        func square(_ a: TwinFp2<Curve>, _ b: TwinFp2<Curve>) -> TwinFp2<Curve> { 3 * (a * a + xi * (b * b)) }
        return Self(c: [
            square(c[0], c[3]) - 2 * c[0], 6 * (xi * c[2] * c[5]) + 2 * c[1], square(c[1], c[4]) - 2 * c[2],
            6 * (c[0] * c[3]) + 2 * c[3], square(c[2], c[5]) - 2 * c[4], 6 * (c[1] * c[4]) + 2 * c[5],
        ])
    }

    /// The engine's encoding of the element, 384 bytes.
    var octets: [UInt8] {
        [0, 3, 1, 4, 2, 5].flatMap { [c[$0].a, c[$0].b] }.flatMap { component in
            Curve.integer(component).limbs(4).reversed().flatMap { limb in
                (0..<8).map { UInt8(truncatingIfNeeded: limb >> (56 - 8 * $0)) }
            }
        }
    }
}

// MARK: - groups

/// A point in projective coordinates X, Y, Z: its affine coordinates are X/Z and Y/Z. (0 : 1 : 0) is the point at
/// infinity.
struct TwinPoint<Field: SlowFieldElement> {
    var x: Field, y: Field, z: Field

    init(_ point: SlowPoint<Field>?) {
        x = point?.x ?? Field(integer: 0)
        y = point?.y ?? Field(integer: 1)
        z = Field(integer: point == nil ? 0 : 1)
    }

    init(x: Field, y: Field, z: Field) {
        self.x = x
        self.y = y
        self.z = z
    }

    var affine: SlowPoint<Field>? { z.isZero ? nil : SlowPoint(x: x * z.inverse, y: y * z.inverse) }
    var negated: Self { Self(x: x, y: Field(integer: 0) - y, z: z) }

    static func == (p: Self, q: Self) -> Bool {
        (p.x * q.z - q.x * p.z).isZero && (p.y * q.z - q.y * p.z).isZero
    }
}

/// The formulas of the engine's `G2`: complete addition, psi, the subgroup test.
struct TwinG2<Curve: TwinCurve> {
    typealias Point = TwinPoint<TwinFp2<Curve>>
    let b3 = 3 * Curve.twistB
    let g2 = slowPower(Curve.xi, (Curve.p - 1).quotient(6) * 2, one: TwinFp2(integer: 1), *)
    let g3 = slowPower(Curve.xi, (Curve.p - 1).quotient(6) * 3, one: TwinFp2(integer: 1), *)

    /// Adds two points by algorithm 7 of eprint 2015/1060.
    func add(_ p: Point, _ q: Point) -> Point {
        let xx = p.x * q.x, yy = p.y * q.y, zz = p.z * q.z
        let t3 = (p.x + p.y) * (q.x + q.y) - xx - yy
        let t4 = (p.y + p.z) * (q.y + q.z) - yy - zz
        let t5 = b3 * ((p.x + p.z) * (q.x + q.z) - xx - zz)
        let x3 = 3 * xx, plus = yy + b3 * zz, minus = yy - b3 * zz
        return Point(x: t3 * minus - t4 * t5, y: plus * minus + x3 * t5, z: plus * t4 + x3 * t3)
    }

    /// Doubles a point by algorithm 9 of eprint 2015/1060, rearranged as in `G2DoublingTerms`.
    func double(_ p: Point) -> Point {
        let yy = p.y * p.y, b = b3 * (p.z * p.z), c = yy - 3 * b, yz = p.y * p.z, xy = 2 * (p.x * p.y)
        return Point(x: xy * c, y: c * (c + 4 * b) + 8 * (yy * b), z: 8 * (yy * yz))
    }

    func psi(_ p: Point) -> Point {
        Point(x: p.x.conjugate * g2, y: p.y.conjugate * g3, z: p.z.conjugate)
    }

    /// Returns whether the point Q is in the subgroup, that is, (x + 1) Q + psi(xQ) + psi^2(xQ) = psi^3(2xQ).
    func isInSubgroup(_ q: Point) -> Bool {
        let multiple = slowPower(q, BigInt([UInt(Curve.u)], 1), one: TwinPoint(nil), add)
        let a = Curve.x < 0 ? multiple.negated : multiple
        let left = add(add(add(a, q), psi(a)), psi(psi(a)))
        return left == psi(psi(psi(double(a))))
    }
}

// MARK: - pairing

/// The formulas of the engine's `MillerLoop`, `Line` and `FinalExponentiation`, for both signs of x.
struct TwinPairing<Curve: TwinCurve> {
    typealias Point = TwinPoint<TwinFp2<Curve>>
    private let group = TwinG2<Curve>()
    /// The factors with which the p^n-th power multiplies the coefficients: frobenius[n - 1][k] = xi^(k (p^n - 1)/6).
    private let frobenius: [[TwinFp2<Curve>]] = (1...3).map { n in
        (0..<6).map { k in
            let exponent = (Curve.p.power(n) - 1).quotient(6) * BigInt(integerLiteral: k)
            return slowPower(Curve.xi, exponent, one: TwinFp2(integer: 1), *)
        }
    }

    /// Returns e(q, p). q must be affine (Z = 1) and of order r; p may have any Z and may be infinite.
    func pairing(_ q: Point, _ p: TwinPoint<Curve.Base>) -> TwinFp12<Curve> { finalExponentiation(miller(q, p)) }

    private func miller(_ q: Point, _ p: TwinPoint<Curve.Base>) -> TwinFp12<Curve> {
        let loop = (Int128(Curve.x) * 6 + 2).magnitude
        var f = TwinFp12<Curve>.one, t = q
        for bit in stride(from: 126 - loop.leadingZeroBitCount, through: 0, by: -1) {
            f = f * f * tangent(&t, p)
            if loop >> bit & 1 != 0 { f = f * chord(&t, q, p) }
        }
        if Curve.x < 0 {
            f = f.conjugate
            t = t.negated
        }
        f = f * chord(&t, group.psi(q), p)
        return f * chord(&t, group.psi(group.psi(q)).negated, p)
    }

    /// Returns the value of the line with the coefficients l0, l1, l3 at the point p = (X : Y : Z), which is
    /// l0 Y + l1 X w + l3 Z w^3.
    private func line(
        _ l0: TwinFp2<Curve>, _ l1: TwinFp2<Curve>, _ l3: TwinFp2<Curve>, _ p: TwinPoint<Curve.Base>
    ) -> TwinFp12<Curve> {
        let zero = Curve.Base(integer: 0), none = TwinFp2<Curve>(integer: 0)
        return TwinFp12(c: [
            l0 * TwinFp2(p.y, zero), l1 * TwinFp2(p.x, zero), none, l3 * TwinFp2(p.z, zero), none, none,
        ])
    }

    /// Returns the value at p of the tangent to the curve in t, and doubles t, with the formulas of `Line.double`.
    private func tangent(_ t: inout Point, _ p: TwinPoint<Curve.Base>) -> TwinFp12<Curve> {
        let l0 = 2 * (t.y * t.z), l1 = -(3 * (t.x * t.x)), l3 = t.y * t.y - group.b3 * (t.z * t.z)
        t = group.double(t)
        return line(l0, l1, l3, p)
    }

    /// Returns the value at p of the line through t and q, and adds q to t, with the formulas of `Line.add`.
    private func chord(_ t: inout Point, _ q: Point, _ p: TwinPoint<Curve.Base>) -> TwinFp12<Curve> {
        let theta = t.y - q.y * t.z, mu = t.x - q.x * t.z
        let e = mu * mu * mu, g = t.x * mu * mu, h = e + t.z * theta * theta - 2 * g
        t = Point(x: mu * h, y: theta * (g - h) - t.y * e, z: t.z * e)
        return line(mu, -theta, theta * q.x - mu * q.y, p)
    }

    private func frobenius(_ f: TwinFp12<Curve>, _ n: Int) -> TwinFp12<Curve> {
        TwinFp12(c: (0..<6).map { (n % 2 == 1 ? f.c[$0].conjugate : f.c[$0]) * frobenius[n - 1][$0] })
    }

    /// Returns 1/f: the product of the eleven other images of f under powers of Frobenius, divided by the norm of f,
    /// which is the product of all twelve.
    private func inverse(_ f: TwinFp12<Curve>) -> TwinFp12<Curve> {
        var image = f, others = TwinFp12<Curve>.one
        for _ in 1..<12 {
            image = frobenius(image, 1)
            others = others * image
        }
        let norm = (f * others).c[0].inverse
        return TwinFp12(c: others.c.map { $0 * norm })
    }

    private func finalExponentiation(_ f: TwinFp12<Curve>) -> TwinFp12<Curve> {
        let m = f.conjugate * inverse(f)
        return hardPart(frobenius(m, 2) * m)
    }

    /// Returns f to the power (p^4 - p^2 + 1)/r, as y0 y1^2 y2^6 y3^12 y4^18 y5^30 y6^36 with the factors of eprint
    /// 2008/490.
    private func hardPart(_ f: TwinFp12<Curve>) -> TwinFp12<Curve> {
        let fx = powX(f), fx2 = powX(fx), fx3 = powX(fx2)
        let y0 = frobenius(f, 1) * frobenius(f, 2) * frobenius(f, 3), y1 = f.conjugate, y2 = frobenius(fx2, 2)
        let y3 = frobenius(fx, 1).conjugate, y4 = (fx * frobenius(fx2, 1)).conjugate, y5 = fx2.conjugate
        let y6 = (fx3 * frobenius(fx3, 1)).conjugate
        var a = y6.cyclotomicSquare * y4 * y5, b = y3 * y5 * a
        a = a * y2
        b = (b.cyclotomicSquare * a).cyclotomicSquare
        a = (b * y1).cyclotomicSquare
        return a * (b * y0)
    }

    private func powX(_ f: TwinFp12<Curve>) -> TwinFp12<Curve> {
        var result = TwinFp12<Curve>.one
        for bit in stride(from: 63 - Curve.u.leadingZeroBitCount, through: 0, by: -1) {
            result = result.cyclotomicSquare
            if Curve.u >> bit & 1 != 0 { result = result * f }
        }
        return Curve.x < 0 ? result.conjugate : result
    }
}

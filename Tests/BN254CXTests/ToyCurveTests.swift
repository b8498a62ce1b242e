import BN254CX
import XCTest

/// Tests on BN curves that are small enough to try all points: x = -1 (p = 19, r = 13) and x = 1 (p = 103, r = 97).
///
/// The engine is made for one prime of four limbs and cannot use another one. So the tests use a second implementation
/// of the same formulas for any prime with p = 3 mod 4 (`TwinG2`, `TwinPairing`). The first two tests show that it
/// gives the engine's results with the parameter of BN254CX: the bytes of a pairing, and the results of the subgroup
/// test. The others try every point of the small curves.
final class ToyCurveTests: XCTestCase {
    func testTwinGivesThePairingsOfTheEngine() throws {
        let twin = TwinPairing<BN254CXTwin>()
        for round in 0..<3 {
            try Workspace.run(seed: UInt64(round)) { w in
                let q = w.affineG2(), p = w.affineG1(), value = w.arena.gt()
                Pairing.pairing(value, q.affine, p.affine, w.scratch)
                var octets = [UInt8](repeating: 0, count: GT.octets), span = octets.mutableSpan
                XCTAssertTrue(value.encode(into: &span, w.scratch))
                let slowP = try XCTUnwrap(w.slow(p)), slowQ = try XCTUnwrap(w.slow(q))
                let result = twin.pairing(TwinPoint(BN254CXTwin.lift(slowQ)), TwinPoint(slowP))
                XCTAssertEqual(result.octets, octets)
            }
        }
    }

    func testTwinGivesTheVerdictsOfTheEngine() throws {
        let twin = TwinG2<BN254CXTwin>()
        let members = try Vectors.g2(where: { $0 == "recombine_g2" }),
            others = try Vectors.g2(where: { $0 == "g2_decode" })
        XCTAssertGreaterThan(members.count, 1)
        XCTAssertGreaterThan(others.count, 50)
        for (points, expected) in [(members, G2.Decoding.valid), (others, .outsideSubgroup)] {
            for octets in points {
                Workspace.run { w in
                    let q = w.arena.g2()
                    XCTAssertEqual(q.decode(octets.span, w.scratch), expected)
                    XCTAssertEqual(twin.isInSubgroup(BN254CXTwin.decode(octets)), expected == .valid)
                }
            }
        }
    }

    func testEveryPairIsBilinear() {
        everyPairIsBilinear(Toy19.self)
        everyPairIsBilinear(Toy19Three.self)
        everyPairIsBilinear(Toy19Fourteen.self)
        everyPairIsBilinear(Toy103.self)
    }

    /// Checks e(iQ, jP) = e(Q, P)^(ij) for all i in 1..<r and all j in 0..<r, and that e(Q, P) has order r. There is no
    /// i = 0, because in the engine, too, P may be infinite but Q may not.
    private func everyPairIsBilinear<Curve: TwinCurve>(_: Curve.Type) {
        let toy = ToyGroup<Curve>(), twin = TwinPairing<Curve>(), r = toy.r
        let value = twin.pairing(TwinPoint(toy.g2[1]), TwinPoint(toy.g1[1]))
        var powers = [TwinFp12<Curve>.one]
        for _ in 1..<r { powers.append(powers[powers.count - 1] * value) }
        XCTAssertEqual(powers[r - 1] * value, .one, "of order r")
        XCTAssertFalse(value == .one, "not degenerate")
        var wrong = 0
        for i in 1..<r {
            for j in 0..<r {
                let left = twin.pairing(TwinPoint(toy.g2[i]), TwinPoint(toy.g1[j]))
                if left != powers[i * j % r] { wrong += 1 }
            }
        }
        XCTAssertEqual(wrong, 0, "of \(r * (r - 1)) pairs")
    }

    func testEveryPointOfTheTwistIsClassifiedRight() {
        everyPointIsClassifiedRight(Toy19.self, points: 325)
        everyPointIsClassifiedRight(Toy19Three.self, points: 325)
        everyPointIsClassifiedRight(Toy19Fourteen.self, points: 325)
        everyPointIsClassifiedRight(Toy103.self, points: 10_573)
    }

    private func everyPointIsClassifiedRight<Curve: TwinCurve>(_: Curve.Type, points: Int) {
        let toy = ToyGroup<Curve>(), twin = TwinG2<Curve>(), order = BigInt(integerLiteral: toy.r)
        XCTAssertEqual(toy.twist.count + 1, points, "r (2p - r) points")
        var inside = 1, wrong = 0
        for point in toy.twist {
            let isMember = SlowPoint.multiply(point, order) == nil
            if isMember { inside += 1 }
            if twin.isInSubgroup(TwinPoint(point)) != isMember { wrong += 1 }
        }
        XCTAssertTrue(twin.isInSubgroup(TwinPoint(nil)))
        XCTAssertEqual(wrong, 0, "of \(points) points")
        XCTAssertEqual(inside, toy.r)
    }

    /// Tries the complete formulas on every pair of points of the twist over the small field with p = 19, inside and
    /// outside the subgroup. Among them are pairs with infinity, with equal and with opposite points.
    func testAdditionIsCompleteOnTheWholeTwist() {
        let toy = ToyGroup<Toy19>(), twin = TwinG2<Toy19>()
        let points: [SlowPoint<TwinFp2<Toy19>>?] = [nil] + toy.twist.map { $0 }
        var wrong = 0
        for p in points {
            if twin.double(TwinPoint(p)).affine != SlowPoint.add(p, p) { wrong += 1 }
            for q in points where twin.add(TwinPoint(p), TwinPoint(q)).affine != SlowPoint.add(p, q) { wrong += 1 }
        }
        XCTAssertEqual(wrong, 0)
    }
}

// MARK: - Curves

/// A BN curve, given by its parameter x and the constants of its curve and its fields.
protocol TwinCurve: SendableMetatype {
    associatedtype Base: SlowFieldElement
    static var x: Int { get }
    /// The constant of the curve Y^2 = X^3 + b. Its twist is Y^2 = X^3 + b/xi.
    static var b: Int { get }
    /// The real part of xi = xiReal + i. In Fp12, w^6 is xi.
    static var xiReal: Int { get }
    /// Returns the element as an integer in 0..<p.
    static func integer(_ a: Base) -> BigInt
}

extension TwinCurve {
    static var u: UInt64 { UInt64(x.magnitude) }
    static var p: BigInt { polynomial(24) }
    static var r: BigInt { polynomial(18) }
    static var xi: TwinFp2<Self> { TwinFp2(Base(integer: xiReal), Base(integer: 1)) }
    static var twistB: TwinFp2<Self> { TwinFp2(integer: b) * xi.inverse }

    /// Returns 36x^4 + 36x^3 + c x^2 + 6x + 1: p with c = 24, and r with c = 18.
    private static func polynomial(_ c: BigInt) -> BigInt {
        let x = BigInt(integerLiteral: x)
        return (((36 * x + 36) * x + c) * x + 6) * x + 1
    }
}

enum BN254CXTwin: TwinCurve {
    typealias Base = SlowFp
    static var x: Int { -Int(CurveCard.u) }
    static var b: Int { 2 }
    static var xiReal: Int { 1 }
    static func integer(_ a: SlowFp) -> BigInt { a.value }

    static func lift(_ q: SlowPoint<SlowFp2>) -> SlowPoint<TwinFp2<Self>> {
        SlowPoint(x: TwinFp2(q.x.a, q.x.b), y: TwinFp2(q.y.a, q.y.b))
    }

    /// Decodes 128 octets of a point of the twist.
    static func decode(_ octets: [UInt8]) -> TwinPoint<TwinFp2<Self>> {
        let c = stride(from: 0, to: 128, by: 32).map { start in
            SlowFp(
                BigInt(
                    hex: octets[start..<start + 32].map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
                        .joined()))
        }
        return TwinPoint(SlowPoint(x: TwinFp2(c[0], c[1]), y: TwinFp2(c[2], c[3])))
    }
}

/// A number mod a small prime.
struct ToyFp<Curve: ToyCurve>: SlowFieldElement {
    let value: Int

    init(integer: Int) { value = (integer % Curve.prime + Curve.prime) % Curve.prime }

    static func + (a: Self, b: Self) -> Self { Self(integer: a.value + b.value) }
    static func - (a: Self, b: Self) -> Self { Self(integer: a.value - b.value) }
    static func * (a: Self, b: Self) -> Self { Self(integer: a.value * b.value) }
    var isZero: Bool { value == 0 }
    /// The inverse, computed as self^(p - 2).
    var inverse: Self { (0..<Curve.prime - 2).reduce(Self(integer: 1)) { product, _ in product * self } }
}

protocol ToyCurve: TwinCurve where Base == ToyFp<Self> {
    static var prime: Int { get }
}

extension ToyCurve {
    static func integer(_ a: Base) -> BigInt { BigInt(integerLiteral: a.value) }
}

enum Toy19: ToyCurve {
    static var prime: Int { 19 }
    static var x: Int { -1 }
    static var b: Int { 2 }
    static var xiReal: Int { 1 }
}

enum Toy19Three: ToyCurve {
    static var prime: Int { 19 }
    static var x: Int { -1 }
    static var b: Int { 3 }
    static var xiReal: Int { 1 }
}

enum Toy19Fourteen: ToyCurve {
    static var prime: Int { 19 }
    static var x: Int { -1 }
    static var b: Int { 14 }
    static var xiReal: Int { 1 }
}

/// The curve with p = 103. In its Fp2, 1 + i is a square, so that w^6 is 2 + i.
enum Toy103: ToyCurve {
    static var prime: Int { 103 }
    static var x: Int { 1 }
    static var b: Int { 5 }
    static var xiReal: Int { 2 }
}

/// All points of a small curve, found by trying every coordinate.
struct ToyGroup<Curve: TwinCurve> {
    let r: Int
    /// All multiples of a generator of the curve: element j is j times the generator.
    let g1: [SlowPoint<Curve.Base>?]
    /// All multiples of a generator of the twist's subgroup of order r: element i is i times the generator.
    let g2: [SlowPoint<TwinFp2<Curve>>?]
    /// All points of the twist without the infinite one.
    let twist: [SlowPoint<TwinFp2<Curve>>]

    init() {
        r = Int(Curve.r.limbs(1)[0])
        let p = Int(Curve.p.limbs(1)[0])
        let base = (0..<p).map { Curve.Base(integer: $0) }
        let plane = base.flatMap { a in base.map { TwinFp2<Curve>(a, $0) } }
        let curve = ToyGroup.points(base, b: Curve.Base(integer: Curve.b))
        twist = ToyGroup.points(plane, b: Curve.twistB)
        let cofactor = 2 * Curve.p - Curve.r
        let generator = twist.lazy.compactMap { SlowPoint.multiply($0, cofactor) }.first
        g1 = ToyGroup.multiples(curve.first, r)
        g2 = ToyGroup.multiples(generator, r)
        precondition(curve.count + 1 == r)
    }

    private static func points<Field: SlowFieldElement>(_ field: [Field], b: Field) -> [SlowPoint<Field>] {
        // Finds y in a table of the square roots of all elements. Trying each y for each x would take too long in Fp2.
        let roots = Dictionary(grouping: field) { "\($0 * $0)" }
        return field.flatMap { x in (roots["\(x * x * x + b)"] ?? []).map { SlowPoint(x: x, y: $0) } }
    }

    private static func multiples<Field>(_ point: SlowPoint<Field>?, _ count: Int) -> [SlowPoint<Field>?] {
        var result: [SlowPoint<Field>?] = [nil]
        for _ in 1..<count { result.append(SlowPoint.add(result[result.count - 1], point)) }
        return result
    }
}

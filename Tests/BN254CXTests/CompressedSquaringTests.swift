import BN254CX
import XCTest

final class CompressedSquaringTests: XCTestCase {
    func testCompressedSquaringIsSquaring() {
        Workspace.run { w in
            let a = w.gt().limbs, c = w.arena.take(48), d = w.arena.take(48), s = w.arena.take(Fp12.scratch)
            for n in [1, 2, 36] {
                for _ in 0..<30 {
                    Fp12(d).cyclotomicSquare(Fp12(a), s)
                    for _ in 1..<n { Fp12(d).cyclotomicSquare(Fp12(d), s) }
                    Fp12(c).compressedSquare(Fp12(a), times: n, s)
                    XCTAssertNotEqual(Fp12(c).equalMask(Fp12(d), s), 0, "2^\(n)")
                    Fp12(a).multiply(Fp12(c), Fp12(a), s)
                }
            }
            Fp12(a).setOne()
            Fp12(a).compressedSquare(Fp12(a), times: 3, s)
            Fp12(d).setOne()
            XCTAssertNotEqual(Fp12(a).equalMask(Fp12(d), s), 0, "1 has no B and no C")
        }
    }

    /// Tests `compressedSquare` with `times: 0`, when it squares nothing and only computes the coefficients of w^0 and
    /// w^3 from the other four. The formulas for this are valid for any four coefficients. In every second round b0,
    /// the coefficient of w, is 0. A quarter of all components are the smallest or largest normal values.
    func testRestoringFollowsItsFormulas() {
        let two = SlowFp2(2, 0), three = SlowFp2(3, 0), four = SlowFp2(4, 0)
        Workspace.run { w in
            for round in 0..<200 {
                let start = w.arena
                let a = w.elements(12), c = w.arena.take(48), s = w.arena.take(Fp12.scratch)
                if round % 2 == 0 {
                    let zero = w.elements(2, all: round % 4 == 0 ? 0 : Parameters.p)
                    for i in 0..<8 { a[24 + i] = zero[i] }
                }
                let x = w.slow12(a).c, b0 = x[1], b1 = x[4], c0 = x[2], c1 = x[5]
                let a1 =
                    b0.isZero
                    ? two * c0 * c1 * b1.inverse
                    : (.xi * c1 * c1 + three * c0 * c0 - two * b1) * (four * b0).inverse
                let a0 = .xi * (two * a1 * a1 + b0 * c1 - three * b1 * c0) + SlowFp2(1, 0)
                Fp12(c).compressedSquare(Fp12(a), times: 0, s)
                XCTAssertEqual(w.slow12(c).c, [a0, b0, c0, a1, b1, c1])
                w.arena = start
            }
        }
    }

    /// Tests on a small group that in the cyclotomic subgroup the coefficients of w^0 and w^3 follow from the other
    /// four, even if b0, the coefficient of w, is 0. Random elements over the large field never have b0 = 0. Over
    /// p = 19, the prime of the BN curve with x = -1, the subgroup has only p^4 - p^2 + 1 = 129,961 elements, so the
    /// test tries all of them.
    func testEveryElementOfASmallSubgroupIsRestored() {
        let order = 129_961
        let generator = Small12.generator(order: order)
        var x = Small12.one, special = 0
        for _ in 0..<order {
            XCTAssertTrue(x.isRestored)
            if x.c[1] == .zero { special += 1 }
            x = x * generator
        }
        XCTAssertEqual(x, .one)
        XCTAssertGreaterThan(special, 1, "not only 1 has b0 = 0")
    }
}

/// The element a + b i of the field Fp2 over p = 19: a and b are integers mod 19.
private struct Small2: Equatable {
    static let zero = Small2(0, 0), one = Small2(1, 0), xi = Small2(1, 1)
    let a: Int, b: Int

    init(_ a: Int, _ b: Int) { (self.a, self.b) = (((a % 19) + 19) % 19, ((b % 19) + 19) % 19) }

    static func + (x: Small2, y: Small2) -> Small2 { Small2(x.a + y.a, x.b + y.b) }
    static func - (x: Small2, y: Small2) -> Small2 { Small2(x.a - y.a, x.b - y.b) }
    static func * (x: Small2, y: Small2) -> Small2 { Small2(x.a * y.a - x.b * y.b, x.a * y.b + x.b * y.a) }
    static func * (k: Int, y: Small2) -> Small2 { Small2(k * y.a, k * y.b) }

    /// The inverse, computed as self^(19^2 - 2); 0 for 0.
    var inverse: Small2 { (0..<359).reduce(.one) { product, _ in product * self } }
}

/// A polynomial in w over `Small2` with w^6 = 1 + i, as the engine's `Fp12` is one over Fp2.
private struct Small12: Equatable {
    static let one = Small12(c: [.one, .zero, .zero, .zero, .zero, .zero])
    var c: [Small2]

    static func * (x: Small12, y: Small12) -> Small12 {
        var product = [Small2](repeating: .zero, count: 11)
        for i in 0..<6 { for j in 0..<6 { product[i + j] = product[i + j] + x.c[i] * y.c[j] } }
        return Small12(c: (0..<6).map { $0 < 5 ? product[$0] + .xi * product[$0 + 6] : product[5] })
    }

    func power(_ exponent: Int) -> Small12 {
        var result = Small12.one
        for bit in (0..<(Int.bitWidth - exponent.leadingZeroBitCount)).reversed() {
            result = result * result
            if exponent >> bit & 1 != 0 { result = result * self }
        }
        return result
    }

    /// Returns an element of the given order, which must be 129,961 = 13 * 13 * 769.
    static func generator(order: Int) -> Small12 {
        for n in 1... {
            let start = Small12(c: [Small2(n, 1), .one, Small2(2, n), .zero, .one, Small2(n, 5)])
            let x = start.power(47_045_880).power(362)  // (p^6 - 1)(p^2 + 1)
            if x.power(order / 13) != .one, x.power(order / 769) != .one, x.power(order) == .one { return x }
        }
        preconditionFailure("a cyclic group has a generator")
    }

    /// Whether the formulas of `Fp12.compressedSquare` give the right coefficients of w^0 and w^3.
    var isRestored: Bool {
        let b0 = c[1], b1 = c[4], c0 = c[2], c1 = c[5]
        let a1 =
            b0 == .zero
            ? 2 * c0 * c1 * b1.inverse : (.xi * c1 * c1 + 3 * c0 * c0 - 2 * b1) * (4 * b0).inverse
        return c[3] == a1 && c[0] == .xi * (2 * a1 * a1 + b0 * c1 - 3 * b1 * c0) + .one
    }
}

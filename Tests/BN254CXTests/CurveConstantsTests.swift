import BN254CX
import CBN254CX
import XCTest

/// Computes every constant of `CBN254CX` again from the curve's parameter x, and compares it with the table there.
final class CurveConstantsTests: XCTestCase {
    private let p = Parameters.p, r = Parameters.r, t = Parameters.t, x = Parameters.x
    private var radix: BigInt { BigInt(2).power(320) }

    private func limbs(_ table: UnsafePointer<UInt>, row: Int = 0, of count: Int = 4) -> BigInt {
        BigInt(table + row * count, count)
    }

    private func montgomery(_ value: BigInt) -> BigInt { (value * radix).mod(p) }

    private func assertRow(_ table: UnsafePointer<UInt>, _ row: Int, _ value: SlowFp2, line: UInt = #line) {
        XCTAssertEqual(limbs(table, row: 2 * row), montgomery(value.a.value), line: line)
        XCTAssertEqual(limbs(table, row: 2 * row + 1), montgomery(value.b.value), line: line)
    }

    func testPrimes() {
        XCTAssertEqual(limbs(bn_p()), p)
        XCTAssertEqual(limbs(bn_r()), r)
        XCTAssertEqual(p + 1 - t, r)
        XCTAssertEqual(p.mod(8), 3)
        XCTAssertEqual(BigInt(integerLiteral: Int(CurveCard.u)), 0 - x)
        for prime in [p, r] {  // Fermat's primality test with a few bases
            for base: BigInt in [2, 3, 5, 7] { XCTAssertEqual(base.power(prime - 1, mod: prime), 1) }
        }
    }

    func testMontgomeryConstants() {
        let word = BigInt(2).power(64)
        XCTAssertEqual((BigInt([UInt(BN_MONTGOMERY_FACTOR)], 1) * p + 1).mod(word), 0)
        let multiple = BigInt([UInt(BN_MONTGOMERY_FACTOR)], 1) * p + 1
        XCTAssertEqual(limbs(bn_reduction_multiple()), multiple.quotient(word))
        XCTAssertTrue(limbs(bn_reduction_multiple()) < p)
        let top = p.quotient(BigInt(2).power(192))
        XCTAssertEqual(BigInt([UInt(BN_QUOTIENT_FACTOR)], 1), BigInt(2).power(124).quotient(top + 1))
        XCTAssertEqual(limbs(bn_one()), montgomery(1))
        XCTAssertEqual(limbs(bn_two()), montgomery(2))
        XCTAssertEqual(limbs(bn_radix_squared()), montgomery(radix))
        for i in 0..<5 {
            let limb = p.quotient(BigInt(2).power(62 * i)).mod(BigInt(2).power(62))
            XCTAssertEqual(limbs(bn_p_signed(), row: i, of: 1), limb)
        }
        XCTAssertEqual(limbs(bn_root_exponent()) * 4, p + 1)
    }

    func testMultiplesOfPForSubtraction() {
        let wide = p * (p + BigInt(2).power(199))
        for k in 0..<37 {
            XCTAssertEqual(limbs(bn_wide_multiples(), row: k, of: 8), BigInt(integerLiteral: k) * wide)
        }
        for k in 0..<3 { XCTAssertEqual(limbs(bn_even_multiples(), row: k), BigInt(integerLiteral: 2 * k) * p) }
        let normal = p + BigInt(2).power(196)
        XCTAssertTrue(normal * normal < wide, "a product of normal values is of class 1")
        XCTAssertTrue(50 * wide < BigInt(2).power(512), "class 50 fits eight limbs")
        XCTAssertTrue(7 * normal < BigInt(2).power(256), "class 7 fits four limbs")
        let rest = BigInt(2).power(192) + (p * (BigInt(2).power(65) + 2)).quotient(BigInt(2).power(128))
        XCTAssertTrue(rest + p + 1 < normal, "a reduced product is normal")
    }

    func testFrobeniusConstants() {
        for k in 0..<6 {
            let exponent = BigInt(integerLiteral: k)
            assertRow(bn_frobenius_1(), k, SlowFp2.xi.power((exponent * (p - 1)).quotient(6)))
            let second = SlowFp2.xi.power((exponent * (p * p - 1)).quotient(6))
            XCTAssertTrue(second.b.isZero)
            XCTAssertEqual(limbs(bn_frobenius_2(), row: k), montgomery(second.a.value))
            assertRow(bn_frobenius_3(), k, SlowFp2.xi.power((exponent * (p.power(3) - 1)).quotient(6)))
        }
    }

    /// Tests that lambda is a cube root of unity mod r, and that on G1 multiplying the x-coordinate by beta, a cube
    /// root of unity mod p, gives the same point as multiplying the point by lambda.
    func testEndomorphismOfG1() {
        let beta = (18 * x.power(3) + 18 * x * x + 9 * x + 1).mod(p), lambda = self.lambda
        XCTAssertEqual(limbs(bn_beta()), montgomery(beta))
        XCTAssertEqual((lambda * lambda + lambda + 1).mod(r), 0)
        XCTAssertEqual(limbs(bn_minus_lambda()), 0 - lambda)
        XCTAssertTrue(0 - lambda < BigInt(2).power(192))
        let generator = SlowPoint(x: SlowFp(p - 1), y: SlowFp(1))
        let image = SlowPoint(x: SlowFp(beta) * generator.x, y: generator.y)
        XCTAssertEqual(SlowPoint.multiply(generator, lambda.mod(r)), image)
    }

    private var lambda: BigInt { 36 * x.power(3) + 18 * x * x + 6 * x + 1 }

    /// Tests the constants with which a scalar is split into short ones, two for G1 (GLV) and four for G2 (GS). They
    /// are quotients by r, rounded, of numbers that come from the relations between the powers of the endomorphisms.
    func testScalarSplitConstants() {
        let m = 0 - (2 * x + 1), w1 = 6 * x * x + 4 * x + 1, w2 = 6 * x * x + 2 * x
        XCTAssertEqual((w1 - m * lambda).mod(r), 0)
        XCTAssertEqual((m + w2 * lambda).mod(r), 0)
        XCTAssertEqual(w1 * w2 + m * m, r)
        for (row, numerator) in [w2, m].enumerated() {
            XCTAssertEqual(limbs(bn_glv_factors(), row: row), rounded(numerator * BigInt(2).power(320)))
        }
        let u = 0 - x
        for relation in relations { XCTAssertEqual(value(relation), 0) }
        let cofactors = [
            6 * u.power(3) - 6 * u * u + 2 * u, 6 * u.power(3) - u, 12 * u.power(3) - 6 * u * u + 2 * u - 1, 2 * u - 1,
        ]
        for column in 0..<4 {
            let sum = (0..<4).reduce(BigInt(0)) { $0 + cofactors[$1] * relations[$1][column] }
            XCTAssertEqual(sum, column == 0 ? r : 0)
            XCTAssertEqual(
                limbs(bn_gs_factors(), row: column), rounded(cofactors[column] * BigInt(2).power(312)))
        }
    }

    /// Tests that each relation other than zero has a coefficient of at least 2^63. Therefore the incomplete additions
    /// of `G2.multiply` never get equal or opposite points. Each relation is a sum of integer multiples of the four in
    /// `relations`. The last loop shows with the inverse matrix that if all coefficients of a relation are below 2^63,
    /// those integers are less than 3, so the first loops try all that are possible.
    func testShortestRelationOfPsi() {
        let bound = BigInt(2).power(63)
        for a in -2...2 {
            for b in -2...2 {
                for c in -2...2 {
                    for d in -2...2 where (a, b, c, d) != (0, 0, 0, 0) {
                        let weights = [a, b, c, d].map { BigInt(integerLiteral: $0) }
                        let numbers = (0..<4).map { j in
                            (0..<4).reduce(BigInt(0)) { $0 + weights[$1] * relations[$1][j] }
                        }
                        XCTAssertTrue(numbers.contains { !($0 < bound) || !(0 - bound < $0) })
                    }
                }
            }
        }
        for i in 0..<4 {
            let sum = (0..<4).reduce(BigInt(0)) { $0 + absolute(minor(i, $1)) }
            XCTAssertTrue(bound * sum < 3 * r)
        }
    }

    /// Relations between the powers of the endomorphism psi: each row (a0, a1, a2, a3) contains coefficients with
    /// a0 + a1 psi + a2 psi^2 + a3 psi^3 = 0 on G2.
    private var relations: [[BigInt]] {
        let u = 0 - x
        return [
            [2 * u - 1, 0, 2 * u, 0 - 1], [1, 2 * u - 1, 0 - 1, 2 * u], [2 * u - 1, 0 - u, 1 - u, 0 - u],
            [0 - u, 2 * u, 2 * u - 1, 0 - u],
        ]
    }

    private func value(_ relation: [BigInt]) -> BigInt {
        relation.reversed().reduce(BigInt(0)) { ($0 * p + $1).mod(r) }
    }

    private func rounded(_ numerator: BigInt) -> BigInt { (2 * numerator + r).quotient(2 * r) }

    private func absolute(_ a: BigInt) -> BigInt { a < 0 ? 0 - a : a }

    /// Returns the determinant of the matrix of relations without row i and column j.
    private func minor(_ i: Int, _ j: Int) -> BigInt {
        let m = relations.enumerated().filter { $0.offset != i }.map { row in
            row.element.enumerated().filter { $0.offset != j }.map(\.element)
        }
        let first = m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
        let second = m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
        return first - second + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
    }

    func testTwist() {
        let b = SlowFp2(2, 0) * SlowFp2.xi.inverse
        XCTAssertEqual(b, SlowFp2(1, p - 1))
        assertRow(bn_twist_b(), 0, b)
    }

    func testGenerators() {
        XCTAssertEqual(limbs(bn_g1_generator()), montgomery(p - 1))
        XCTAssertEqual(limbs(bn_g1_generator(), row: 1), montgomery(1))
        XCTAssertEqual(limbs(bn_g1_generator(), row: 2), montgomery(1))
        // The published generator of G2, which no formula gives.
        let published = [
            "19682d2c7053b256358b2500f5c34bbb907c85bfa03e2726c0851ceee4d2ec74",
            "1466b9ec3e19f64aa011c937a8e99743f81b97b0c209c30f47a58e8b2e29cfe1",
            "0a79edd972332b8dd81e22157daee2096361b33d847ec1b30cfbfcebcf0be09f",
            "06160c39ecc4c09035c6e4512d8d3461c2864ea569d2edebed904b228898ee9d",
        ]
        for (row, hex) in published.enumerated() {
            XCTAssertEqual(limbs(bn_g2_generator(), row: row), montgomery(BigInt(hex: hex)))
        }
        XCTAssertEqual(limbs(bn_g2_generator(), row: 4), montgomery(1))
        XCTAssertEqual(limbs(bn_g2_generator(), row: 5), 0)
    }

    /// Tests that the hard part of the final exponentiation raises to exactly (p^4 - p^2 + 1)/r, and not to a multiple.
    /// It is computed as l0 + l1 p + l2 p^2 + p^3.
    func testHardPartOfTheFinalExponentiation() {
        let x2 = x * x, x3 = x2 * x
        let l2 = 6 * x2 + 1, l1 = 1 - 36 * x3 - 18 * x2 - 12 * x, l0 = 0 - 36 * x3 - 30 * x2 - 18 * x - 2
        let exponent = l0 + l1 * p + l2 * p * p + p.power(3)
        XCTAssertEqual(exponent * r, p.power(4) - p * p + 1)
    }

    /// Tests the two conditions under which the fast subgroup test is correct, which accepts the points that the
    /// polynomial (x + 1) + x psi + x psi^2 - 2x psi^3 maps to infinity. The norm of this polynomial modulo
    /// psi^2 - t psi + p must have only the factor r in common with the order r(2p - r) of the twist, and the
    /// polynomial must be 0 mod r for psi = p.
    func testSubgroupTestIsExactForThisCurve() {
        let coefficients = [x + 1, x, x, 0 - 2 * x]
        var a: BigInt = 0, b: BigInt = 0  // a + b psi, by Horner with psi^2 = t psi - p
        for coefficient in coefficients.reversed() { (a, b) = (coefficient - b * p, a + b * t) }
        let norm = a * a + a * b * t + b * b * p
        XCTAssertEqual(BigInt.gcd(norm, r * (2 * p - r)), r)
        var value: BigInt = 0
        for coefficient in coefficients.reversed() { value = value * p + coefficient }
        XCTAssertEqual(value.mod(r), 0)
        XCTAssertFalse((2 * p - r).mod(r) == 0, "G2 is all of the points of order r over Fp2")
    }

    func testLoopLength() {
        XCTAssertEqual(BigInt([UInt(CurveCard.loopBits)], 1) + BigInt(2).power(64), 0 - 6 * x - 2)
    }
}

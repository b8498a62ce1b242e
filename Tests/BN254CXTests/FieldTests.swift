import BN254CX
import XCTest

/// Compares the tower with textbook arithmetic. A quarter of all components are the smallest or largest normal values.
/// With these a sum becomes too long or negative, if a formula leaves less room than it needs.
final class FieldTests: XCTestCase {
    private let rounds = 100

    func testFpAgreesWithIntegersModP() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena
                let a = w.elements(1), b = w.elements(1), c = w.arena.take(4), s = w.arena.take(Fp.powerScratch)
                let x = w.slow(a), y = w.slow(b)
                Fp.mul(c, a, b, s)
                XCTAssertEqual(w.slow(c), x * y)
                Fp.sqr(c, a, s)
                XCTAssertEqual(w.slow(c), x * x)
                Fp.add(c, a, b)
                XCTAssertEqual(w.slow(c), x + y)
                Fp.sub(c, a, b)
                XCTAssertEqual(w.slow(c), x - y)
                Fp.neg(c, a)
                XCTAssertEqual(w.slow(c), SlowFp(0) - x)
                Fp.inverse(c, a, s)
                XCTAssertEqual(w.slow(c), x.inverse)
                XCTAssertEqual(Fp.zeroMask(a, s) != 0, x.isZero)
                w.arena = start
            }
        }
    }

    /// Tests that the square of `Fp.root` of a is a exactly if a is a square or 0, and that this root is itself a
    /// square. It is a^((p + 1)/4), because p = 3 mod 4.
    func testRootSquaredIsTheSquare() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena
                let a = w.elements(1), root = w.arena.take(4), s = w.arena.take(Fp.powerScratch)
                let x = w.slow(a)
                let isSquare = x.value.power((Parameters.p - 1).quotient(2), mod: Parameters.p) == 1
                XCTAssertEqual(Fp.isNonZeroSquareVartime(a, s), isSquare)
                Fp.root(root, a, s)
                let y = w.slow(root)
                XCTAssertEqual(y * y == x, isSquare || x.isZero)
                if isSquare { XCTAssertTrue(Fp.isNonZeroSquareVartime(root, s)) }
                w.arena = start
            }
        }
    }

    /// Tests that the results of the operations of Fp12 are normal, that is, below p + 2^196. All bounds of the tower
    /// rely on it.
    func testResultsAreNormal() {
        let largest = Parameters.p + BigInt(2).power(196) - 1
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena
                let a = w.elements(12), b = w.elements(12), c = w.arena.take(48), s = w.arena.take(1024)
                let operations: [() -> Void] = [
                    { Fp12(c).multiply(Fp12(a), Fp12(b), s) }, { Fp12(c).square(Fp12(a), s) },
                    { Fp12(c).cyclotomicSquare(Fp12(a), s) },
                    { Fp12(c).compressedSquare(Fp12(a), times: 1, s) }, { Fp12(c).multiply(Fp12(a), MonicLine(b), s) },
                    { Fp12(c).conjugate(Fp12(a)) }, { Fp12(c).frobenius(Fp12(a), s) }, { Fp12(c).invert(Fp12(a), s) },
                ]
                for operation in operations {
                    operation()
                    for i in 0..<12 { XCTAssertLessThanOrEqual(BigInt(c + 4 * i, 4), largest) }
                }
                w.arena = start
            }
        }
    }

    /// Tests that the reduction of t gives t / 2^320 mod p, as a number below p + 2^193, for numbers t of eight limbs.
    /// Among them are the smallest, 0, and the largest, 2^512 - 1.
    func testReductionAtTheEndsOfEightLimbs() {
        let p = Parameters.p, all = BigInt(2).power(512) - 1
        let largest = p + BigInt(2).power(193) - 1
        Workspace.run { w in
            let t = w.arena.take(8), r = w.arena.take(4)
            var values: [BigInt] = [0, 1, all, all - p, 50 * p * (p + BigInt(2).power(199)), p, p * p, p.power(2) - 1]
            for _ in 0..<rounds { values.append(w.integer() * w.integer()) }
            for value in values {
                let limbs = value.limbs(8)
                for i in 0..<8 { t[i] = limbs[i] }
                Fp.reduce(r, t)
                XCTAssertEqual((BigInt(r, 4) * BigInt(2).power(320)).mod(p), value.mod(p))
                XCTAssertLessThanOrEqual(BigInt(r, 4), largest)
                Fp.reduce(t, t)
                for i in 0..<4 { XCTAssertEqual(t[i], r[i]) }
            }
        }
    }

    /// Tests that the reduction gives the same integer as `SlowReduction`, and not only the same number mod p. Limbs
    /// with extreme values, at which carries occur or get lost, are tried in every place, alone and among random limbs.
    func testReductionEqualsItsSlowTwin() {
        let edges: [UInt] = [0, 1, UInt.max], twin = SlowReduction()
        Workspace.run { w in
            let t = w.arena.take(8), r = w.arena.take(4)
            func check(line: UInt = #line) {
                Fp.reduce(r, t)
                XCTAssertEqual(BigInt(r, 4), twin.reduced(BigInt(t, 8)), "\((0..<8).map { t[$0] })", line: line)
            }
            for number in 0..<6561 {
                var rest = number
                for i in 0..<8 {
                    t[i] = edges[rest % 3]
                    rest /= 3
                }
                check()
            }
            for _ in 0..<20 * rounds {
                for i in 0..<8 { t[i] = w.next() % 2 == 0 ? edges[Int(w.next() % 3)] : w.next() }
                check()
            }
        }
    }

    func testFp2AgreesWithTheTextbook() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena
                let a = w.elements(2), b = w.elements(2), k = w.elements(1), c = w.arena.take(8)
                let s = w.arena.take(Fp2.inverseScratch)
                let x = w.slow2(a), y = w.slow2(b)
                Fp2(c).multiply(Fp2(a), Fp2(b), s)
                XCTAssertEqual(w.slow2(c), x * y)
                Fp2(c).square(Fp2(a), s)
                XCTAssertEqual(w.slow2(c), x * x)
                Fp2(c).add(Fp2(a), Fp2(b))
                XCTAssertEqual(w.slow2(c), x + y)
                Fp2(c).subtract(Fp2(a), Fp2(b))
                XCTAssertEqual(w.slow2(c), x - y)
                Fp2(c).negate(Fp2(a))
                XCTAssertEqual(w.slow2(c), .zero - x)
                Fp2(c).conjugate(Fp2(a))
                XCTAssertEqual(w.slow2(c), SlowFp2(x.a, SlowFp(0) - x.b))
                Fp2(c).multiplyByXi(Fp2(a), s)
                XCTAssertEqual(w.slow2(c), .xi * x)
                Fp2(c).multiply(Fp2(a), byFp: k, s)
                XCTAssertEqual(w.slow2(c), x * SlowFp2(w.slow(k), SlowFp(0)))
                Fp2(c).invert(Fp2(a), s)
                XCTAssertEqual(w.slow2(c), x.inverse)
                w.arena = start
            }
        }
    }

    func testFp12AgreesWithPolynomialsInW() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena
                let a = w.elements(12), b = w.elements(12)
                checkFp12(&w, a, b)
                w.arena = start
            }
        }
    }

    /// Tests products and squares with all components at an end of the normal range, where the sums before the
    /// reduction are largest or smallest.
    func testFp12AtTheEndsOfTheNormalRange() {
        let p = Parameters.p
        let ends: [BigInt] = [0, p - 1, p, p + BigInt(2).power(196) - 1]
        Workspace.run { w in
            for x in ends {
                for y in ends {
                    let start = w.arena
                    let a = w.elements(12, all: x), b = w.elements(12, all: y)
                    checkFp12(&w, a, b)
                    for i in 0..<6 {  // real and imaginary parts at opposite ends
                        for j in 0..<4 { swap(&a[8 * i + j], &b[8 * i + j]) }
                    }
                    checkFp12(&w, a, b)
                    w.arena = start
                }
            }
        }
    }

    private func checkFp12(_ w: inout Workspace, _ a: Limbs, _ b: Limbs) {
        let c = w.arena.take(48), s = w.arena.take(max(Fp12.scratch, Fp12.inverseScratch))
        let x = w.slow12(a), y = w.slow12(b)
        Fp12(c).multiply(Fp12(a), Fp12(b), s)
        XCTAssertEqual(w.slow12(c), x * y)
        Fp12(c).square(Fp12(a), s)
        XCTAssertEqual(w.slow12(c), x * x)
        Fp12(c).conjugate(Fp12(a))
        XCTAssertEqual(w.slow12(c), SlowFp12((0..<6).map { $0 % 2 == 0 ? x.c[$0] : .zero - x.c[$0] }))
        Fp12(c).invert(Fp12(a), s)
        Fp12(c).multiply(Fp12(c), Fp12(a), s)
        XCTAssertEqual(w.slow12(c), x.isZero ? SlowFp12(integer: 0) : .one)
    }

    func testLinesMultiplyLikeTheirPolynomials() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena
                checkLines(&w, w.elements(12), w.elements(6))
                w.arena = start
            }
        }
    }

    /// Tests products with lines and cyclotomic squarings with all components at the ends of the normal range. Such
    /// elements are outside the cyclotomic subgroup, so the results of the squarings are not squares, but they must
    /// still follow the formulas.
    func testSparseFormulasAtTheEndsOfTheNormalRange() {
        let p = Parameters.p
        let ends: [BigInt] = [0, p - 1, p, p + BigInt(2).power(196) - 1]
        Workspace.run { w in
            for real in ends {
                for imaginary in ends {
                    let start = w.arena
                    let a = w.elements(12, all: real), b = w.elements(12, all: imaginary)
                    for i in 0..<6 {
                        for j in 4..<8 { swap(&a[8 * i + j], &b[8 * i + j]) }
                    }
                    for (x, l) in [(a, b), (a, a), (b, a), (b, b)] {
                        checkLines(&w, x, l)
                        checkCyclotomicFormulas(&w, x)
                    }
                    w.arena = start
                }
            }
        }
    }

    private func checkLines(_ w: inout Workspace, _ a: Limbs, _ l: Limbs) {
        let start = w.arena
        let c = w.arena.take(48), s = w.arena.take(Fp12.scratch)
        let x = w.slow12(a), l0 = w.slow2(l), l1 = w.slow2(l + 8), l3 = w.slow2(l + 16)
        Fp12(c).multiply(Fp12(a), Line(l), s)
        XCTAssertEqual(w.slow12(c), x * SlowFp12([l0, l1, .zero, l3, .zero, .zero]))
        Fp12(c).multiply(Fp12(a), MonicLine(l + 8), s)
        XCTAssertEqual(w.slow12(c), x * SlowFp12([.one, l1, .zero, l3, .zero, .zero]))
        w.arena = start
    }

    /// Checks that the functions for squares in the cyclotomic subgroup follow their formula. For A + B w + C w^2 over
    /// Fp2[w^3] it is 3A^2 - 2 conj A + (3 w^3 C^2 + 2 conj B) w + (3B^2 - 2 conj C) w^2, also for elements outside the
    /// subgroup, for which this is not the square.
    private func checkCyclotomicFormulas(_ w: inout Workspace, _ a: Limbs) {
        let start = w.arena
        let result = w.arena.take(48), s = w.arena.take(Fp12.scratch)
        let x = w.slow12(a).c, two = SlowFp2(2, 0), three = SlowFp2(3, 0)
        func square(_ low: SlowFp2, _ high: SlowFp2) -> (SlowFp2, SlowFp2) {
            (low * low + .xi * high * high, two * low * high)
        }
        let a2 = square(x[0], x[3]), b2 = square(x[1], x[4]), c2 = square(x[2], x[5])
        let expected = [
            three * a2.0 - two * x[0], three * .xi * c2.1 + two * x[1], three * b2.0 - two * x[2],
            three * a2.1 + two * x[3], three * c2.0 - two * x[4], three * b2.1 + two * x[5],
        ]
        Fp12(result).cyclotomicSquare(Fp12(a), s)
        XCTAssertEqual(w.slow12(result).c, expected)
        Fp12(result).compressedSquare(Fp12(a), times: 1, s)
        let compressed = w.slow12(result).c
        for power in [1, 2, 4, 5] { XCTAssertEqual(compressed[power], expected[power]) }
        w.arena = start
    }

    /// Tests that an operation whose result is written over an operand gives the same as when it is written elsewhere.
    func testAliasing() {
        Workspace.run { w in
            let s = w.arena.take(1024)
            let binary: [(Limbs, Limbs, Limbs) -> Void] = [
                { Fp.mul($0, $1, $2, s) }, { Fp.add($0, $1, $2) }, { Fp.sub($0, $1, $2) },
                { Fp2($0).multiply(Fp2($1), Fp2($2), s) }, { Fp2($0).add(Fp2($1), Fp2($2)) },
                { Fp2($0).subtract(Fp2($1), Fp2($2)) },
                { Fp6($0).multiply(Fp6($1), Fp6($2), s) }, { Fp12($0).multiply(Fp12($1), Fp12($2), s) },
                { Fp12($0).multiply(Fp12($1), Line($2), s) },
            ]
            let unary: [(Limbs, Limbs) -> Void] = [
                { Fp.sqr($0, $1, s) }, { Fp.neg($0, $1) }, { Fp.inverse($0, $1, s) }, { Fp.root($0, $1, s) },
                { Fp2($0).square(Fp2($1), s) }, { Fp2($0).conjugate(Fp2($1)) }, { Fp2($0).multiplyByXi(Fp2($1), s) },
                { Fp2($0).invert(Fp2($1), s) },
                { Fp6($0).invert(Fp6($1), s) }, { Fp12($0).square(Fp12($1), s) }, { Fp12($0).conjugate(Fp12($1)) },
                { Fp12($0).invert(Fp12($1), s) }, { Fp12($0).frobenius(Fp12($1), s) },
                { Fp12($0).frobenius2(Fp12($1), s) },
                { Fp12($0).frobenius3(Fp12($1), s) }, { Fp12($0).cyclotomicSquare(Fp12($1), s) },
            ]
            for _ in 0..<rounds {
                let start = w.arena
                let a = w.elements(12), b = w.elements(12)
                for operation in binary {
                    checkInPlace(&w, a) { operation($0, $1, b) }
                    checkInPlace(&w, a) { operation($0, b, $1) }
                    checkInPlace(&w, a) { operation($0, $1, $1) }
                }
                for operation in unary { checkInPlace(&w, a, operation) }
                w.arena = start
            }
        }
    }

    private func checkInPlace(_ w: inout Workspace, _ a: Limbs, _ operation: (Limbs, Limbs) -> Void) {
        let start = w.arena
        let elsewhere = w.arena.take(48), here = w.arena.take(48)
        for i in 0..<48 { (elsewhere[i], here[i]) = (a[i], a[i]) }
        operation(elsewhere, a)
        operation(here, here)
        for i in 0..<48 { XCTAssertEqual(elsewhere[i], here[i]) }
        w.arena = start
    }

    func testFrobeniusIsThePthPower() {
        Workspace.run { w in
            let a = w.elements(12), c = w.arena.take(48), d = w.arena.take(48), s = w.arena.take(Fp12.scratch)
            let x = w.slow12(a)
            Fp12(c).frobenius(Fp12(a), s)
            XCTAssertEqual(w.slow12(c), x.power(Parameters.p))
            Fp12(d).frobenius(Fp12(c), s)
            Fp12(c).frobenius2(Fp12(a), s)
            XCTAssertEqual(w.slow12(c), w.slow12(d), "two steps at once")
            Fp12(d).frobenius(Fp12(c), s)
            Fp12(c).frobenius3(Fp12(a), s)
            XCTAssertEqual(w.slow12(c), w.slow12(d), "three steps at once")
            for _ in 3..<12 { Fp12(c).frobenius(Fp12(c), s) }
            XCTAssertEqual(w.slow12(c), x, "twelve steps are none")
        }
    }

    func testCyclotomicSquaringIsSquaring() {
        Workspace.run { w in
            let a = w.gt().limbs, c = w.arena.take(48), d = w.arena.take(48), s = w.arena.take(Fp12.scratch)
            for _ in 0..<rounds {
                Fp12(c).cyclotomicSquare(Fp12(a), s)
                Fp12(d).square(Fp12(a), s)
                XCTAssertNotEqual(Fp12(c).equalMask(Fp12(d), s), 0)
                Fp12(a).multiply(Fp12(c), Fp12(a), s)
            }
        }
    }

    func testCyclotomicPowerIsThePowerByU() {
        Workspace.run { w in
            let a = w.gt().limbs, c = w.arena.take(48)
            Fp12(c).cyclotomicPowU(Fp12(a), w.scratch)
            XCTAssertEqual(w.slow12(c), w.slow12(a).power(0 - Parameters.x))
            XCTAssertNotEqual(Fp12(a).isCyclotomicMask(w.scratch), 0)
            let other = w.elements(12)
            XCTAssertEqual(Fp12(other).isCyclotomicMask(w.scratch), 0)
            let zero = w.elements(12, all: 0)
            XCTAssertEqual(Fp12(zero).isCyclotomicMask(w.scratch), 0)
        }
    }
}

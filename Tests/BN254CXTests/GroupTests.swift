import BN254CX
import Foundation
import XCTest

/// Tests G1, G2 and GT: compares the engine's formulas with the slow affine group law and with double-and-add.
final class GroupTests: XCTestCase {
    /// The number of random cases of each law: 100, or 10,000 with FULL=1 in the environment.
    private let rounds = ProcessInfo.processInfo.environment["FULL"] == "1" ? 10_000 : 100

    func testG1AgreesWithTheAffineLaw() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena
                let p = w.g1(), q = w.g1(), sum = w.arena.g1()
                sum.add(p, q, w.scratch)
                XCTAssertEqual(w.slow(sum), SlowPoint.add(w.slow(p), w.slow(q)))
                sum.double(p, w.scratch)
                XCTAssertEqual(w.slow(sum), SlowPoint.add(w.slow(p), w.slow(p)))
                sum.negate(p)
                XCTAssertEqual(w.slow(sum), SlowPoint.negate(w.slow(p)))
                w.arena = start
            }
        }
    }

    func testG2AgreesWithTheAffineLaw() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena
                let p = w.g2(), q = w.g2(), sum = w.arena.g2()
                sum.add(p, q, w.scratch)
                XCTAssertEqual(w.slow(sum), SlowPoint.add(w.slow(p), w.slow(q)))
                sum.double(p, w.scratch)
                XCTAssertEqual(w.slow(sum), SlowPoint.add(w.slow(p), w.slow(p)))
                sum.negate(p)
                XCTAssertEqual(w.slow(sum), SlowPoint.negate(w.slow(p)))
                w.arena = start
            }
        }
    }

    /// Tests that the addition formula has no exceptions: it must be right for equal points, opposite points, and
    /// infinity on either side. The result may also be written over an operand.
    func testG1AdditionIsComplete() {
        Workspace.run { w in
            let p = w.g1(), minus = w.arena.g1(), infinity = w.arena.g1(), r = w.arena.g1()
            minus.negate(p)
            infinity.setInfinity()
            for (a, b) in [(p, p), (p, minus), (p, infinity), (infinity, p), (infinity, infinity)] {
                r.add(a, b, w.scratch)
                XCTAssertEqual(w.slow(r), SlowPoint.add(w.slow(a), w.slow(b)))
            }
            r.double(infinity, w.scratch)
            XCTAssertNil(w.slow(r))
            r.copy(p)
            r.add(r, r, w.scratch)
            XCTAssertEqual(w.slow(r), SlowPoint.add(w.slow(p), w.slow(p)))
        }
    }

    func testG2AdditionIsComplete() {
        Workspace.run { w in
            let p = w.g2(), minus = w.arena.g2(), infinity = w.arena.g2(), r = w.arena.g2()
            minus.negate(p)
            infinity.setInfinity()
            for (a, b) in [(p, p), (p, minus), (p, infinity), (infinity, p), (infinity, infinity)] {
                r.add(a, b, w.scratch)
                XCTAssertEqual(w.slow(r), SlowPoint.add(w.slow(a), w.slow(b)))
            }
            r.double(infinity, w.scratch)
            XCTAssertNil(w.slow(r))
            r.copy(p)
            r.add(r, r, w.scratch)
            XCTAssertEqual(w.slow(r), SlowPoint.add(w.slow(p), w.slow(p)))
        }
    }

    func testAdditionIsAssociativeAndCommutative() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena
                let a = w.g1(), b = w.g1(), c = w.g1(), left = w.arena.g1(), right = w.arena.g1()
                left.add(a, b, w.scratch)
                left.add(left, c, w.scratch)
                right.add(c, b, w.scratch)
                right.add(right, a, w.scratch)
                XCTAssertNotEqual(left.equalMask(right, w.scratch), 0)
                XCTAssertEqual(left.equalMask(a, w.scratch), 0)
                let d = w.g2(), e = w.g2(), f = w.g2(), left2 = w.arena.g2(), right2 = w.arena.g2()
                left2.add(d, e, w.scratch)
                left2.add(left2, f, w.scratch)
                right2.add(f, e, w.scratch)
                right2.add(right2, d, w.scratch)
                XCTAssertNotEqual(left2.equalMask(right2, w.scratch), 0)
                XCTAssertEqual(left2.equalMask(d, w.scratch), 0)
                w.arena = start
            }
        }
    }

    /// Tests that opposite points, which have the same x, are not equal, and that only infinity is equal to infinity.
    func testOppositePointsAreNotEqual() {
        Workspace.run { w in
            let p = w.g1(), minus = w.arena.g1(), infinity = w.arena.g1()
            minus.negate(p)
            infinity.setInfinity()
            XCTAssertEqual(p.equalMask(minus, w.scratch), 0)
            XCTAssertEqual(p.equalMask(infinity, w.scratch), 0)
            XCTAssertNotEqual(infinity.equalMask(infinity, w.scratch), 0)
            let q = w.g2(), minusQ = w.arena.g2(), infinityQ = w.arena.g2()
            minusQ.negate(q)
            infinityQ.setInfinity()
            XCTAssertEqual(q.equalMask(minusQ, w.scratch), 0)
            XCTAssertEqual(q.equalMask(infinityQ, w.scratch), 0)
            XCTAssertNotEqual(infinityQ.equalMask(infinityQ, w.scratch), 0)
        }
    }

    /// Tests multiplication by scalars of any size, among them 0, r and 2^256 - 1, and by short ones such as PINs.
    func testG1MultiplicationAgreesWithDoubleAndAdd() {
        Workspace.run { w in
            let p = w.g1(), r = w.arena.g1()
            for k in scalars(&w) {
                let start = w.arena
                r.multiply(p, by: w.scalar(k), bits: 256, w.scratch)
                XCTAssertEqual(w.slow(r), SlowPoint.multiply(w.slow(p), k), "\(k)")
                w.arena = start
            }
            for bits in [1, 2, 13, 14, 15, 20, 32, 33, 63, 64, 65, 128, 254, 255, 256] {
                let start = w.arena
                let k = w.scalar(bits: bits)
                r.multiply(p, by: k, bits: bits, w.scratch)
                XCTAssertEqual(w.slow(r), SlowPoint.multiply(w.slow(p), BigInt(k.limbs, 4)), "\(bits) bits")
                w.arena = start
            }
        }
    }

    func testMultiplicationInVariableTimeAgreesWithConstantTime() {
        Workspace.run { w in
            let p = w.g1(), fast = w.arena.g1(), constant = w.arena.g1()
            for k in scalars(&w) {
                let start = w.arena, scalar = w.scalar(k)
                fast.multiplyVartime(p, by: scalar, w.scratch)
                constant.multiply(p, by: scalar, bits: 256, w.scratch)
                XCTAssertNotEqual(fast.equalMask(constant, w.scratch), 0, "\(k)")
                XCTAssertEqual(fast.infinityMask(w.scratch), constant.infinityMask(w.scratch), "\(k)")
                w.arena = start
            }
        }
    }

    /// Tests sums of multiples against multiplications one by one. Among the points are equal, opposite and infinite
    /// ones.
    func testASumOfMultiplesAgreesWithItsTerms() {
        Workspace.run { w in
            let p = w.g1(), opposite = w.arena.g1(), infinite = w.arena.g1(), affine = w.affineG1()
            opposite.negate(p)
            infinite.setInfinity()
            let points = [p, p, opposite, infinite, affine, w.g1()], edges = Array(scalars(&w).prefix(4))
            for count in 0...points.count {
                for round in 0..<8 {
                    let start = w.arena
                    let fast = w.arena.g1(), slow = w.arena.g1(), term = w.arena.g1()
                    slow.setInfinity()
                    var sum = G1Sum(w.arena.take(G1Sum.count(terms: count)))
                    for i in 0..<count {
                        let k = round < 4 ? w.scalar(edges[(i + round) % 4]) : w.scalar(bits: 64 * (round - 3))
                        sum.add(points[i], by: k, w.scratch)
                        term.multiply(points[i], by: k, bits: 256, w.scratch)
                        slow.add(slow, term, w.scratch)
                    }
                    sum.store(in: fast, w.scratch)
                    XCTAssertNotEqual(fast.equalMask(slow, w.scratch), 0, "\(count) terms, round \(round)")
                    XCTAssertEqual(fast.infinityMask(w.scratch), slow.infinityMask(w.scratch))
                    w.arena = start
                }
            }
        }
    }

    func testProductsOfScalars() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena, a = w.scalar(), b = w.scalar(), product = w.arena.scalar()
                product.multiplyVartime(a, b, w.scratch)
                XCTAssertEqual(BigInt(product.limbs, 4), (BigInt(a.limbs, 4) * BigInt(b.limbs, 4)).mod(Parameters.r))
                w.arena = start
            }
        }
    }

    /// Tests that the scalar a + b lambda, which `setShort` makes from two limbs a and b, is split into the same limbs
    /// again, and that multiplication by it is right.
    func testShortScalarsAreTheirTwoHalves() {
        let lambda = 36 * Parameters.x.power(3) + 18 * Parameters.x.power(2) + 6 * Parameters.x + 1
        Workspace.run { w in
            let p = w.g1(), product = w.arena.g1(), edges: [UInt] = [0, 1, 2, 1 << 63, UInt.max - 1, UInt.max]
            var halves = edges.flatMap { a in edges.map { (a, $0) } }
            for _ in 0..<rounds { halves.append((w.next(), w.next())) }
            for (a, b) in halves {
                let start = w.arena, k = w.arena.scalar()
                k.setShort(a, b)
                let value = (BigInt([a], 1) + BigInt([b], 1) * lambda).mod(Parameters.r)
                XCTAssertEqual(BigInt(k.limbs, 4), value, "\(a) + \(b) lambda")
                let (first, second) = ScalarSplit.split(k, w.scratch)
                XCTAssertEqual([first.magnitude, second.magnitude], [UInt128(a), UInt128(b)])
                XCTAssertEqual([first.minus & UInt(a == 0 ? 0 : 1), second.minus & UInt(b == 0 ? 0 : 1)], [0, 0])
                product.multiplyVartime(p, by: k, w.scratch)
                XCTAssertEqual(w.slow(product), SlowPoint.multiply(w.slow(p), value), "\(a) + \(b) lambda")
                w.arena = start
            }
        }
    }

    func testMultiplesOfInfinity() {
        Workspace.run { w in
            let p = w.arena.g1(), q = w.arena.g2(), k = w.scalar(), one = w.g1(), sum = w.arena.g1()
            p.setInfinity()
            q.setInfinity()
            for bits in [14, 256] {
                sum.multiply(p, by: w.scalar(bits: bits), bits: bits, w.scratch)
                XCTAssertNil(w.slow(sum))
                sum.add(sum, one, w.scratch)
                XCTAssertEqual(w.slow(sum), w.slow(one))
            }
            sum.multiplyVartime(p, by: k, w.scratch)
            XCTAssertNil(w.slow(sum))
            q.multiply(q, by: k, bits: 256, w.scratch)
            XCTAssertNil(w.slow(q))
        }
    }

    /// Tests that one table of multiples of a point serves for several scalars, for a point with Z = 1 and for one with
    /// another Z, and that one inversion brings several points to Z = 1.
    func testMultiplesAndSharedInversion() {
        Workspace.run { w in
            let p = w.g1(), affine = w.affineG1()
            for point in [p, affine] {
                let multiples = G1Multiples(w.arena.take(G1Multiples.count)), points = w.arena.take(3 * G1.count)
                multiples.fill(point, w.scratch)
                let scalars = [w.scalar(bits: 14), w.scalar(), w.scalar(bits: 20)]
                for (i, bits) in [14, 256, 20].enumerated() {
                    multiples.multiply(G1(points + i * G1.count), by: scalars[i], bits: bits, w.scratch)
                }
                XCTAssertNotEqual(G1.makeAffine(points, count: 3, w.scratch), 0)
                for (i, scalar) in scalars.enumerated() {
                    let product = G1(points + i * G1.count)
                    XCTAssertEqual(w.slow(product), SlowPoint.multiply(w.slow(point), BigInt(scalar.limbs, 4)))
                    XCTAssertEqual(BigInt(product.limbs + 8, 4), BigInt(2).power(320).mod(Parameters.p))
                }
                G1(points + G1.count).setInfinity()
                XCTAssertEqual(G1.makeAffine(points, count: 3, w.scratch), 0)
            }
        }
    }

    /// Compares powers in GT with square-and-multiply, for the exponents in `scalars` and for short ones.
    func testPowersInGTAgreeWithSquareAndMultiply() {
        Workspace.run { w in
            let a = w.gt(), power = w.arena.gt(), expected = w.arena.gt()
            for (k, bits) in scalars(&w).map({ ($0, 256) }) + [(BigInt(12345), 14), (0, 14), (1, 20)] {
                let start = w.arena
                power.power(a, by: w.scalar(k), bits: bits, w.scratch)
                w.squareAndMultiply(expected, a, k)
                XCTAssertTrue(power.equals(expected, w.scratch), "\(k)")
                w.arena = start
            }
        }
    }

    func testG2MultiplicationAgreesWithDoubleAndAdd() {
        Workspace.run { w in
            let p = w.g2(), r = w.arena.g2()
            for k in scalars(&w) {
                let start = w.arena
                r.multiply(p, by: w.scalar(k), bits: 256, w.scratch)
                XCTAssertEqual(w.slow(r), SlowPoint.multiply(w.slow(p), k), "\(k)")
                w.arena = start
            }
        }
    }

    /// Returns scalars for the tests: the ends of the range, small multiples of the eigenvalues of the endomorphisms
    /// (lambda, and p with its powers), and random ones. The multiples are split into zeros and small numbers of both
    /// signs. With these it is most likely that an addition gets equal or opposite points.
    private func scalars(_ w: inout Workspace) -> [BigInt] {
        let r = Parameters.r, x = Parameters.x, p = Parameters.p
        let lambda = 36 * x.power(3) + 18 * x * x + 6 * x + 1
        var result = [0, 1, 2, 3, 15, 16, 17, r - 1, r, r + 1, r + r, 7 * r, BigInt(2).power(256) - 1]
        for small: BigInt in [-17, -16, -15, -2, -1, 1, 2, 3, 16] {
            for other: BigInt in [-16, -1, 0, 1, 2] { result.append((small * lambda + other).mod(r)) }
            for power in 1...3 { result.append((small * p.power(power) + 1).mod(r)) }
            result.append((small * p.power(3) - p * p).mod(r))
        }
        return result + (0..<rounds).map { _ in w.integer() }
    }

    /// Tests the multiplication by each of the 2^14 scalars of 14 bits, which is the width of four-digit PINs.
    func testMultiplicationByEveryPINScalar() {
        Workspace.run { w in
            let p = w.arena.g1(), sum = w.arena.g1(), product = w.arena.g1(), k = w.scalar(0)
            p.setGenerator()
            sum.setInfinity()
            for pin in 0..<UInt(1 << 14) {
                k.limbs[0] = pin
                product.multiply(p, by: k, bits: 14, w.scratch)
                XCTAssertNotEqual(product.equalMask(sum, w.scratch), 0)
                XCTAssertEqual(product.infinityMask(w.scratch) != 0, pin == 0)
                sum.add(sum, p, w.scratch)
            }
        }
    }

    func testGeneratorsHaveOrderR() {
        Workspace.run { w in
            let p = w.arena.g1(), q = w.arena.g2(), r = Parameters.r
            p.setGenerator()
            q.setGenerator()
            let b = SlowFp(2), twistB = SlowFp2(1, Parameters.p - 1)
            if let point = w.slow(p) { XCTAssertEqual(point.y * point.y, point.x * point.x * point.x + b) }
            if let point = w.slow(q) { XCTAssertEqual(point.y * point.y, point.x * point.x * point.x + twistB) }
            // Multiplies with the slow implementation, because `multiply` reduces the scalar mod r.
            XCTAssertNil(SlowPoint.multiply(w.slow(p), r))
            XCTAssertNil(SlowPoint.multiply(w.slow(q), r))
        }
    }

    /// Tests that on G2 the endomorphism psi is the multiplication by p.
    func testPsiIsMultiplicationByP() {
        Workspace.run { w in
            let q = w.g2(), image = w.arena.g2(), product = w.arena.g2()
            image.psi(q, w.scratch)
            w.doubleAndAdd(product, q, Parameters.p)
            XCTAssertNotEqual(image.equalMask(product, w.scratch), 0)
        }
    }

    func testScalarsAddModR() {
        Workspace.run { w in
            let r = Parameters.r
            let pairs: [(BigInt, BigInt)] = [
                (r - 1, r - 1), (r - 1, 1), (0, 0), (5, 7), (w.integer().mod(r), w.integer().mod(r)),
            ]
            for (a, b) in pairs {
                let x = w.scalar(a), y = w.scalar(b)
                x.add(x, y)
                XCTAssertEqual(BigInt(x.limbs, 4), (a + b).mod(r))
            }
        }
    }
}

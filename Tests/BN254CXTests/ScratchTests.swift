import BN254CX
import CGMP
import XCTest

/// Tests that each function uses no more scratch than it declares: the limbs after it must not change.
final class ScratchTests: XCTestCase {
    private let mark: UInt = 0xA5A5_5A5A_A5A5_5A5A

    private func assertWithin(
        _ count: Int, _ w: inout Workspace, line: UInt = #line, _ body: (Limbs) -> Void
    ) {
        let scratch = w.scratch, guardCount = 512
        for i in 0..<count + guardCount { scratch[i] = mark }
        body(scratch)
        for i in count..<count + guardCount { XCTAssertEqual(scratch[i], mark, "limb \(i) of \(count)", line: line) }
    }

    func testFieldFunctions() {
        Workspace.run { w in
            let a = w.elements(12), b = w.elements(12), c = w.arena.take(48)
            assertWithin(Fp.scratch, &w) { Fp.mul(c, a, b, $0) }
            assertWithin(Fp.scratch, &w) { Fp.sqr(c, a, $0) }
            assertWithin(Fp.powerScratch, &w) { Fp.inverse(c, a, $0) }
            assertWithin(Fp2.scratch, &w) { Fp2(c).multiply(Fp2(a), Fp2(b), $0) }
            assertWithin(Fp2.scratch, &w) { Fp2(c).square(Fp2(a), $0) }
            assertWithin(Fp2.inverseScratch, &w) { Fp2(c).invert(Fp2(a), $0) }
            assertWithin(Fp6.scratch, &w) { Fp6(c).multiply(Fp6(a), Fp6(b), $0) }
            assertWithin(Fp6.inverseScratch, &w) { Fp6(c).invert(Fp6(a), $0) }
            assertWithin(Fp12.scratch, &w) { Fp12(c).multiply(Fp12(a), Fp12(b), $0) }
            assertWithin(Fp12.scratch, &w) { Fp12(c).square(Fp12(a), $0) }
            assertWithin(Fp12.scratch, &w) { Fp12(c).multiply(Fp12(a), Line(b), $0) }
            assertWithin(Fp12.scratch, &w) { Fp12(c).multiply(Fp12(a), MonicLine(b), $0) }
            assertWithin(Fp12.scratch, &w) { Fp12(c).cyclotomicSquare(Fp12(a), $0) }
            assertWithin(Fp12.inverseScratch, &w) { Fp12(c).invert(Fp12(a), $0) }
            assertWithin(Fp12.powUScratch, &w) { Fp12(c).cyclotomicPowU(Fp12(a), $0) }
            assertWithin(Fp2.scratch, &w) { Fp12(c).frobenius(Fp12(a), $0) }
        }
    }

    func testGroupFunctions() {
        Workspace.run { w in
            let p = w.g1(), q = w.g2(), k = w.scalar(), product = w.arena.scalar(), r1 = w.arena.g1(),
                r2 = w.arena.g2(), affine = w.arena.take(16)
            let hash = [UInt8](repeating: 9, count: 32), three = w.arena.take(3 * G1.count)
            for i in 0..<3 { G1(three + i * G1.count).copy(p) }
            assertWithin(G1.scratch, &w) { r1.add(p, p, $0) }
            assertWithin(G1.scratch, &w) { r1.double(p, $0) }
            assertWithin(G1.multiplyScratch, &w) { r1.multiply(p, by: k, bits: 256, $0) }
            assertWithin(G1.multiplyScratch, &w) { r1.multiply(p, by: k, bits: 20, $0) }
            assertWithin(G1.multiplyVartimeScratch, &w) { r1.multiplyVartime(p, by: k, $0) }
            assertWithin(5 * 4 + Fp.powerScratch, &w) { _ = G1.makeAffine(three, count: 3, $0) }
            assertWithin(G1Sum.count(terms: 2) + G1Sum.scratch, &w) { s in
                var sum = G1Sum(s)
                let t = s + G1Sum.count(terms: 2)
                for _ in 0..<2 { sum.add(p, by: k, t) }
                sum.store(in: r1, t)
            }
            assertWithin(13, &w) { product.multiplyVartime(k, k, $0) }
            assertWithin(G1.encodingScratch, &w) { p.makeAffine(G1Affine(affine), $0) }
            assertWithin(G1.mapScratch, &w) { _ = r1.mapVartime(hash: hash.span, $0) }
            assertWithin(G2.scratch, &w) { r2.add(q, q, $0) }
            assertWithin(G2.scratch, &w) { r2.double(q, $0) }
            assertWithin(G2.multiplyScratch, &w) { r2.multiply(q, by: k, bits: 256, $0) }
            assertWithin(G2.encodingScratch, &w) { q.makeAffine(G2Affine(affine), $0) }
            assertWithin(G2.subgroupScratch, &w) { _ = q.subgroupMask($0) }
        }
    }

    func testEncodings() {
        Workspace.run { w in
            let p = w.g1(), q = w.g2(), e = w.gt()
            var g1 = [UInt8](repeating: 0, count: 65), g2 = [UInt8](repeating: 0, count: 128)
            var gt = [UInt8](repeating: 0, count: 384)
            assertWithin(G1.encodingScratch, &w) { s in
                var span = g1.mutableSpan
                XCTAssertTrue(p.encode(into: &span, s))
            }
            assertWithin(G1.encodingScratch, &w) { XCTAssertTrue(p.decode(g1.span, $0)) }
            assertWithin(G2.encodingScratch, &w) { s in
                var span = g2.mutableSpan
                XCTAssertTrue(q.encode(into: &span, s))
            }
            assertWithin(G2.encodingScratch, &w) { XCTAssertEqual(q.decode(g2.span, $0), .valid) }
            assertWithin(GT.scratch, &w) { s in
                var span = gt.mutableSpan
                XCTAssertTrue(e.encode(into: &span, s))
            }
            assertWithin(GT.scratch, &w) { XCTAssertEqual(e.decode(gt.span, $0), .valid) }
        }
    }

    func testPairingFunctions() {
        Workspace.run { w in
            let p = w.affineG1(), q = w.affineG2(), value = w.arena.gt(), k = w.scalar(), power = w.arena.gt()
            assertWithin(Pairing.scratch, &w) { Pairing.pairing(value, q.affine, p.affine, $0) }
            assertWithin(Pairing.scratch, &w) { Pairing.product(value, q.affine, p.affine, q.affine, p.affine, $0) }
            assertWithin(PreparedG2.scratch, &w) { _ = PreparedG2(q.affine, $0) }
            let prepared = PreparedG2(q.affine, w.scratch)
            assertWithin(Pairing.preparedScratch, &w) { Pairing.pairing(value, prepared, p, $0) }
            assertWithin(Pairing.preparedScratch, &w) { Pairing.product(value, prepared, p, prepared, p, $0) }
            assertWithin(GT.powerScratch, &w) { power.power(value, by: k, bits: 256, $0) }
            assertWithin(GT.scratch, &w) { power.multiply(value, value, $0) }
            assertWithin(DiscreteLogarithm.scratch, &w) { scratch in
                var arena = Arena(scratch)
                _ = DiscreteLogarithm(base: value, bound: 9_999, &arena).findVartime(value)
            }
        }
    }

    /// Tests that the arena has room for the scratch of the largest operations together with all values that a function
    /// of the protocol decodes.
    func testArenaHoldsTheLargestOperations() {
        let values = 8 * G1.count + 4 * G2.count + 4 * GT.count + 4 * Scalar.count
        for scratch in [
            PreparedG2.scratch, Pairing.scratch, Pairing.preparedScratch, DiscreteLogarithm.scratch,
            GT.powerScratch, G2.multiplyScratch, G1Multiples.count + G1.multiplyScratch, G1.multiplyVartimeScratch,
        ] {
            XCTAssertLessThanOrEqual(values + scratch, Arena.capacity)
        }
        // The largest check of proofs together has the sum of two terms for each, and a few values beside it.
        let sum = G1Sum.count(terms: 16) + max(G1Sum.scratch, G1.mapScratch)
        XCTAssertLessThanOrEqual(7 * G1.count + 9 * Scalar.count + sum, Arena.capacity)
    }

    /// The same for the smaller arena: pass 1 with a time permit has the most values, a table of multiples among them.
    func testTheSmallerArenaHoldsTheOperationsInG1() {
        let values = 12 * G1.count + 8 * Scalar.count + G1Multiples.count + 2 * 65
        for scratch in [
            G1Multiples.scratch, G1.multiplyScratch, G1.mapScratch, G1.encodingScratch, 5 * 4 + Fp.powerScratch,
            ScalarSplit.scratch,
        ] {
            XCTAssertLessThanOrEqual(values + scratch, Arena.g1Capacity)
        }
    }

    /// Tests that GMP's constant-time products of four limbs need no scratch, because the engine passes none to them.
    func testProductsOfFourLimbsNeedNoScratch() {
        XCTAssertEqual(__gmpn_sec_mul_itch(4, 4), 0)
        XCTAssertEqual(__gmpn_sec_sqr_itch(4), 0)
    }
}

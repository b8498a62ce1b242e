import BN254CX
import XCTest

/// Tests arithmetic modulo r, products of pairings with one prepared point, traces, and the map of Elligator squared.
final class ProtocolArithmeticTests: XCTestCase {
    private let rounds = 20

    private func value(_ scalar: Scalar) -> BigInt { BigInt(scalar.limbs, 4) }

    func testInverseOfAScalar() {
        Workspace.run { w in
            let r = Parameters.r
            let edges: [BigInt] = [1, 2, r - 1, r - 2, BigInt(2).power(253), BigInt(2).power(64)]
            for a in edges + (0..<100).map({ _ in w.integer().mod(r) }) {
                let start = w.arena, scalar = w.scalar(a)
                scalar.invert(scalar, w.scratch)
                XCTAssertEqual(value(scalar), a.inverse(mod: r), "1/\(a)")
                w.arena = start
            }
        }
    }

    func testReductionOfAScalar() {
        Workspace.run { w in
            let r = Parameters.r, top = BigInt(2).power(256) - 1
            let multiples = (0...7).flatMap { k in [BigInt(integerLiteral: k) * r, BigInt(integerLiteral: k) * r + 1] }
            for a in multiples + [r - 1, top] + (0..<100).map({ _ in w.integer() }) {
                let start = w.arena, scalar = w.scalar(a)
                scalar.reduce()
                XCTAssertEqual(value(scalar), a.mod(r), "\(a) mod r")
                w.arena = start
            }
        }
    }

    func testScalarsBelowTheOrderAreRead() {
        Workspace.run { w in
            let r = Parameters.r
            let cases: [(BigInt, Bool)] = [
                (0, true), (1, true), (r - 1, true), (r, false), (r + 1, false), (BigInt(2).power(256) - 1, false),
            ]
            for (number, isBelow) in cases {
                var octets = [UInt8](repeating: 0, count: 32), span = octets.mutableSpan
                XCTAssertTrue(w.scalar(number).encode(into: &span))
                XCTAssertEqual(w.arena.scalar().decodeBelowOrder(octets.span, w.scratch), isBelow, "\(number)")
            }
            for count in [0, 31, 33] {
                let octets = [UInt8](repeating: 0, count: count)
                XCTAssertFalse(w.arena.scalar().decodeBelowOrder(octets.span, w.scratch), "\(count)")
            }
        }
    }

    /// Tests that a product of two pairings has the same value when one point of G2 is prepared, even if that pairing's
    /// point of G1 has a Z other than 1 or is infinite.
    func testMixedProductEqualsTheOther() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena
                let q1 = w.affineG2(), q2 = w.affineG2(), p1 = w.g1(), p2 = w.affineG1(), affine = w.arena.g1()
                p1.makeAffine(affine.affine, w.scratch)
                Fp.setOne(affine.limbs + 8)
                let expected = w.arena.gt(), mixed = w.arena.gt(), prepared = PreparedG2(q1.affine, w.scratch)
                Pairing.product(expected, q1.affine, affine.affine, q2.affine, p2.affine, w.scratch)
                Pairing.product(mixed, prepared, p1, q2.affine, p2.affine, w.scratch)
                XCTAssertTrue(mixed.equals(expected, w.scratch))
                p1.setInfinity()
                Pairing.pairing(expected, q2.affine, p2.affine, w.scratch)
                Pairing.product(mixed, prepared, p1, q2.affine, p2.affine, w.scratch)
                XCTAssertTrue(mixed.equals(expected, w.scratch))
                w.arena = start
            }
        }
    }

    func testPairingOfAnyZ() {
        Workspace.run { w in
            let q = w.affineG2(), p = w.g1(), affine = w.arena.g1(), expected = w.arena.gt(), made = w.arena.gt()
            p.makeAffine(affine.affine, w.scratch)
            Fp.setOne(affine.limbs + 8)
            Pairing.pairing(expected, q.affine, affine.affine, w.scratch)
            Pairing.pairingOfAnyZ(made, q.affine, p, w.scratch)
            XCTAssertTrue(made.equals(expected, w.scratch))
            p.setInfinity()
            Pairing.pairingOfAnyZ(made, q.affine, p, w.scratch)
            XCTAssertTrue(made.isOne(w.scratch))
        }
    }

    /// Tests that the trace of a, an element of GT, is the sum of its conjugates over Fp4: a + a^(p^4) + a^(p^8).
    func testTraceIsTheSumOfTheConjugates() {
        Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena, a = w.gt(), conjugate = w.arena.gt(), sum = w.arena.gt()
                sum.copy(a)
                conjugate.copy(a)
                for _ in 0..<2 {
                    Fp12(conjugate.limbs).frobenius2(Fp12(conjugate.limbs), w.scratch)
                    Fp12(conjugate.limbs).frobenius2(Fp12(conjugate.limbs), w.scratch)
                    for i in 0..<12 { Fp.add(sum.limbs + 4 * i, sum.limbs + 4 * i, conjugate.limbs + 4 * i) }
                }
                var all = [UInt8](repeating: 0, count: 384), trace = [UInt8](repeating: 0, count: 128)
                var allSpan = all.mutableSpan, traceSpan = trace.mutableSpan
                XCTAssertTrue(sum.encode(into: &allSpan, w.scratch))
                XCTAssertTrue(a.encodeTrace(into: &traceSpan, w.scratch))
                XCTAssertEqual(all, trace + [UInt8](repeating: 0, count: 256))
                w.arena = start
            }
            var short = [UInt8](repeating: 0, count: 127), span = short.mutableSpan
            XCTAssertFalse(w.gt().encodeTrace(into: &span, w.scratch))
        }
    }

    /// Tests the numbers that Elligator's map maps to a given point: `preimagesVartime` finds base and count, and
    /// base + 1 to base + count must be mapped to the point, but base and base + count + 1 must not.
    func testPreimagesOfThePointsMap() throws {
        try Workspace.run { w in
            for _ in 0..<rounds {
                let start = w.arena, point = w.g1(), image = w.arena.g1(), base = w.arena.take(4)
                let found = try XCTUnwrap(point.preimagesVartime(base: base, w.scratch))
                for m in 0...found.count + 1 {
                    var u = [UInt8](repeating: 0, count: 32), span = u.mutableSpan
                    let copy = w.arena.take(4)
                    for i in 0..<4 { copy[i] = base[i] }
                    XCTAssertTrue(G1.encodePreimage(base: copy, plus: m, into: &span, w.scratch))
                    XCTAssertTrue(image.mapVartime(u: u.span, isOdd: found.isOdd, w.scratch))
                    let isPreimage = m >= 1 && m <= found.count
                    XCTAssertEqual(image.equalMask(point, w.scratch) != 0, isPreimage, "\(m) of \(found.count)")
                    XCTAssertTrue(image.mapVartime(u: u.span, isOdd: !found.isOdd, w.scratch))
                    XCTAssertEqual(image.equalMask(point, w.scratch), 0)
                }
                w.arena = start
            }
            let infinity = w.arena.g1(), base = w.arena.take(4)
            infinity.setInfinity()
            XCTAssertNil(infinity.preimagesVartime(base: base, w.scratch))
        }
    }

    func testFunctionsStayWithinTheirScratch() {
        Workspace.run { w in
            let p = w.affineG1(), q = w.affineG2(), value = w.gt(), k = w.scalar(5), base = w.arena.take(4)
            let prepared = PreparedG2(q.affine, w.scratch), u = [UInt8](repeating: 9, count: 32)
            var trace = [UInt8](repeating: 0, count: 128)
            assertWithin(Scalar.scratch, &w) { k.invert(k, $0) }
            assertWithin(4, &w) { _ = k.decodeBelowOrder(u.span, $0) }
            assertWithin(GT.traceScratch, &w) { s in
                var span = trace.mutableSpan
                XCTAssertTrue(value.encodeTrace(into: &span, s))
            }
            assertWithin(G1.preimageScratch, &w) { _ = p.preimagesVartime(base: base, $0) }
            assertWithin(G1.mapScratch, &w) { _ = p.mapVartime(u: u.span, isOdd: true, $0) }
            assertWithin(Pairing.mixedScratch, &w) { Pairing.product(value, prepared, p, q.affine, p.affine, $0) }
            assertWithin(Pairing.scratch, &w) { Pairing.pairingOfAnyZ(value, q.affine, p, $0) }
            let values = 8 * G1.count + 4 * G2.count + 4 * GT.count + 4 * Scalar.count
            XCTAssertLessThanOrEqual(values + Pairing.mixedScratch, Arena.capacity)
        }
    }

    private func assertWithin(_ count: Int, _ w: inout Workspace, line: UInt = #line, _ body: (Limbs) -> Void) {
        let scratch = w.scratch, guardCount = 512, mark: UInt = 0xA5A5_5A5A_A5A5_5A5A
        for i in 0..<count + guardCount { scratch[i] = mark }
        body(scratch)
        for i in count..<count + guardCount { XCTAssertEqual(scratch[i], mark, "limb \(i) of \(count)", line: line) }
    }
}

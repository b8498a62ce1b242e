import BN254CX
import XCTest

final class PairingTests: XCTestCase {
    private let rounds = 10

    /// Tests e(aQ, bP) = e(Q, P)^(ab) = e(bQ, aP).
    func testBilinearity() {
        Workspace.run { w in
            let g1 = w.arena.g1(), g2 = w.arena.g2(), e = w.arena.gt()
            g1.setGenerator()
            g2.setGenerator()
            Pairing.pairing(e, g2.affine, g1.affine, w.scratch)
            for _ in 0..<rounds {
                let start = w.arena
                let a = w.integer().mod(Parameters.r), b = w.integer().mod(Parameters.r)
                let left = pairing(&w, g2, a, g1, b), right = pairing(&w, g2, b, g1, a), power = w.arena.gt()
                power.power(e, by: w.scalar((a * b).mod(Parameters.r)), bits: 256, w.scratch)
                XCTAssertTrue(left.equals(power, w.scratch))
                XCTAssertTrue(right.equals(power, w.scratch))
                XCTAssertFalse(left.isOne(w.scratch))
                w.arena = start
            }
        }
    }

    /// Returns the pairing e(aQ, bP), where Q and P are the points `q` and `p`.
    private func pairing(_ w: inout Workspace, _ q: G2, _ a: BigInt, _ p: G1, _ b: BigInt) -> GT {
        let aq = w.arena.g2(), bp = w.arena.g1(), affineQ = w.arena.g2(), affineP = w.arena.g1(), value = w.arena.gt()
        aq.multiply(q, by: w.scalar(a), bits: 256, w.scratch)
        bp.multiply(p, by: w.scalar(b), bits: 256, w.scratch)
        aq.makeAffine(affineQ.affine, w.scratch)
        Fp2(affineQ.limbs + 16).setOne()
        bp.makeAffine(affineP.affine, w.scratch)
        Fp.setOne(affineP.limbs + 8)
        Pairing.pairing(value, affineQ.affine, affineP.affine, w.scratch)
        return value
    }

    func testValuesHaveOrderR() {
        Workspace.run { w in
            let value = w.gt(), power = w.arena.gt()
            XCTAssertFalse(value.isOne(w.scratch))
            w.squareAndMultiply(power, value, Parameters.r)
            XCTAssertTrue(power.isOne(w.scratch))
            power.power(value, by: w.scalar(0), bits: 256, w.scratch)
            XCTAssertTrue(power.isOne(w.scratch))
        }
    }

    /// Compares the pairing with `SlowPairing`, which follows the textbook: it divides by vertical lines over Fp12 and
    /// raises to the power (p^12 - 1)/r.
    func testAgreesWithTheTextbookPairing() throws {
        try Workspace.run { w in
            let q = w.affineG2(), p = w.affineG1(), value = w.arena.gt()
            Pairing.pairing(value, q.affine, p.affine, w.scratch)
            let slow = SlowPairing.pairing(try XCTUnwrap(w.slow(q)), try XCTUnwrap(w.slow(p)))
            XCTAssertEqual(w.slow12(value.limbs), slow)
        }
    }

    func testProductIsTheProduct() {
        Workspace.run { w in
            let q1 = w.affineG2(), p1 = w.affineG1(), q2 = w.affineG2(), p2 = w.affineG1()
            let a = w.arena.gt(), b = w.arena.gt(), product = w.arena.gt()
            Pairing.pairing(a, q1.affine, p1.affine, w.scratch)
            Pairing.pairing(b, q2.affine, p2.affine, w.scratch)
            a.multiply(a, b, w.scratch)
            Pairing.product(product, q1.affine, p1.affine, q2.affine, p2.affine, w.scratch)
            XCTAssertTrue(product.equals(a, w.scratch))
        }
    }

    func testOppositePointsCancel() {
        Workspace.run { w in
            let q = w.affineG2(), p = w.affineG1(), minus = w.arena.g1(), product = w.arena.gt()
            minus.negate(p)
            Pairing.product(product, q.affine, p.affine, q.affine, minus.affine, w.scratch)
            XCTAssertTrue(product.isOne(w.scratch))
        }
    }

    /// Tests that pairings and products of pairings with prepared points of G2 have the same values as without, even if
    /// the points of G1 have a Z other than 1.
    func testPreparedPointsGiveTheSamePairing() {
        Workspace.run { w in
            let q1 = w.affineG2(), q2 = w.affineG2(), p1 = w.affineG1(), p2 = w.affineG1()
            let prepared1 = PreparedG2(q1.affine, w.scratch), prepared2 = PreparedG2(q2.affine, w.scratch)
            let plain = w.arena.gt(), prepared = w.arena.gt()
            Pairing.pairing(plain, q1.affine, p1.affine, w.scratch)
            scale(p1, &w)
            Pairing.pairing(prepared, prepared1, p1, w.scratch)
            XCTAssertTrue(prepared.equals(plain, w.scratch))
            Pairing.pairing(plain, q2.affine, p2.affine, w.scratch)
            plain.multiply(plain, prepared, w.scratch)
            scale(p2, &w)
            Pairing.product(prepared, prepared1, p1, prepared2, p2, w.scratch)
            XCTAssertTrue(prepared.equals(plain, w.scratch))
        }
    }

    /// Multiplies all three coordinates of a point by a random factor, which gives the same point with another Z.
    private func scale(_ point: G1, _ w: inout Workspace) {
        let factor = w.arena.take(4)
        for i in 0..<4 { factor[i] = i < 3 ? w.next() : w.next() >> 4 }
        for i in 0..<3 { Fp.mul(point.limbs + 4 * i, point.limbs + 4 * i, factor, w.scratch) }
    }

    func testInfinityPairsToOne() {
        Workspace.run { w in
            let q = w.affineG2(), p = w.affineG1(), infinity = w.arena.g1(), a = w.arena.gt(), b = w.arena.gt()
            let prepared = PreparedG2(q.affine, w.scratch)
            infinity.setInfinity()
            Pairing.pairing(a, prepared, infinity, w.scratch)
            XCTAssertTrue(a.isOne(w.scratch))
            Pairing.pairing(a, q.affine, p.affine, w.scratch)
            Pairing.product(b, prepared, infinity, prepared, p, w.scratch)
            XCTAssertTrue(b.equals(a, w.scratch))
        }
    }

    func testPowersAddUp() {
        Workspace.run { w in
            let g = w.gt(), a = w.arena.gt(), b = w.arena.gt()
            let k = w.integer().mod(Parameters.r), l = w.integer().mod(Parameters.r)
            a.power(g, by: w.scalar(k), bits: 256, w.scratch)
            b.power(g, by: w.scalar(l), bits: 256, w.scratch)
            a.multiply(a, b, w.scratch)
            b.power(g, by: w.scalar((k + l).mod(Parameters.r)), bits: 256, w.scratch)
            XCTAssertTrue(a.equals(b, w.scratch))
            b.invert(b)
            a.multiply(a, b, w.scratch)
            XCTAssertTrue(a.isOne(w.scratch))
        }
    }
}

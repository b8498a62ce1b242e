import BN254CX
import XCTest

/// Tests that the encodings are strict: what was encoded can be decoded, and every other input is refused.
final class EncodingTests: XCTestCase {
    private func octets(_ count: Int, _ body: (inout MutableSpan<UInt8>) -> Bool) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count), span = bytes.mutableSpan
        return body(&span) ? bytes : nil
    }

    /// Returns the number as 32 big-endian bytes.
    private func bytes(_ value: BigInt) -> [UInt8] {
        value.limbs(4).reversed().flatMap { limb in (0..<8).map { UInt8(truncatingIfNeeded: limb >> (56 - 8 * $0)) } }
    }

    /// Tests that a point with Z = 1 gives the same octets as a `G1Affine`, whose `encode` needs no inversion, and as a
    /// `G1`. An output of another length is refused.
    func testAffinePointsHaveTheSameOctets() {
        Workspace.run { w in
            let point = w.affineG1()
            var octets = [UInt8](repeating: 0, count: 65), direct = octets, short = [UInt8](repeating: 0, count: 64)
            var out = octets.mutableSpan
            XCTAssertTrue(point.encode(into: &out, w.scratch))
            var directOut = direct.mutableSpan
            XCTAssertTrue(point.affine.encode(into: &directOut, w.scratch))
            XCTAssertEqual(octets, direct)
            var shortOut = short.mutableSpan
            XCTAssertFalse(point.affine.encode(into: &shortOut, w.scratch))
        }
    }

    func testG1ComesBack() throws {
        try Workspace.run { w in
            let p = w.g1(), q = w.arena.g1()
            let octets = try XCTUnwrap(octets(65) { p.encode(into: &$0, w.scratch) })
            XCTAssertTrue(q.decode(octets.span, w.scratch))
            XCTAssertNotEqual(p.equalMask(q, w.scratch), 0)
        }
    }

    func testG2ComesBack() throws {
        try Workspace.run { w in
            let p = w.g2(), q = w.arena.g2()
            let octets = try XCTUnwrap(octets(128) { p.encode(into: &$0, w.scratch) })
            XCTAssertEqual(q.decode(octets.span, w.scratch), .valid)
            XCTAssertNotEqual(p.equalMask(q, w.scratch), 0)
        }
    }

    func testGTComesBack() throws {
        try Workspace.run { w in
            let a = w.gt(), b = w.arena.gt()
            let octets = try XCTUnwrap(octets(384) { a.encode(into: &$0, w.scratch) })
            XCTAssertEqual(b.decode(octets.span, w.scratch), .valid)
            XCTAssertTrue(a.equals(b, w.scratch))
        }
    }

    func testInfinityHasNoEncoding() {
        Workspace.run { w in
            let p = w.arena.g1(), q = w.arena.g2()
            p.setInfinity()
            q.setInfinity()
            XCTAssertNil(octets(65) { p.encode(into: &$0, w.scratch) })
            XCTAssertNil(octets(128) { q.encode(into: &$0, w.scratch) })
            for prefix: UInt8 in [0, 4] {
                let zeros = [prefix] + [UInt8](repeating: 0, count: 64)
                XCTAssertFalse(p.decode(zeros.span, w.scratch))
            }
            let zeros = [UInt8](repeating: 0, count: 128)
            XCTAssertEqual(q.decode(zeros.span, w.scratch), .invalid)
        }
    }

    func testG1RefusesEveryOtherLengthAndPrefix() throws {
        try Workspace.run { w in
            let p = w.g1()
            let good = try XCTUnwrap(octets(65) { p.encode(into: &$0, w.scratch) })
            for count in 0...66 where count != 65 {
                let other = Array((good + [0]).prefix(count))
                XCTAssertFalse(p.decode(other.span, w.scratch), "\(count) bytes")
            }
            for prefix in UInt8.min...UInt8.max where prefix != 4 {
                let other = [prefix] + good.dropFirst()
                XCTAssertFalse(p.decode(other.span, w.scratch), "prefix \(prefix)")
            }
            for count in [0, 64, 66] { XCTAssertNil(octets(count) { p.encode(into: &$0, w.scratch) }) }
        }
    }

    /// Tests that a coordinate to which p is added is refused, although it stands for the same number mod p. So each
    /// point has only one encoding.
    func testCoordinatesMustBeBelowP() throws {
        try Workspace.run { w in
            let p = w.g1(), q = w.g2(), e = w.gt()
            let g1 = try XCTUnwrap(octets(65) { p.encode(into: &$0, w.scratch) })
            let g2 = try XCTUnwrap(octets(128) { q.encode(into: &$0, w.scratch) })
            let gt = try XCTUnwrap(octets(384) { e.encode(into: &$0, w.scratch) })
            for i in 0..<2 {
                let other = raised(g1, at: 1 + 32 * i)
                XCTAssertFalse(p.decode(other.span, w.scratch))
            }
            for i in 0..<4 {
                let other = raised(g2, at: 32 * i)
                XCTAssertEqual(q.decode(other.span, w.scratch), .invalid)
            }
            for i in 0..<12 {
                let other = raised(gt, at: 32 * i)
                XCTAssertEqual(e.decode(other.span, w.scratch), .invalid)
            }
        }
    }

    /// Returns the octets with p added to the 32 bytes at `place`.
    private func raised(_ octets: [UInt8], at place: Int) -> [UInt8] {
        let hex = octets[place..<place + 32].map { String(Int($0) + 256, radix: 16).dropFirst() }.joined()
        return Array(octets[..<place]) + bytes(BigInt(hex: hex) + Parameters.p) + Array(octets[(place + 32)...])
    }

    func testAnyFlippedBitLeavesTheCurve() throws {
        try Workspace.run { w in
            let p = w.g1()
            let good = try XCTUnwrap(octets(65) { p.encode(into: &$0, w.scratch) })
            for bit in 8..<65 * 8 {
                var other = good
                other[bit / 8] ^= 0x80 >> UInt8(bit % 8)
                XCTAssertFalse(p.decode(other.span, w.scratch), "bit \(bit)")
            }
        }
    }

    /// Tests that the fast subgroup test refuses points of the twist outside G2, made from x = 1, 2, ..., as the
    /// multiplication by r does, which does not give infinity for them.
    func testSubgroupTestAgreesWithMultiplicationByR() {
        Workspace.run { w in
            var found = 0
            for x in 1...40 {
                let start = w.arena
                if let point = twistPoint(x, &w) {
                    let product = w.arena.g2()
                    w.doubleAndAdd(product, point, Parameters.r)
                    let hasOrderR = product.infinityMask(w.scratch) != 0
                    XCTAssertEqual(point.subgroupMask(w.scratch) != 0, hasOrderR)
                    XCTAssertFalse(hasOrderR, "the cofactor is a prime above 2^253")
                    let octets = self.octets(128) { point.encode(into: &$0, w.scratch) } ?? []
                    XCTAssertEqual(product.decode(octets.span, w.scratch), .outsideSubgroup)
                    found += 1
                    checkCofactorMultiple(point, &w)
                }
                w.arena = start
            }
            XCTAssertGreaterThan(found, 5)
            let q = w.g2()
            XCTAssertNotEqual(q.subgroupMask(w.scratch), 0)
            q.setInfinity()
            XCTAssertNotEqual(q.subgroupMask(w.scratch), 0)
        }
    }

    /// Checks that the subgroup test accepts the product of the point and the cofactor 2p - r, which is in G2. The sum
    /// of this product and the point must be refused, because it is outside G2 like the point.
    private func checkCofactorMultiple(_ point: G2, _ w: inout Workspace) {
        let inside = w.arena.g2(), sum = w.arena.g2()
        w.doubleAndAdd(inside, point, 2 * Parameters.p - Parameters.r)
        XCTAssertNotEqual(inside.subgroupMask(w.scratch), 0)
        sum.add(inside, point, w.scratch)
        XCTAssertEqual(sum.subgroupMask(w.scratch), 0)
    }

    /// Returns a point of the twist with the x-coordinate x, and checks that the decoder reports it as outside G2. Nil
    /// if there is no such point. Finds y, a square root in Fp2, by two square roots in Fp: that of the norm of y^2
    /// gives the real part of y^2 + norm, and half of this sum is the square of the real part of y.
    private func twistPoint(_ x: Int, _ w: inout Workspace) -> G2? {
        let p = Parameters.p, x2 = SlowFp2(integer: x)
        let right = x2 * x2 * x2 + SlowFp2(1, p - 1)
        func root(_ a: SlowFp) -> SlowFp? {
            let root = SlowFp(a.value.power((p + 1).quotient(4), mod: p))
            return root * root == a ? root : nil
        }
        guard let norm = root(right.a * right.a + right.b * right.b) else { return nil }
        let half = SlowFp(2).inverse
        for sign in [norm, SlowFp(0) - norm] {
            guard let real = root((right.a + sign) * half), !real.isZero else { continue }
            let y = SlowFp2(real, right.b * half * real.inverse)
            let octets = bytes(x2.a.value) + bytes(x2.b.value) + bytes(y.a.value) + bytes(y.b.value)
            let point = w.arena.g2()
            XCTAssertEqual(point.decode(octets.span, w.scratch), .outsideSubgroup)
            return point
        }
        return nil
    }

    func testScalarsMustBeBelowRAndNotZero() {
        Workspace.run { w in
            let scalar = w.arena.scalar(), r = Parameters.r
            for value in [0, r, r + 1, BigInt(2).power(256) - 1] {
                let octets = bytes(value)
                XCTAssertFalse(scalar.decode(octets.span, w.scratch), "\(value)")
            }
            for value in [1, r - 1] {
                let octets = bytes(value)
                XCTAssertTrue(scalar.decode(octets.span, w.scratch), "\(value)")
                XCTAssertEqual(self.octets(32) { scalar.encode(into: &$0) }, octets)
            }
            for count in [0, 31, 33] {
                let octets = [UInt8](repeating: 1, count: count)
                XCTAssertFalse(scalar.decode(octets.span, w.scratch))
            }
        }
    }

    func testScalarsOfBoundedWidth() {
        Workspace.run { w in
            let scalar = w.arena.scalar()
            for bits in [1, 14, 20, 63, 64, 65, 128, 192, 255, 256] {
                let largest = bytes(BigInt(2).power(bits) - 1)
                XCTAssertTrue(scalar.decode(largest.span, bits: bits), "\(bits)")
                guard bits < 256 else { continue }
                let above = bytes(BigInt(2).power(bits))
                XCTAssertFalse(scalar.decode(above.span, bits: bits), "\(bits)")
            }
            let one = bytes(1)
            for bits in [-1, 0, 257, Int.max, Int.min] { XCTAssertFalse(scalar.decode(one.span, bits: bits)) }
        }
    }
}

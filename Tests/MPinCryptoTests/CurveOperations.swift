import BN254CX
import MPinCrypto
import XCTest

/// Runs the vectors of operations on the curve, for which it calls the module BN254CX directly, and not MPinCrypto.
enum CurveOperations {
    static var all: [String: (Vector) throws -> Void] {
        [
            "g1_add": g1Add, "g2_add": g2Add, "g1_mul": g1Mul, "g2_mul": g2Mul,
            "g1_decode": g1Decode, "g2_decode": g2Decode, "pairing": pairing, "pairing_product": pairingProduct,
            "gt_pow": gtPow, "gt_sqr": gtSqr, "gt_trace": gtTrace,
            "fp_mul": fpMul, "fp_inv": fpInv, "fp_sqrt": fpSqrt,
            "fp12_mul": { v in try fp12(v) { Fp12($0).multiply(Fp12($1), Fp12($2), $3) } },
            "fp12_sqr": { v in try fp12(v) { r, a, _, s in Fp12(r).square(Fp12(a), s) } },
            "fp12_inv": { v in try fp12(v) { r, a, _, s in Fp12(r).invert(Fp12(a), s) } },
            "fp12_frob": { v in try fp12(v) { r, a, _, s in Fp12(r).frobenius(Fp12(a), s) } },
            "fp12_conj": { v in try fp12(v) { r, a, _, _ in Fp12(r).conjugate(Fp12(a)) } },
        ]
    }

    /// Runs `body` with a new arena.
    private static func onArena<Value>(_ body: (inout Arena) throws -> Value) rethrows -> Value {
        var limbs = [UInt](repeating: 0, count: 4096)
        return try limbs.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("4,096 limbs are somewhere") }
            var arena = Arena(base)
            return try body(&arena)
        }
    }

    private static func g1(_ octets: [UInt8], _ arena: inout Arena) throws -> G1 {
        let point = arena.g1()
        return point.decode(octets.span, arena.scratch) ? point : try XCTUnwrap(nil)
    }

    private static func g2(_ octets: [UInt8], _ arena: inout Arena) throws -> G2 {
        let point = arena.g2()
        return point.decode(octets.span, arena.scratch) == .valid ? point : try XCTUnwrap(nil)
    }

    private static func encoded(_ point: G1, _ arena: Arena) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65), span = bytes.mutableSpan
        return point.encode(into: &span, arena.scratch) ? bytes : nil
    }

    private static func encoded(_ point: G2, _ arena: Arena) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 128), span = bytes.mutableSpan
        return point.encode(into: &span, arena.scratch) ? bytes : nil
    }

    private static func encoded(_ value: GT, _ arena: Arena) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 384), span = bytes.mutableSpan
        return value.encode(into: &span, arena.scratch) ? bytes : nil
    }

    static func g1Add(_ v: Vector) throws {
        let a = try v.bytes("a"), b = try v.bytes("b")
        let sum = try onArena { arena in
            let p = try g1(a, &arena), q = try g1(b, &arena)
            p.add(p, q, arena.scratch)
            return encoded(p, arena)
        }
        XCTAssertEqual(sum, try v.expected("sum"), v.id)
    }

    static func g2Add(_ v: Vector) throws {
        let a = try v.bytes("a"), b = try v.bytes("b")
        let sum = try onArena { arena in
            let p = try g2(a, &arena), q = try g2(b, &arena)
            p.add(p, q, arena.scratch)
            return encoded(p, arena)
        }
        XCTAssertEqual(sum, try v.expected("sum"), v.id)
    }

    static func g1Mul(_ v: Vector) throws {
        let p = try v.bytes("p"), k = try v.bytes("k")
        let product = try onArena { arena in
            let point = try g1(p, &arena), scalar = arena.scalar()
            XCTAssertTrue(scalar.load(k.span))
            point.multiply(point, by: scalar, bits: 256, arena.scratch)
            return encoded(point, arena)
        }
        XCTAssertEqual(product, try v.expected("r"), v.id)
    }

    static func g2Mul(_ v: Vector) throws {
        let p = try v.bytes("p"), k = try v.bytes("k")
        let product = try onArena { arena in
            let point = try g2(p, &arena), scalar = arena.scalar()
            XCTAssertTrue(scalar.load(k.span))
            point.multiply(point, by: scalar, bits: 256, arena.scratch)
            return encoded(point, arena)
        }
        XCTAssertEqual(product, try v.expected("r"), v.id)
    }

    static func g1Decode(_ v: Vector) throws {
        let bytes = try v.bytes("bytes"), valid = try v.expectedBool("valid")
        onArena { arena in
            let point = arena.g1()
            XCTAssertEqual(point.decode(bytes.span, arena.scratch), valid, v.id)
            if valid { XCTAssertEqual(encoded(point, arena), try? v.expected("reencoded"), v.id) }
        }
    }

    static func g2Decode(_ v: Vector) throws {
        let bytes = try v.bytes("bytes"), valid = try v.expectedBool("valid")
        let isInSubgroup = try v.expectedBool("in_subgroup")
        onArena { arena in
            let point = arena.g2()
            let expected: G2.Decoding = valid ? .valid : isInSubgroup ? .invalid : .outsideSubgroup
            XCTAssertEqual(point.decode(bytes.span, arena.scratch), expected, v.id)
            if valid { XCTAssertEqual(encoded(point, arena), try? v.expected("reencoded"), v.id) }
        }
    }

    static func pairing(_ v: Vector) throws {
        let q = try v.bytes("q"), p = try v.bytes("p")
        let value = try octets(384) { try PairingOctets.pairing(q: q.span, p: p.span, into: &$0) }
        XCTAssertEqual(value, try v.expected("e"), v.id)
        XCTAssertTrue(try v.expectedBool("gt_member"))
        onArena { arena in XCTAssertEqual(arena.gt().decode(value.span, arena.scratch), .valid, v.id) }
    }

    static func pairingProduct(_ v: Vector) throws {
        let q1 = try v.bytes("q1"), p1 = try v.bytes("p1"), q2 = try v.bytes("q2"), p2 = try v.bytes("p2")
        let value = try octets(384) {
            try PairingOctets.product(q1: q1.span, p1: p1.span, q2: q2.span, p2: p2.span, into: &$0)
        }
        XCTAssertEqual(value, try v.expected("e"), v.id)
        let isOne = onArena { arena in
            let element = arena.gt()
            return element.decode(value.span, arena.scratch) == .valid && element.isOne(arena.scratch)
        }
        XCTAssertEqual(isOne, try v.expectedBool("is_one"), v.id)
    }

    private static func gt(_ v: Vector, _ name: String, _ body: (GT, inout Arena) throws -> [UInt8]?) throws {
        let g = try v.bytes("g")
        let result = try onArena { arena in
            let value = arena.gt()
            XCTAssertEqual(value.decode(g.span, arena.scratch), .valid, v.id)
            return try body(value, &arena)
        }
        XCTAssertEqual(result, try v.expected(name), v.id)
    }

    static func gtPow(_ v: Vector) throws {
        let k = try v.bytes("k")
        try gt(v, "h") { value, arena in
            let scalar = arena.scalar(), result = arena.gt()
            XCTAssertTrue(scalar.load(k.span))
            result.power(value, by: scalar, bits: 256, arena.scratch)
            return encoded(result, arena)
        }
    }

    static func gtSqr(_ v: Vector) throws {
        try gt(v, "h") { value, arena in
            value.square(value, arena.scratch)
            return encoded(value, arena)
        }
    }

    /// Checks the trace of an element of GT to Fp4. The trace has three times the element's coefficients of w^0 and
    /// w^3, so these are tripled here. They are the first 128 bytes of the encoding.
    static func gtTrace(_ v: Vector) throws {
        try gt(v, "trace") { value, arena in
            for place in [0, 4, 32, 36] {
                let element = value.limbs + place
                Fp.add(arena.scratch, element, element)
                Fp.add(element, element, arena.scratch)
            }
            return encoded(value, arena).map { Array($0.prefix(128)) }
        }
    }

    static func fpMul(_ v: Vector) throws {
        let a = try v.bytes("a"), b = try v.bytes("b")
        XCTAssertEqual(try fp(a, b) { Fp.mul($0, $1, $2, $3) }, try v.expected("c"), v.id)
    }

    static func fpInv(_ v: Vector) throws {
        let a = try v.bytes("a")
        XCTAssertEqual(try fp(a, a) { r, a, _, s in Fp.inverse(r, a, s) }, try v.expected("c"), v.id)
    }

    static func fpSqrt(_ v: Vector) throws {
        let a = try v.bytes("a")
        var isSquare = false
        let root = try fp(a, a) { r, a, _, s in
            isSquare = Fp.isNonZeroSquareVartime(a, s)
            Fp.root(r, a, s)
        }
        XCTAssertEqual(isSquare, try v.expectedBool("is_square"), v.id)
        if isSquare { XCTAssertEqual(root, try v.expected("root"), v.id) }
    }

    private typealias Operation = (Limbs, Limbs, Limbs, Limbs) -> Void

    private static func fp(_ a: [UInt8], _ b: [UInt8], _ operation: Operation) throws -> [UInt8] {
        onArena { arena in
            let x = arena.take(4), y = arena.take(4), r = arena.take(4)
            XCTAssertNotEqual(Fp.decode(x, a, arena.scratch) & Fp.decode(y, b, arena.scratch), 0)
            operation(r, x, y, arena.scratch)
            var bytes = [UInt8](repeating: 0, count: 32)
            Fp.encode(&bytes, r, arena.scratch)
            return bytes
        }
    }

    private static func fp12(_ v: Vector, _ operation: Operation) throws {
        let a = try v.bytes("a"), b = v.op == "fp12_mul" ? try v.bytes("b") : a
        let result = onArena { arena in
            let x = arena.take(48), y = arena.take(48), r = arena.take(48)
            XCTAssertNotEqual(Fp12(x).decode(a, arena.scratch) & Fp12(y).decode(b, arena.scratch), 0, v.id)
            operation(r, x, y, arena.scratch)
            return encoded(GT(r), arena)
        }
        XCTAssertEqual(result, try v.expected("c"), v.id)
    }
}

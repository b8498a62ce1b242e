import MPinCrypto
import XCTest

/// Checks that every input of secrets, tokens and logins in two passes is validated: length, prefix, range, curve,
/// subgroup. `KeyRefusalTests` has the other functions.
final class RefusalTests: XCTestCase {
    private let id = Array("alice".utf8), one = scalarBytes(1)
    private let r: [UInt8] = [
        0x24, 0, 0, 0, 0x08, 0x70, 0x2a, 0x0d, 0xb0, 0xbd, 0xdf, 0x64, 0x7a, 0x63, 0x66, 0xd2, 0xc4, 0x3f, 0xd6, 0xee,
        0x0c, 0xc9, 0x06, 0xce, 0xbe, 0x11, 0xc0, 0xa6, 0x36, 0xeb, 0x1f, 0x6d,
    ]

    private func hash() throws -> [UInt8] { try Engine.hashID(id) }

    private func point() throws -> [UInt8] {
        let hash = try hash()
        return try Engine.mapToG1(hash: hash)
    }

    /// Returns arrays of 65 bytes that encode no point, each with the code of the error that it must give.
    private func badG1() throws -> [([UInt8], Int)] {
        let good = try point()
        var offCurve = good, prefix = good, range = good
        offCurve[64] ^= 1
        prefix[0] = 6
        range[1] = 0x24
        return [
            ([], -11), (Array(good.dropLast()), -11), (good + [0], -11), (offCurve, -14), (prefix, -14), (range, -14),
            ([4] + [UInt8](repeating: 0, count: 64), -14), ([UInt8](repeating: 255, count: 65), -14),
        ]
    }

    private var badScalars: [[UInt8]] {
        [[], Array(one.dropLast()), one + [0], scalarBytes(0), r, [UInt8](repeating: 255, count: 32)]
    }

    func testClientRefusesBadPoints() throws {
        let good = try point(), e = one
        for (bad, expected) in try badG1() {
            XCTAssertEqual(code { _ = try Engine.extractPIN(id: id, e: e, bits: 14, secret: bad) }, expected)
            XCTAssertEqual(
                code { _ = try Engine.clientPass1(date: 0, id: id, x: one, e: e, token: bad, permit: nil) }, expected)
            XCTAssertEqual(
                code { _ = try Engine.clientPass1(date: 1, id: id, x: one, e: e, token: good, permit: bad) }, expected)
            XCTAssertEqual(
                code { _ = try Engine.clientPass2(x: one, y: one, sec: bad) },
                expected)
            XCTAssertEqual(
                code { _ = try Engine.recombineG1(bad, good) }, expected)
            XCTAssertEqual(
                code { _ = try Engine.recombineG1(good, bad) }, expected)
        }
    }

    func testScalarsOutsideTheirRangeAreRefused() throws {
        let good = try point(), hash = try hash()
        for bad in badScalars {
            XCTAssertEqual(
                code { _ = try Engine.clientPass1(date: 0, id: id, x: bad, e: one, token: good, permit: nil) }, -11)
            for (x, y) in [(bad, one), (one, bad)] {
                XCTAssertEqual(
                    code { _ = try Engine.clientPass2(x: x, y: y, sec: good) },
                    -11)
            }
            XCTAssertEqual(
                code { _ = try Engine.serverShare(bad) }, -11)
            let share = code {
                _ = try Engine.clientShare(bad, hash)
            }
            XCTAssertEqual(share, -11)
            let permit = code {
                _ = try Engine.permitShare(bad, 1, hash)
            }
            XCTAssertEqual(permit, -11)
        }
    }

    func testPINScalarMustFitItsWidth() throws {
        let secret = try point()
        for (value, bits, expected) in [
            (16_383, 14, 0), (16_384, 14, -11), (1 << 20 - 1, 20, 0), (1 << 20, 20, -11), (2, 0, -11), (2, 257, -11),
        ] {
            XCTAssertEqual(
                code { _ = try Engine.extractPIN(id: id, e: scalarBytes(value), bits: bits, secret: secret) }, expected,
                "\(value)")
        }
    }

    func testSumsAtInfinityAreRefused() throws {
        let good = try point()
        // If the client secret is the point of the identity and the PIN is 1, their difference, the token, is infinite.
        XCTAssertEqual(code { _ = try Engine.extractPIN(id: id, e: one, bits: 14, secret: good) }, -14)
        let rLess1 = r.dropLast() + [0x6c]
        let minus = try Engine.clientPass2(x: one, y: one, sec: good)
        let plus = try Engine.recombineG1(good, good)
        XCTAssertEqual(code { _ = try Engine.recombineG1(plus, minus) }, -14)
        let y = Array(rLess1)
        XCTAssertEqual(
            code { _ = try Engine.clientPass2(x: one, y: y, sec: good) }, -14,
            "x + y = 0")
        let q1 = try Engine.serverShare(one)
        let q2 = try Engine.serverShare(y)
        XCTAssertEqual(code { _ = try Engine.recombineG2(q1, q2) }, -14)
    }

    func testServerSecretIsDecodedStrictly() throws {
        let good = try Engine.serverShare(one)
        XCTAssertEqual(code { _ = try Engine.serverContext(good) }, 0)
        var offCurve = good, range = good
        offCurve[127] ^= 1
        range[0] = 0x24
        let faults: [([UInt8], Int)] = [
            ([], -11), (Array(good.dropLast()), -11), (good + [0], -11), (offCurve, -14), (range, -14),
            ([UInt8](repeating: 0, count: 128), -14), (try pointOutsideSubgroup(), -18),
        ]
        for (bad, expected) in faults {
            XCTAssertEqual(code { _ = try Engine.serverContext(bad) }, expected)
            XCTAssertEqual(
                code { _ = try Engine.recombineG2(good, bad) }, expected)
        }
    }

    private func pointOutsideSubgroup() throws -> [UInt8] {
        let vector = try Vector.load().first { $0.id == "g2_decode-007" }
        return try XCTUnwrap(vector).bytes("bytes")
    }

    func testServerRefusesBadInputs() throws {
        let secret = try Engine.serverShare(one)
        let context = try Engine.serverContext(secret), good = try point()
        func answer(_ u: [UInt8], _ y: [UInt8], _ v: [UInt8], _ date: Int32 = 0) -> Int? {
            code { _ = try Engine.verify(context, id: id, date: date, u: u, y: y, v: v) }
        }
        XCTAssertEqual(answer(good, one, good), 0)
        XCTAssertEqual(answer(good, one, good, -1), -11)
        for (bad, expected) in try badG1() {
            XCTAssertEqual(answer(bad, one, good), expected)
            XCTAssertEqual(answer(good, one, bad), expected)
        }
        for bad in badScalars { XCTAssertEqual(answer(good, bad, good), -11) }
    }

    func testOutputsOfOtherLengthsAreRefused() throws {
        let hash = try hash(), good = try point()
        for count in [0, 31, 33, 64, 66, 127, 129] {
            let results = [
                code { _ = try Engine.hashID(id, count: count) },
                code { _ = try Engine.mapToG1(hash: hash, count: count) },
                code { _ = try Engine.hashDate(1, hash, count: count) },
                code { _ = try Engine.serverShare(one, count: count) },
                code { _ = try Engine.recombineG1(good, good, count: count) },
                code { _ = try Engine.clientPass2(x: one, y: one, sec: good, count: count) },
            ]
            XCTAssertEqual(results, [Int?](repeating: -11, count: results.count), "\(count)")
        }
        for count in [0, 31, 33] {
            let bad = [UInt8](repeating: 1, count: count)
            XCTAssertEqual(code { _ = try Engine.mapToG1(hash: bad) }, -11)
            XCTAssertEqual(
                code { _ = try Engine.hashDate(1, bad) }, -11)
        }
    }

    func testPermitAndDateGoTogether() throws {
        let good = try point()
        func pass1(_ date: Int32, _ permit: [UInt8]?) -> Int? {
            code {
                _ = try Engine.clientPass1(date: date, id: id, x: one, e: scalarBytes(2), token: good, permit: permit)
            }
        }
        XCTAssertEqual(pass1(0, nil), 0)
        XCTAssertEqual(pass1(0, good), -11)
        XCTAssertEqual(pass1(1, nil), -11)
        XCTAssertEqual(pass1(1, good), 0)
        XCTAssertEqual(pass1(-1, nil), -11)
        let hash = try hash()
        for date: Int32 in [0, -1, .min] {
            let result = code {
                _ = try Engine.permitShare(one, date, hash)
            }
            XCTAssertEqual(result, -11)
        }
    }
}

import MPinCrypto
import XCTest

/// Checks that every input of M-Pin Full, one pass, key pairs, factors and Elligator squared is validated.
final class KeyRefusalTests: XCTestCase {
    private let id = Array("alice".utf8), one = scalarBytes(1), message: [UInt8] = [1, 2, 3]

    private func point() throws -> [UInt8] { try Engine.mapToG1(hash: Engine.hashID(id)) }

    /// Returns a token: 2^40 times the point of the identity. With it, no PIN of these tests makes the client secret
    /// the point at infinity.
    private func token() throws -> [UInt8] { try Engine.multiple(scalarBytes(1 << 40), point()) }

    private var badScalars: [[UInt8]] {
        [[], Array(one.dropLast()), one + [0], scalarBytes(0), Modulus.r, [UInt8](repeating: 255, count: 32)]
    }

    private func badG1() throws -> [([UInt8], Int)] {
        let good = try point()
        var offCurve = good, prefix = good, range = good
        offCurve[64] ^= 1
        prefix[0] = 6
        range[1] = 0x24
        return [
            ([], -11), (Array(good.dropLast()), -11), (good + [0], -11), (offCurve, -14), (prefix, -14), (range, -14),
        ]
    }

    private func badG2() throws -> [([UInt8], Int)] {
        let good = try Engine.serverShare(one)
        var offCurve = good
        offCurve[127] ^= 1
        let outside = try XCTUnwrap(Vector.load().first { $0.id == "g2_decode-007" }).bytes("bytes")
        return [([], -11), (Array(good.dropLast()), -11), (good + [0], -11), (offCurve, -14), (outside, -18)]
    }

    private var badGT: [([UInt8], Int)] {
        [
            ([], -11), ([UInt8](repeating: 0, count: 383), -11), ([UInt8](repeating: 0, count: 384), -18),
            ([UInt8](repeating: 1, count: 384), -18), ([UInt8](repeating: 255, count: 384), -14),
        ]
    }

    func testPoints() throws {
        let good = try token(), q = try Engine.serverShare(one), hash = try Engine.hashID(id)
        let gt = try Engine.precompute(token: good, hashID: hash), context = try Engine.serverContext(q)
        for (bad, expected) in try badG1() {
            let codes = [
                code { _ = try Engine.precompute(token: bad, hashID: hash) },
                code { _ = try Engine.clientKey(g1: gt.g1, g2: gt.g2, e: one, r: one, x: one, t: bad) },
                code { _ = try Engine.serverKey(z: bad, serverSecret: q, w: one, u: good, ut: nil) },
                code { _ = try Engine.serverKey(z: good, serverSecret: q, w: one, u: bad, ut: nil) },
                code { _ = try Engine.serverKey(z: good, serverSecret: q, w: one, u: good, ut: bad) },
                code { _ = try Engine.serverKey(z: good, serverSecret: q, w: one, u: bad, ut: good) },
                code { _ = try Engine.multiple(one, bad) },
                code { _ = try Engine.extractFactor(id: id, f: one, bits: 14, token: bad) },
                code { _ = try Engine.restoreFactor(id: id, f: one, bits: 14, token: bad) },
                code { _ = try Engine.changePIN(id: id, old: one, oldBits: 14, new: one, newBits: 14, token: bad) },
                code { _ = try Engine.onePassY(time: 1, u: bad, message: message) },
                code { _ = try Engine.onePassClient(id: id, x: one, e: one, token: bad, time: 1, message: message) },
                Engine.onePassServer(context, id: id, u: bad, v: good, time: 1, message: message).code,
                Engine.onePassServer(context, id: id, u: good, v: bad, time: 1, message: message).code,
                Engine.onePassServer(context, date: 1, id: id, u: bad, ut: good, v: good, time: 1, message: message)
                    .code,
                Engine.onePassServer(context, date: 1, id: id, u: good, ut: bad, v: good, time: 1, message: message)
                    .code,
                code { _ = try Engine.elligatorEncode(bad) },
            ]
            XCTAssertEqual(codes, [Int?](repeating: expected, count: codes.count))
        }
        for (bad, expected) in try badG2() {
            XCTAssertEqual(
                code { _ = try Engine.serverKey(z: good, serverSecret: bad, w: one, u: good, ut: nil) }, expected)
            XCTAssertEqual(
                Engine.onePassServer(context, id: id, u: good, v: good, time: 1, message: message, publicKey: bad).code,
                expected)
            XCTAssertEqual(
                code { _ = try Engine.verify(context, id: id, publicKey: bad, u: good, y: one, v: good) }, expected)
        }
        for (bad, expected) in badGT {
            XCTAssertEqual(
                code { _ = try Engine.clientKey(g1: bad, g2: gt.g2, e: one, r: one, x: one, t: good) }, expected)
            XCTAssertEqual(
                code { _ = try Engine.clientKey(g1: gt.g1, g2: bad, e: one, r: one, x: one, t: good) }, expected)
        }
    }

    func testScalars() throws {
        let good = try token(), q = try Engine.serverShare(one), hash = try Engine.hashID(id)
        let gt = try Engine.precompute(token: good, hashID: hash)
        for bad in badScalars {
            let codes = [
                code { _ = try Engine.publicKey(z: bad) },
                code { _ = try Engine.multiple(bad, good) },
                code { _ = try Engine.clientKey(g1: gt.g1, g2: gt.g2, e: one, r: one, x: bad, t: good) },
                code { _ = try Engine.serverKey(z: good, serverSecret: q, w: bad, u: good, ut: nil) },
                code { _ = try Engine.onePassClient(id: id, x: bad, e: one, token: good, time: 1, message: message) },
            ]
            XCTAssertEqual(codes, [Int?](repeating: -11, count: codes.count))
            let small = code { _ = try Engine.clientKey(g1: gt.g1, g2: gt.g2, e: one, r: bad, x: one, t: good) }
            XCTAssertEqual(small, bad == scalarBytes(0) ? 0 : -11)
        }
    }

    func testFactorsMustFitTheirWidth() throws {
        let good = try token()
        let gt = try Engine.precompute(token: good, hashID: Engine.hashID(id))
        for (f, bits, expected) in [
            (scalarBytes(16_383), 14, 0), (scalarBytes(16_384), 14, -11), (scalarBytes(999_999), 20, 0),
            (scalarBytes(1 << 20), 20, -11), (scalarBytes(0), 1, 0), ([UInt8](repeating: 255, count: 32), 256, 0),
            ([UInt8](repeating: 255, count: 32), 255, -11), (one, 0, -11), (one, 257, -11), (one, .min, -11),
            (one, .max, -11), (Array(one.dropLast()), 14, -11),
        ] {
            let codes = [
                code { _ = try Engine.extractFactor(id: id, f: f, bits: bits, token: good) },
                code { _ = try Engine.restoreFactor(id: id, f: f, bits: bits, token: good) },
                code { _ = try Engine.changePIN(id: id, old: f, oldBits: bits, new: one, newBits: 14, token: good) },
                code { _ = try Engine.changePIN(id: id, old: one, oldBits: 14, new: f, newBits: bits, token: good) },
                code { _ = try Engine.clientKey(g1: gt.g1, g2: gt.g2, e: f, bits: bits, r: one, x: one, t: good) },
                code {
                    _ = try Engine.onePassClient(
                        id: id, x: one, e: f, bits: bits, token: good, time: 1, message: message)
                },
            ]
            XCTAssertEqual(codes, [Int?](repeating: expected, count: codes.count), "\(f) \(bits)")
        }
    }

    func testTokensAtInfinityAreRefused() throws {
        let a = try point(), two = try Engine.multiple(scalarBytes(2), a)
        XCTAssertEqual(code { _ = try Engine.extractFactor(id: id, f: one, bits: 14, token: a) }, -14)
        let minus = try Engine.extractFactor(id: id, f: scalarBytes(2), bits: 14, token: a)
        XCTAssertEqual(code { _ = try Engine.restoreFactor(id: id, f: one, bits: 14, token: minus) }, -14)
        XCTAssertEqual(
            code {
                _ = try Engine.changePIN(
                    id: id, old: scalarBytes(0), oldBits: 14, new: scalarBytes(2), newBits: 14, token: two)
            }, -14)
    }

    func testLengthsOfOutputs() throws {
        let good = try token(), q = try Engine.serverShare(one), hash = try Engine.hashID(id)
        let gt = try Engine.precompute(token: good, hashID: hash), encoded = try Engine.elligatorEncode(good)
        for count in [0, 15, 17, 31, 33, 64, 66, 127, 129, 383, 385] {
            let codes = [
                code { _ = try Engine.precompute(token: good, hashID: hash, count: count) },
                code { _ = try Engine.clientKey(g1: gt.g1, g2: gt.g2, e: one, r: one, x: one, t: good, count: count) },
                code { _ = try Engine.serverKey(z: good, serverSecret: q, w: one, u: good, ut: nil, count: count) },
                code { _ = try Engine.publicKey(z: one, count: count) },
                code { _ = try Engine.multiple(one, good, count: count) },
                code { _ = try Engine.restoreFactor(id: id, f: one, bits: 14, token: good, count: count) },
                code { _ = try Engine.onePassY(time: 1, u: good, message: message, count: count) },
                code { _ = try Engine.elligatorEncode(good, count: count) },
                code { _ = try Engine.elligatorDecode(encoded, count: count) },
                code {
                    _ = try Engine.changePIN(
                        id: id, old: one, oldBits: 14, new: one, newBits: 14, token: good, count: count)
                },
            ]
            XCTAssertEqual(codes, [Int?](repeating: -11, count: codes.count), "\(count)")
        }
        XCTAssertEqual(code { _ = try Engine.precompute(token: good, hashID: hash + [0]) }, -11)
    }

    func testOnePassNeedsWhatItsDateAsksFor() throws {
        let good = try token(), context = try Engine.serverContext(Engine.serverShare(one))
        func answer(_ date: Int32, _ u: [UInt8]?, _ ut: [UInt8]?, count: Int = 0) -> Int? {
            Engine.onePassServer(
                context, date: date, id: id, u: u, ut: ut, v: good, time: 1, message: message, count: count
            ).code
        }
        XCTAssertEqual(answer(0, good, nil), -19)
        XCTAssertEqual(answer(1, nil, good), -19)
        for result in [
            answer(0, nil, good), answer(1, good, nil), answer(-1, good, good), answer(1, nil, good, count: 384),
            answer(0, good, nil, count: 383),
        ] { XCTAssertEqual(result, -11) }
        XCTAssertEqual(
            code {
                _ = try Engine.onePassClient(
                    id: id, x: one, e: one, token: good, permit: good, time: 1, message: message)
            }, -11)
    }

    func testEncodedPoints() throws {
        let good = try Engine.elligatorEncode(token())
        for first: UInt8 in 4...255 {
            XCTAssertEqual(code { _ = try Engine.elligatorDecode([first] + good[1...]) }, -14)
        }
        for bad in [[], Array(good.dropLast()), good + [0]] {
            XCTAssertEqual(code { _ = try Engine.elligatorDecode(bad) }, -11)
        }
        // Two equal numbers stand for opposite points if their sign bits differ, and the sum of these, infinity, is
        // refused. With equal sign bits the same numbers are accepted, although they are above p: they are reduced.
        let ones = [UInt8](repeating: 255, count: 64)
        XCTAssertEqual(code { _ = try Engine.elligatorDecode([2] + ones) }, -14)
        XCTAssertEqual(code { _ = try Engine.elligatorDecode([3] + ones) }, 0)
    }
}

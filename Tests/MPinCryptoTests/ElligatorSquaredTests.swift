import MPinCrypto
import MPinSecrets
import XCTest

/// Tests the encoding of points as octets that look random.
final class ElligatorSquaredTests: XCTestCase {
    private let id = RegisteredIdentity.plainID

    func testEncodedPointsComeBackAndDiffer() throws {
        for i in 0..<50 {
            let point = try Engine.mapToG1(hash: Engine.hashID([UInt8(i)]))
            let first = try Engine.elligatorEncode(point), second = try Engine.elligatorEncode(point)
            XCTAssertNotEqual(first, second)
            XCTAssertEqual(try Engine.elligatorDecode(first), point)
            XCTAssertEqual(try Engine.elligatorDecode(second), point)
        }
    }

    /// Tests that every choice m in 0..<range gives an encoding of the point. m = range and m = -1 must be refused.
    func testEveryChoiceEncodesThePoint() throws {
        let point = try Engine.mapToG1(hash: Engine.hashID(id))
        var largest = 0
        for i in 0..<20 {
            let u = scalarBytes(i), isOdd = i % 3 == 0
            let range = try Engine.elligatorEncode(point, u: u, isOdd: isOdd, m: 0).range
            largest = max(largest, range)
            for m in 0..<range {
                let encoded = try Engine.elligatorEncode(point, u: u, isOdd: isOdd, m: m).encoded
                XCTAssertEqual(Array(encoded[1..<33]), u)
                XCTAssertEqual(encoded[0] & 1, isOdd ? 1 : 0)
                XCTAssertEqual(try Engine.elligatorDecode(encoded), point)
            }
            for m in [range, -1] {
                XCTAssertEqual(code { _ = try Engine.elligatorEncode(point, u: u, isOdd: isOdd, m: m) }, -11)
            }
        }
        XCTAssertGreaterThan(largest, 1)
        // This u is mapped to the point itself, so no second number can complete the encoding.
        let x = Array(point[1..<33])
        XCTAssertEqual(code { _ = try Engine.elligatorEncode(point, u: x, isOdd: false, m: 0) }, -14)
    }

    func testStuckGeneratorGivesNoEncoding() throws {
        let point = try Engine.mapToG1(hash: Engine.hashID(id))
        XCTAssertEqual(code { _ = try Engine.elligatorEncode(point) { _ in false } }, -32)
        let ones: RandomSource = { bytes in
            for i in 0..<bytes.count { bytes[i] = 255 }
            return true
        }
        XCTAssertEqual(code { _ = try Engine.elligatorEncode(point, random: ones) }, -32)
    }
}

import Foundation
import MPinCrypto
import XCTest

final class PINMappingTests: XCTestCase {
    /// Tests that each mapping gives the numbers that `bn254cx-trust.json` has for its PINs.
    func testVectorsOfAllMappings() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Vectors/bn254cx-trust.json")
        let document = try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any]
        let vectors = (document?["vectors"] as? [[String: Any]] ?? []).filter { $0["kind"] as? String == "pin-mapping" }
        XCTAssertGreaterThanOrEqual(vectors.count, 9)
        for vector in vectors {
            let input = try XCTUnwrap(vector["input"] as? [String: Any])
            let output = try XCTUnwrap(vector["output"] as? [String: Any])
            let pin = Array(try XCTUnwrap(input["pin"] as? String).utf8)
            let members: [(PINMapping, String)] = [
                (.legacyHash, "milagroCoreInteger"), (.decimal6, "clientJsInteger"),
                (.decimal4, "trustNativeInteger_4digitField"),
            ]
            for (mapping, member) in members {
                let expected = try XCTUnwrap(output[member] as? Int)
                XCTAssertEqual(try pinScalar(pin, mapping), scalarBytes(expected), "\(pin) \(mapping)")
            }
            let hash = try XCTUnwrap(output["milagroCoreJavaHash"] as? Int)
            XCTAssertEqual(
                try pinScalar("\(hash)", .legacy14), try pinScalar(pin, .legacyHash), "the hash taken as an integer")
        }
    }

    func testWidthHoldsEveryScalar() throws {
        for (mapping, bits) in [(PINMapping.decimal6, 20), (.decimal4, 14), (.legacyHash, 14), (.legacy14, 14)] {
            XCTAssertEqual(mapping.bits, bits)
        }
        XCTAssertEqual(try pinScalar("999999", .decimal6), scalarBytes(999_999))
        XCTAssertEqual(try pinScalar("1999999", .decimal6), scalarBytes(999_999))
        XCTAssertEqual(try pinScalar("999999", .decimal4), scalarBytes(9_999))
        XCTAssertEqual(try pinScalar("-1", .legacy14), scalarBytes(16_383))
        XCTAssertEqual(try pinScalar("00000000000000000000000000000042", .decimal6), scalarBytes(42))
    }

    /// Tests that the string hash of Milagro's core maps the 10,000 PINs of four digits to only 6,331 numbers, and
    /// `decimal6` to 10,000.
    func testOldHashFoldsPINs() throws {
        var old: Set<[UInt8]> = [], decimal: Set<[UInt8]> = []
        for pin in 0..<10_000 {
            let text = String(String(pin + 10_000).dropFirst())
            old.insert(try pinScalar(text, .legacyHash))
            decimal.insert(try pinScalar(text, .decimal6))
        }
        XCTAssertEqual(old.count, 6_331)
        XCTAssertEqual(decimal.count, 10_000)
    }

    func testOnlyDigitsAreDecimal() {
        let faults = ["", "12a4", " 1234", "1234 ", "+123", "-123", "12.4", "/", ":", "\u{0661}\u{0662}", "12\u{0}4"]
        for mapping in [PINMapping.decimal4, .decimal6] {
            for pin in faults { XCTAssertEqual(code { _ = try pinScalar(pin, mapping) }, -11, pin) }
            for byte in UInt8.min...UInt8.max {
                let isDigit = (48...57).contains(byte)
                XCTAssertEqual(code { _ = try pinScalar([49, byte, 50], mapping) }, isDigit ? 0 : -11, "\(byte)")
            }
            XCTAssertEqual(code { _ = try pinScalar(String(repeating: "1", count: 33), mapping) }, -11)
        }
        for pin in ["", "-", "--1", "1-", "12345678901", "-12345678901", "+1", "x"] {
            XCTAssertEqual(code { _ = try pinScalar(pin, .legacy14) }, -11, pin)
        }
    }

    /// Tests the remainders, which are computed without a division, against `%`: around every multiple of the moduli
    /// and for the largest and smallest numbers.
    func testRemaindersAreThoseOfDivision() throws {
        var numbers: [Int] = []
        for i in 1...1_000 { numbers += [i * 10_000 - 1, i * 10_000, i * 1_000_000 - 1, i * 9_999_999] }
        numbers += [9_999_999_999, 9_999_990_000, 9_999_989_999, 4_294_967_295, 4_294_967_296]
        numbers += (0..<10_000).map { _ in Int.random(in: 0..<10_000_000_000) }
        for number in numbers {
            XCTAssertEqual(try pinScalar("\(number)", .decimal6), scalarBytes(number % 1_000_000))
            XCTAssertEqual(try pinScalar("\(number)", .decimal4), scalarBytes(number % 10_000))
            XCTAssertEqual(try pinScalar("\(number)", .legacy14), scalarBytes(number % 10_000))
            XCTAssertEqual(try pinScalar("-\(number)", .legacy14), scalarBytes((-number % 10_000) & 0x3FFF))
        }
    }

    func testScalarNeedsThirtyTwoBytes() {
        let pin = Array("1234".utf8)
        for count in [0, 31, 33] {
            XCTAssertEqual(
                code { _ = try pinScalar(pin, .decimal6, count: count) }, -11)
        }
    }
}

import MPinService
import XCTest

/// Tests how access numbers and other digits are made (wire section 6.9).
final class AccessNumberTests: XCTestCase {
    func testTheCheckDigitIsTheOneOfTheProtocol() {
        XCTAssertEqual(AccessNumber.checkDigit("274153"), 9, "the example of the protocol")
        XCTAssertEqual(AccessNumber.checkDigit("270049"), 2, "a recorded one")
        XCTAssertEqual(AccessNumber.checkDigit("957508"), 1, "a recorded one")
        XCTAssertEqual(AccessNumber.checkDigit("000000"), 0)
        XCTAssertNil(AccessNumber.checkDigit("000006"), "12: the check digit would be 10")
    }

    /// Checks the last of the seven digits as clients do.
    func testEveryNumberPassesTheClientsCheck() throws {
        for _ in 0..<2_000 {
            let digits = try AccessNumber.random(checkSum: true).compactMap(\.wholeNumberValue)
            XCTAssertEqual(digits.count, 7)
            let sum = zip(digits, 0..<6).reduce(0) { $0 + $1.0 * (7 - $1.1) }
            XCTAssertEqual((11 - sum % 11) % 11 % 10, digits.last)
            XCTAssertNotEqual(sum % 11, 1, "numbers with a check digit ten are not used")
        }
        XCTAssertEqual(try AccessNumber.random(checkSum: false).count, 6)
    }

    /// Tests the digits with chi-squared, which exceeds 45 only once in a million runs (nine degrees of freedom).
    /// Random bytes modulo ten would give about 160 here, because they make some digits likelier.
    func testAllDigitsAreEquallyLikely() throws {
        var counts = [Int](repeating: 0, count: 10)
        for digit in try randomDigits(600_000).utf8 { counts[Int(digit) - 48] += 1 }
        let chi = counts.reduce(0.0) { $0 + Double(($1 - 60_000) * ($1 - 60_000)) / 60_000 }
        XCTAssertLessThan(chi, 45)
    }
}

import MPinSecrets
import XCTest

final class SecretBytesTests: XCTestCase {
    private func decoded(hex: String) -> [UInt8]? {
        guard let secret = SecretBytes(hex: Array(hex.utf8).span) else { return nil }
        return bytes(secret)
    }

    func testNewSecretIsZero() {
        XCTAssertEqual(bytes(SecretBytes(count: 33)), [UInt8](repeating: 0, count: 33))
        XCTAssertEqual(SecretBytes(count: 0).count, 0)
    }

    func testCopyHoldsTheSameBytesAndIsIndependent() {
        var original: [UInt8] = [1, 2, 255]
        let copy = secret(original)
        original[0] = 9
        XCTAssertEqual(bytes(copy), [1, 2, 255])
    }

    func testMutableSpanWritesThrough() {
        let filled = SecretBytes(count: 2)
        var span = filled.mutableSpan
        span[1] = 7
        XCTAssertEqual(bytes(filled), [0, 7])
    }

    func testHexOfASecretAndBack() {
        XCTAssertEqual(secret([0, 0x9a, 0xff]).hex(), "009aff")
        XCTAssertEqual(secret([0, 0x9a, 0xff]).hexDigits, secret(Array("009aff".utf8)))
        XCTAssertEqual(secret([]).hexDigits.count, 0)
        XCTAssertEqual(decoded(hex: "009Aff"), [0, 0x9a, 0xff])
        XCTAssertEqual(decoded(hex: ""), [])
        for bad in ["0", "0g", "abc", " 00", "00\n", "0x00"] { XCTAssertNil(decoded(hex: bad), bad) }
    }

    func testEqualityLooksAtEveryByteAndTheLength() {
        let original: [UInt8] = [1, 2, 3]
        XCTAssertEqual(secret(original), secret(original))
        for other in [[0, 2, 3], [1, 0, 3], [1, 2, 0], [1, 2], [1, 2, 3, 0], []] as [[UInt8]] {
            XCTAssertNotEqual(secret(original), secret(other))
            XCTAssertFalse(constantTimeEqual(original.span, other.span))
        }
        XCTAssertEqual(SecretBytes(count: 0), SecretBytes(count: 0))
    }

    func testContentIsNeverPrinted() {
        let hidden = secret(Array("topsecret".utf8))
        var dumped = ""
        dump(hidden, to: &dumped)
        for text in ["\(hidden)", String(reflecting: hidden), String(describing: [hidden]), dumped] {
            XCTAssertFalse(text.contains("topsecret"), text)
            XCTAssertFalse(text.contains("116"), text)
        }
    }

    func testRandomSecretsDiffer() throws {
        XCTAssertNotEqual(try SecretBytes.random(count: 32), try SecretBytes.random(count: 32))
        XCTAssertNotEqual(try randomBytes(16), try randomBytes(16))
        XCTAssertEqual(
            try randomBytes(5) {
                $0[4] = 3; return true
            }, [0, 0, 0, 0, 3])
    }

    func testFailingGeneratorIsAnError() {
        XCTAssertThrowsError(try SecretBytes.random(count: 32, from: { _ in false }))
        XCTAssertThrowsError(try randomBytes(1, from: { _ in false }))
    }

    func testWipeLeavesZeros() {
        var array: [UInt8] = [1, 2, 3]
        var span = array.mutableSpan
        wipe(&span)
        XCTAssertEqual(array, [0, 0, 0])
    }

    func testManySecretsAtOnce() {
        // Makes more secrets than fit into the memory that a process may usually lock.
        let secrets = (0..<3000).map { secret([UInt8(truncatingIfNeeded: $0)]) }
        for (index, kept) in secrets.enumerated() {
            guard bytes(kept) == [UInt8(truncatingIfNeeded: index)] else { return XCTFail("secret \(index)") }
        }
    }
}

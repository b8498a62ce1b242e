import MPinSecrets
import XCTest

final class SealedBoxTests: XCTestCase {
    private let key = secret([UInt8](repeating: 7, count: 32))
    private let purpose = Array("test".utf8)

    private func seal(_ text: [UInt8]) throws -> [UInt8] {
        try SealedBox.seal(text.span, key: key, associatedData: purpose)
    }

    private func open(_ box: [UInt8]) throws -> [UInt8] {
        bytes(try SealedBox.open(box, key: key, associatedData: purpose))
    }

    func testOpensWhatItSealed() throws {
        for count in [0, 1, 15, 16, 17, 64, 10_000] {
            let text = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
            let box = try seal(text)
            XCTAssertEqual(box.count, count + 40)
            XCTAssertEqual(try open(box), text)
        }
    }

    func testKnownAnswer() throws {
        // The example of draft-irtf-cfrg-xchacha-03, appendix A.3.1.
        let key = secret((0x80...0x9f).map { UInt8($0) })
        let box = Hex.decode(
            "404142434445464748494a4b4c4d4e4f5051525354555657"
                + "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39"
                + "ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
                + "21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49")
        let opened = try SealedBox.open(
            try XCTUnwrap(box), key: key, associatedData: try XCTUnwrap(Hex.decode("50515253c0c1c2c3c4c5c6c7")))
        XCTAssertEqual(
            String(decoding: bytes(opened), as: UTF8.self),
            "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it."
        )
    }

    func testSameTextGivesAnotherBoxEachTime() throws {
        XCTAssertNotEqual(try seal([1, 2, 3]), try seal([1, 2, 3]))
    }

    func testEveryFlippedBitIsFound() throws {
        let box = try seal(Array("secret".utf8))
        for bit in 0..<box.count * 8 {
            var damaged = box
            damaged[bit / 8] ^= 1 << (bit % 8)
            XCTAssertThrowsError(try open(damaged), "bit \(bit)") {
                XCTAssertEqual($0 as? SealedBox.Failure, .notAuthentic)
            }
        }
    }

    func testEveryTruncationIsFound() throws {
        let box = try seal(Array("secret".utf8))
        for count in 0..<box.count { XCTAssertThrowsError(try open(Array(box.prefix(count))), "\(count) bytes") }
        XCTAssertThrowsError(try open(box + [0]))
    }

    func testOtherKeyAndOtherPurposeAreRefused() throws {
        let box = try seal([1])
        let other = secret([UInt8](repeating: 8, count: 32))
        XCTAssertThrowsError(try SealedBox.open(box, key: other, associatedData: purpose))
        XCTAssertThrowsError(try SealedBox.open(box, key: key, associatedData: purpose + [0]))
        XCTAssertThrowsError(try SealedBox.open(box, key: key, associatedData: []))
    }

    func testKeyOfAnotherLengthIsRefused() {
        let text: [UInt8] = [1]
        for count in [0, 16, 31, 33] {
            let short = SecretBytes(count: count)
            XCTAssertThrowsError(try SealedBox.seal(text.span, key: short, associatedData: [])) {
                XCTAssertEqual($0 as? SealedBox.Failure, .keySize)
            }
            XCTAssertThrowsError(try SealedBox.open([UInt8](repeating: 0, count: 50), key: short, associatedData: []))
        }
    }
}

import MPinSecrets
import XCTest

final class HashTests: XCTestCase {
    private func hex(_ text: String) -> String { Hex.encode(SHA256.hash(Array(text.utf8))) }

    func testSHA256KnownAnswers() {
        // Examples of FIPS 180-4.
        XCTAssertEqual(hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        XCTAssertEqual(hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        XCTAssertEqual(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        XCTAssertEqual(
            Hex.encode(SHA256.hash([UInt8](repeating: 97, count: 1_000_000))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    func testTwoPartsHashLikeTheWhole() {
        let whole = Array("hello, world".utf8)
        for cut in 0...whole.count {
            var digest = [UInt8](repeating: 0, count: 32)
            let (first, second) = (Array(whole[..<cut]), Array(whole[cut...]))
            var span = digest.mutableSpan
            XCTAssertTrue(SHA256.hash(first.span, second.span, into: &span))
            XCTAssertEqual(digest, SHA256.hash(whole))
        }
    }

    func testOutputOfAnotherLengthIsRefused() {
        let message: [UInt8] = [1]
        for count in [0, 31, 33] {
            var digest = [UInt8](repeating: 5, count: count)
            var span = digest.mutableSpan
            XCTAssertFalse(SHA256.hash(message.span, into: &span))
            XCTAssertEqual(digest, [UInt8](repeating: 5, count: count))
        }
    }

    func testHMACKnownAnswers() {
        // Test cases 1, 2 and 6 of RFC 4231; the last one has a key longer than a block.
        let cases: [(key: [UInt8], message: String, tag: String)] = [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ]
        for test in cases {
            let key = secret(test.key)
            XCTAssertEqual(Hex.encode(HMACSHA256.tag(Array(test.message.utf8), key: key)), test.tag)
        }
    }

    func testHMACIsValidForItsMessageAndKeyOnly() {
        let key = secret(Array("key".utf8))
        let tag = HMACSHA256.tag([1, 2], key: key)
        XCTAssertTrue(HMACSHA256.isValid(tag, for: [1, 2], key: key))
        XCTAssertFalse(HMACSHA256.isValid(tag, for: [1, 3], key: key))
        XCTAssertFalse(HMACSHA256.isValid(tag, for: [1, 2], key: secret(Array("kez".utf8))))
        XCTAssertFalse(HMACSHA256.isValid(Array(tag.dropLast()), for: [1, 2], key: key))
        XCTAssertFalse(HMACSHA256.isValid([], for: [1, 2], key: key))
        for bit in 0..<8 {
            XCTAssertFalse(HMACSHA256.isValid([tag[0] ^ 1 << bit] + tag.dropFirst(), for: [1, 2], key: key))
        }
    }
}

final class HexTests: XCTestCase {
    /// Decodes hex digits into `count` bytes. Returns false if they are not the digits of that many bytes.
    private func decode(_ digits: [UInt8], count: Int) -> Bool {
        var out = [UInt8](repeating: 0, count: count)
        var span = out.mutableSpan
        return Hex.decode(digits.span, into: &span)
    }

    func testEveryByteBothWays() {
        let all = (0...255).map { UInt8($0) }
        let text = Hex.encode(all)
        XCTAssertEqual(text, all.map { String(format: "%02x", $0) }.joined())
        XCTAssertEqual(Hex.decode(text), all)
        XCTAssertEqual(Hex.decode(text.uppercased()), all)
    }

    func testEveryCharacterThatIsNoDigitIsRefused() {
        let digits = Set("0123456789abcdefABCDEF".utf8)
        for byte in UInt8(0)...255 where !digits.contains(byte) {
            XCTAssertFalse(decode([48, byte], count: 1), "\(byte)")
            XCTAssertFalse(decode([byte, 48], count: 1), "\(byte)")
        }
    }

    func testLengths() {
        XCTAssertEqual(Hex.decode(""), [])
        XCTAssertEqual(Hex.encode([]), "")
        for text in ["a", "abc", "é0", "0é"] { XCTAssertNil(Hex.decode(text), text) }
        let zeros = [UInt8](repeating: 48, count: 6)
        XCTAssertTrue(decode(zeros, count: 3))
        XCTAssertFalse(decode(zeros, count: 2))
        XCTAssertFalse(decode(zeros, count: 4))
    }
}

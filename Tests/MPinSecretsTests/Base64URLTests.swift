import MPinSecrets
import XCTest

final class Base64URLTests: XCTestCase {
    /// Encodes and decodes the examples of RFC 4648 section 10 without padding, and the two digits "-" and "_" that
    /// only the URL alphabet has. Refuses what no bytes are encoded as.
    func testVectors() {
        let vectors = [
            "": "", "f": "Zg", "fo": "Zm8", "foo": "Zm9v", "foob": "Zm9vYg", "fooba": "Zm9vYmE", "foobar": "Zm9vYmFy",
        ]
        for (plain, text) in vectors {
            XCTAssertEqual(Base64URL.encode(Array(plain.utf8)), text)
            XCTAssertEqual(Base64URL.decode(text), Array(plain.utf8))
        }
        XCTAssertEqual(Base64URL.encode([0xfb, 0xff, 0xbf]), "-_-_")
        XCTAssertEqual(Base64URL.decode("-_-_"), [0xfb, 0xff, 0xbf])
        // Padding, digits of the plain alphabet, a blank, lengths that no encoding has, and unused bits that are 1.
        for text in ["Zg==", "+_-_", "-/-_", "Zm 8", "A", "Zm9vA", "Zh", "Zm9"] {
            XCTAssertNil(Base64URL.decode(text), text)
        }
    }

    /// The padded encoding has the same bytes in the plain alphabet (RFC 4648 section 10).
    func testPaddedVectors() {
        for (plain, text) in ["": "", "f": "Zg==", "fo": "Zm8=", "foo": "Zm9v", "foobar": "Zm9vYmFy"] {
            XCTAssertEqual(Base64.encode(Array(plain.utf8)), text)
            XCTAssertEqual(Base64.encode(SecretBytes(utf8: plain)).plainText, text)
        }
        let bytes: [UInt8] = [0xfb, 0xff, 0xbf]
        XCTAssertEqual(Base64.encode(bytes), "+/+/")
        XCTAssertEqual(Base64.encode(SecretBytes(copying: bytes.span)).plainText, "+/+/")
    }
}

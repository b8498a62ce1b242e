import MPinOpenID
import XCTest

final class OpaqueTokenTests: XCTestCase {
    /// A token has 32 random bytes, and the store's key for it does not contain it (row 37 of the checklist by which
    /// the provider was built).
    func testTokensAreLongAndKeptAsHashes() throws {
        let token = try OpaqueToken.random()
        XCTAssertEqual(token.text.utf8.count, 43)
        XCTAssertNotEqual(token.text, try OpaqueToken.random().text)
        XCTAssertEqual(OpaqueToken(token.text)?.key, token.key)
        XCTAssertFalse(token.key.contains(token.text))
        for text in ["", "abc", token.text + "A", String(token.text.dropLast()) + "+"] {
            XCTAssertNil(OpaqueToken(text))
        }
    }

    /// One of 64 random tokens begins with a hyphen, which commands would take for an option.
    func testNamesAreNoOptions() throws {
        for _ in 0..<1000 { XCTAssertFalse(try OpaqueToken.randomName().text.hasPrefix("-")) }
    }
}

import MPinOpenID
import XCTest

/// Tests which texts count as mail addresses.
final class EmailAddressTests: XCTestCase {
    /// Programs behind the mail server read mails and addresses, too: as options, templates or encoded words.
    func testNoAddressIsReadAsSomethingElse() {
        for text in [
            "-f@x.y", "-oQ/tmp@x.example", "{{link}}@x.example", "a{b@x.example", "=?utf-8?q?x?=@y.z",
            "a=?x?=@y.z", "a@{{user}}", "a b@x.example", "a@x@y", "a\r\nBcc:b@x.example", "<a@x.example>",
            "a@-x.example",
        ] { XCTAssertNil(EmailAddress(text), text) }
        for text in ["a-f@x.y", "a=b@x.example", "o'neil@x.example", "a+b@x.example", "ο@x.example", "a?b@x.example"] {
            XCTAssertEqual(EmailAddress(text)?.text, text)
        }
    }
}

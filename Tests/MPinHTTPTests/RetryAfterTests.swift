import Glibc
import MPinHTTP
import MPinSecrets
import XCTest

/// Tests the header that says when a request may be sent again (RFC 9110 sections 5.6.7 and 10.2.3).
final class RetryAfterTests: XCTestCase {
    private func seconds(_ value: String) -> Int64? {
        HTTPResponse(status: 503, headers: [("retry-after", value)], body: SecretBytes(count: 0)).retryAfter
    }

    /// Returns the time that is `seconds` seconds from now as text, in a format of strftime(3).
    private func moment(in seconds: Int, _ format: String) -> String {
        var (moment, parts) = (time(nil) + seconds, tm())
        gmtime_r(&moment, &parts)
        var text = [CChar](repeating: 0, count: 64)
        return String(decoding: text[..<strftime(&text, text.count, format, &parts)].map(UInt8.init), as: UTF8.self)
    }

    func testSecondsAreTakenAsTheyAre() {
        for (text, expected) in [("0", 0), ("7", 7), ("-1", nil), ("x", nil), ("", nil)] as [(String, Int64?)] {
            XCTAssertEqual(seconds(text), expected, text)
        }
    }

    func testEachOfTheThreeFormsOfADateIsRead() throws {
        for format in ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"] {
            for ahead in [1_000, 86_400 * 40, 86_400 * 365 * 30] {
                let text = moment(in: ahead, format)
                XCTAssertEqual(Double(try XCTUnwrap(seconds(text), text)), Double(ahead), accuracy: 120, text)
            }
            XCTAssertEqual(seconds(moment(in: -86_400, format)), 0, "over")
        }
    }

    /// RFC 9110: a two-digit year that seems to be more than 50 years in the future belongs to the last century.
    func testAYearOfTwoDigitsLiesNoMoreThanFiftyYearsAhead() {
        XCTAssertEqual(seconds(moment(in: 86_400 * 365 * 52, "%A, %d-%b-%y %H:%M:%S GMT")), 0)
    }

    func testWhatIsNoDateIsNone() {
        for text in [
            "Sun, 06 Nov 2094 08:49:37 CET", "Sun 06 Nov 2094 08:49:37 GMT", "Sun, 06 Nov 2094 08:49 GMT",
            "Sun, 32 Nov 2094 08:49:37 GMT", "Sun, 06 Now 2094 08:49:37 GMT", "Sun, 06 Nov 2094 24:00:00 GMT",
            "Sunday, 06-Nov-2094 08:49:37 GMT", "Sunday, 06-Nov 08:49:37 GMT", "Sun Nov 6 08:49:37 94", "Sun Nov 6",
        ] {
            XCTAssertNil(seconds(text), text)
        }
    }
}

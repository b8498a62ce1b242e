import MPinService
import XCTest

/// Tests the cutting of texts that come from outside.
final class TextTests: XCTestCase {
    func testTheBeginningHasBoundedBytes() {
        XCTAssertEqual("abcdef".beginning(3), "abc")
        XCTAssertEqual("äöü".beginning(3), "äöü")
        XCTAssertEqual("👍👍👍👍".beginning(3), "👍👍👍")
        XCTAssertEqual("".beginning(3), "")
        let marks = "a" + String(repeating: "\u{301}", count: 30_000)
        XCTAssertEqual(marks.count, 1)
        XCTAssertEqual(marks.beginning(64), "")
        XCTAssertEqual(("name " + marks).beginning(64), "name ")
    }
}

import Foundation
import MPinServer
import MPinStore
import XCTest

/// Tests the formats of times on the wire. They must be in UTC in every time zone of the process (wire section 2;
/// section 17, defect 20).
final class MomentTests: XCTestCase {
    private let file = NSTemporaryDirectory() + "leap-zone-" + UUID().uuidString

    override func tearDown() {
        unsetenv("TZ")
        tzset()
        try? FileManager.default.removeItem(atPath: file)
    }

    func testTheSpellingsDoNotDependOnTheZone() throws {
        let leaps = try LeapZone.write(to: file)
        for zone in ["UTC", "Asia/Tokyo", "America/Los_Angeles", "XYZ-13:45", leaps] {
            setenv("TZ", zone, 1)
            tzset()
            var spelt = tm()
            var seconds = time_t(1_795_228_579)
            gmtime_r(&seconds, &spelt)
            XCTAssertEqual(spelt.tm_sec, zone == leaps ? 52 : 19, "the C library spells 27 seconds less in \(zone)")
            let moment = Moment(microseconds: 1_795_228_579_000_045)
            XCTAssertEqual(moment.iso, "2026-11-21T02:36:19Z", zone)
            XCTAssertEqual(moment.httpDate, "Sat, 21 Nov 2026 02:36:19 GMT", zone)
            XCTAssertEqual(moment.isoWithMicroseconds, "2026-11-21T02:36:19.000045")
            XCTAssertEqual(moment.issued, "2026-11-21 02:36:19.000045")
            XCTAssertEqual(moment.day, 20_778)
            XCTAssertEqual(moment.hour, 2)
            XCTAssertEqual(Moment("2026-11-21T02:36:19Z")?.seconds, 1_795_228_579, zone)
        }
    }

    func testOneSpellingIsReadAndNoOther() {
        let others = [
            "", "2026-11-21", "2026-11-21 02:36:19Z", "2026-11-21T02:36:19", "2026-11-21T02:36:19z",
            "2026-11-21T02:36:19+00", "2026-11-21T02:36:19.0Z", "2026-11-31T02:36:19Z", "2026-11-21T24:00:00Z",
            "2026-11-21T02:36:60Z", " 2026-11-21T02:36:1Z", "+026-11-21T02:36:19Z",
        ]
        for text in others { XCTAssertNil(Moment(text), text) }
    }

    func testYesterdayCountsInTheFirstHourOfADay() throws {
        func dates(_ time: String) -> [Int32]? { Moment("2026-11-21T" + time)?.permitDates }
        XCTAssertEqual(dates("00:00:00Z"), [20_778, 20_777])
        XCTAssertEqual(dates("00:59:59Z"), [20_778, 20_777])
        XCTAssertEqual(dates("01:00:00Z"), [20_778])
        XCTAssertEqual(dates("23:59:59Z"), [20_778])
    }
}

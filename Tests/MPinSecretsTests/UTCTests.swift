import Glibc
import MPinSecrets
import XCTest

/// Compares the calendar with that of the C library, in a zone without leap seconds.
final class UTCTests: XCTestCase {
    func testEveryDayIsThatOfTheCLibrary() {
        for day in stride(from: Int64(-800_000), through: 3_000_000, by: 61) {
            for seconds in [day * 86_400, day * 86_400 + 43_201, day * 86_400 + 86_399] {
                var (time, expected) = (time_t(seconds), tm())
                gmtime_r(&time, &expected)
                let parts = UTC.parts(seconds)
                XCTAssertEqual(text(parts), text(expected), "\(seconds)")
                let year = Int64(parts.tm_year) + 1900
                guard year >= 1 else { continue }
                XCTAssertEqual(UTC.days(year, Int64(parts.tm_mon) + 1, Int64(parts.tm_mday)), day, "\(seconds)")
            }
        }
    }

    func testNoTimeIsTooLarge() {
        for seconds in [Int64.min, .max] { XCTAssertTrue((0...59).contains(UTC.parts(seconds).tm_sec)) }
    }

    private func text(_ parts: tm) -> String {
        "\(parts.tm_year) \(parts.tm_mon) \(parts.tm_mday) \(parts.tm_wday) \(parts.tm_hour) \(parts.tm_min) \(parts.tm_sec)"
    }
}

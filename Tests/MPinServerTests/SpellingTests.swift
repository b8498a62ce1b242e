import MPinServer
import MPinService
import MPinStore
import XCTest

/// Tests the answer of the Milagro protocol for each verdict: status, Retry-After and message.
final class SpellingTests: XCTestCase {
    private let end = Moment(microseconds: 1_700_000_600_000_000)

    func testTheMilagroWireSpellsEachVerdictInOneWay() {
        let now = Moment(microseconds: end.microseconds - 600_000_000 + 1)
        let spelled: [(Verdict, Int, Int?)] = [
            (.right, 200, nil), (.wrong(left: 2), 401, nil), (.retired, 409, nil), (.revoked, 410, nil),
            (.blocked(until: nil), 410, nil), (.blocked(until: end), 429, 600), (.busy, 503, 1),
            (.unavailable(.masterSecret), 503, 60), (.unavailable(.permits), 503, 30),
        ]
        for (verdict, status, seconds) in spelled {
            XCTAssertEqual(verdict.status, status, "\(verdict)")
            XCTAssertEqual(verdict.retryAfter(at: now), seconds, "\(verdict)")
        }
        XCTAssertEqual(Verdict.revoked.message, Verdict.wrong(left: 1).message, "who is revoked reads no more")
    }
}

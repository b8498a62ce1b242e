import MPinHTTP
import MPinSDK
import MPinSession
import XCTest

/// Who gets the failure of a renewal, and for how long.
final class FailedRenewalTests: XCTestCase {
    private func failed(
        _ status: Status, _ need: Need = Need(), secondsAgo: UInt64 = 0, retryAfter: Int64? = nil
    ) -> FailedRenewal {
        var report = SDKError.ServerReport()
        report.retryAfter = retryAfter
        let error = SDKError(status, "x", server: report)
        let moment = monotonicNanoseconds() &- secondsAgo * 1_000_000_000
        return FailedRenewal(moment: moment, error: error, need: need, session: "s")
    }

    func testAFailureThatIsDueToANeedIsThatOfTheSameNeed() {
        for status in [Status.largeMinTTL, .renewFailed] {
            let failure = failed(status, Need(scope: "openid", minTTL: 60))
            XCTAssertTrue(failure.answers(Need(scope: "openid", minTTL: 60), "s", asked: 0), "\(status)")
            XCTAssertFalse(failure.answers(Need(scope: "email", minTTL: 60), "s", asked: 0), "\(status)")
            XCTAssertFalse(failure.answers(Need(scope: "openid", minTTL: 61), "s", asked: 0), "\(status)")
        }
        for status in [Status.networkError, .timedOut, .tokenInvalid, .loginRequired, .tooManyRequests] {
            let failure = failed(status, Need(scope: "openid", minTTL: 60))
            XCTAssertTrue(failure.answers(Need(scope: "email", minTTL: 61), "s", asked: 0), "\(status)")
        }
    }

    func testAFailureIsThatOfOneSessionAndOfThoseWhoWaited() {
        let failure = failed(.networkError)
        XCTAssertTrue(failure.answers(Need(), "s", asked: 0))
        XCTAssertFalse(failure.answers(Need(), "t", asked: 0))
        XCTAssertFalse(failure.answers(Need(), nil, asked: 0))
        XCTAssertFalse(failure.answers(Need(), "s", asked: .max))
    }

    func testAPauseIsThatOfEverybodyAndEnds() {
        for status in [Status.tooManyRequests, .httpServerError] {
            let pauses: [(Int64?, UInt64, Bool)] = [
                (3600, 270, true), (3600, 301, false), (.max, 270, true), (.max, 301, false), (60, 30, true),
                (60, 61, false), (0, 0, false), (-60, 0, false), (nil, 0, false),
            ]
            for (seconds, ago, isOn) in pauses {
                let failure = failed(status, secondsAgo: ago, retryAfter: seconds)
                let reason = "\(status) \(seconds ?? -1) \(ago)"
                XCTAssertEqual(failure.answers(Need(scope: "email", minTTL: 7), "s", asked: .max), isOn, reason)
            }
        }
        XCTAssertFalse(failed(.tooManyRequests, retryAfter: 60).answers(Need(), "t", asked: .max))
        XCTAssertFalse(failed(.networkError, retryAfter: 60).answers(Need(), "s", asked: .max))
    }

    /// A provider accepts a refresh token for 30 seconds after its use.
    func testTheFirstAttemptLeavesTimeForTheSecond() {
        let times = [(Int.max, 10_000), (60_000, 10_000), (20_000, 10_000), (8_000, 4_000), (1, 0), (0, 0)]
        for (left, first) in times { XCTAssertEqual(firstAttempt(of: left), UInt32(first)) }
    }
}

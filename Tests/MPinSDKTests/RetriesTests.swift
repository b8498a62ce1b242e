import MPinHTTP
import MPinSDK
import XCTest

final class RetriesTests: XCTestCase {
    private let failure = SDKError(.networkError, "no answer")

    private func answer(_ http: Int, retryAfter: Int64? = nil) -> SDKError {
        var report = SDKError.ServerReport()
        report.retryAfter = retryAfter
        return SDKError(.httpServerError, "no", httpStatus: http, server: report)
    }

    /// Returns the length of the next pause in milliseconds; nil if there is no further try.
    private func next(_ retries: inout Retries, after error: SDKError) -> Int? {
        let now = monotonicNanoseconds()
        return retries.pause(after: error).map { $0.remainingMilliseconds(now: now) }
    }

    func testThreePausesEachLongerAndOfRandomLength() throws {
        for failure in [failure, answer(502), answer(503), answer(504)] {
            var seen: [Set<Int>] = [[], [], []]
            for _ in 0..<100 {
                var retries = Retries(deadline: .after(milliseconds: 60_000))
                for (number, longest) in [100, 200, 400].enumerated() {
                    let pause = try XCTUnwrap(next(&retries, after: failure))
                    XCTAssertGreaterThanOrEqual(pause, longest / 2)
                    seen[number].insert(min(pause, longest))
                }
                XCTAssertNil(next(&retries, after: failure))
            }
            for pauses in seen { XCTAssertGreaterThan(pauses.count, 10) }
        }
    }

    func testTheServersTimeIsKeptAndALittleMore() throws {
        var seen: Set<Int> = []
        for _ in 0..<100 {
            for http in [429, 503] {
                var retries = Retries(deadline: .after(milliseconds: 60_000))
                let pause = try XCTUnwrap(next(&retries, after: answer(http, retryAfter: 7)))
                XCTAssertGreaterThanOrEqual(pause, 7050)
                seen.insert(pause)
            }
        }
        XCTAssertGreaterThan(seen.count, 10)
    }

    func testNoPauseReachesBeyondTheDeadline() {
        for milliseconds in [0, 1, 40] as [UInt32] {
            var retries = Retries(deadline: .after(milliseconds: milliseconds))
            XCTAssertNil(next(&retries, after: failure))
        }
        var retries = Retries(deadline: .after(milliseconds: 6000))
        XCTAssertNil(next(&retries, after: answer(503, retryAfter: 7)))
        XCTAssertNil(next(&retries, after: answer(503, retryAfter: .max)))
    }

    func testWhatIsFinalHasNoPause() {
        let others = [Status.timedOut, .canceled, .untrustedDomainError].map { SDKError($0, "no") }
        let final = SDKError(.networkError, "nothing can send", isFinal: true)
        for error in [answer(500), answer(501), answer(429), answer(302), answer(404), final] + others {
            var retries = Retries(deadline: .after(milliseconds: 60_000))
            XCTAssertNil(next(&retries, after: error), "\(error)")
        }
    }
}

import MPinService
import MPinStore
import XCTest

/// Tests browsers that wait for a phone.
final class WaitingBrowserTests: XCTestCase {
    /// Wire section 6.9: two browsers must not have the same access number at the same time. After a number has expired
    /// and was given to a second browser, the first one must not see the second one's login.
    func testANumberIsGivenToOneBrowserAtATime() async throws {
        let browsers = WaitingBrowsers(in: MemoryStore(), signals: LocalSignals())
        let start = Moment.now()
        let expires = start.adding(seconds: 10)
        let first = try await browsers.open("2741539", webOTT: "a", expires: expires, at: start)
        XCTAssertTrue(first)
        let again = try await browsers.open("2741539", webOTT: "b", expires: expires, at: start)
        XCTAssertFalse(again)
        let nobody = try await browsers.wid(webOTT: "b", at: start)
        XCTAssertNil(nobody)
        let later = start.adding(seconds: 11)
        let next = try await browsers.open("2741539", webOTT: "c", expires: later.adding(seconds: 10), at: later)
        XCTAssertTrue(next)
        let old = try await browsers.look("2741539", webOTT: "a", at: later) { $0.show(at: later).status }
        XCTAssertNil(old)
        let own = try await browsers.look("2741539", webOTT: "c", at: later) { $0.show(at: later).status }
        XCTAssertEqual(own, "new")
    }

    /// Tests a page that waits, and whose looks at a far store take longer together than a request may wait for it.
    func testEachLookHasTheTimeOfARequest() async throws {
        let (signals, seconds) = (LocalSignals(), 60)
        let browsers = WaitingBrowsers(in: MemoryStore(), signals: signals)
        try await StorePatience.limit(to: .seconds(1)) {
            for _ in 0..<2 {
                let left = try await browsers.wait("2741539", seconds: seconds) { () -> Duration? in
                    let before = ContinuousClock.now
                    return try await StorePatience.call(atMost: .seconds(600)) { end in
                        try await Task.sleep(for: .milliseconds(600))
                        return end - before
                    }
                }
                XCTAssertGreaterThanOrEqual(try XCTUnwrap(left), StorePatience.ofRequest)
            }
        }
    }
}

import MPinStore
import XCTest

/// Tests how the time of a request is counted. Whether stores keep to it is tested with them.
final class StorePatienceTests: XCTestCase {
    private let minute = Duration.seconds(60)

    func testCallsAtTheSameTimeCountOnce() async throws {
        try await StorePatience.limit(to: minute) {
            let start = ContinuousClock.now
            async let one: Void = call(.seconds(1))
            async let other: Void = call(.seconds(1))
            _ = try await (one, other)
            let took = ContinuousClock.now - start
            let left = await timeLeft()
            XCTAssertGreaterThanOrEqual(left.before, minute - took)
            XCTAssertLessThanOrEqual(left.after, minute - .seconds(1))
        }
    }

    func testTimeWithoutACallDoesNotCount() async throws {
        try await StorePatience.limit(to: minute) {
            try await Task.sleep(for: .milliseconds(100))
            let left = await timeLeft()
            XCTAssertGreaterThanOrEqual(left.before, minute)
        }
    }

    func testPausesBetweenCallsCount() async throws {
        try await StorePatience.limit(to: minute) {
            try await StorePatience.counting { try await Task.sleep(for: .milliseconds(100)) }
            let left = await timeLeft()
            XCTAssertLessThanOrEqual(left.after, minute - .milliseconds(100))
        }
    }

    /// A page that waits for a phone asks its store again and again.
    func testAPartWithATimeOfItsOwnLeavesThatOfTheRequest() async throws {
        try await StorePatience.limit(to: minute) {
            try await StorePatience.limit(to: .seconds(30)) {
                try await call(.milliseconds(100))
                let left = await timeLeft()
                XCTAssertLessThanOrEqual(left.after, .seconds(30) - .milliseconds(100))
            }
            let left = await timeLeft()
            XCTAssertGreaterThanOrEqual(left.before, minute)
        }
    }

    func testACallHasThePatienceOfItsStoreAtMost() async throws {
        for limit in [minute, .seconds(1)] {
            await StorePatience.limit(to: limit) {
                let left = await timeLeft(atMost: .seconds(30))
                XCTAssertLessThanOrEqual(left.after, min(limit, .seconds(30)))
            }
        }
    }
}

private func call(_ time: Duration) async throws {
    try await StorePatience.call(atMost: .seconds(600)) { _ in try await Task.sleep(for: time) }
}

/// How long a call may take, from a moment before it began, and from one when it had begun.
private func timeLeft(atMost patience: Duration = .seconds(600)) async -> (before: Duration, after: Duration) {
    let before = ContinuousClock.now
    return await StorePatience.call(atMost: patience) { end in (end - before, end - ContinuousClock.now) }
}

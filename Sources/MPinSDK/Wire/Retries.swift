package import MPinHTTP

/// Decides whether a failed request is sent again: at most three times, each after a pause of random length, so that
/// many clients do not return at the same moment.
package struct Retries {
    /// The maximum length of the first pause.
    package static let usualMilliseconds: UInt32 = 100

    private let deadline: Deadline
    private let firstPauseMilliseconds: UInt32
    private var count: UInt32 = 0
    private static let maxCount: UInt32 = 3

    package init(deadline: Deadline, firstPauseMilliseconds: UInt32 = Retries.usualMilliseconds) {
        self.deadline = deadline
        self.firstPauseMilliseconds = firstPauseMilliseconds
    }

    /// The end of the pause before the next attempt. Nil if the request must not be sent again: the error is not
    /// temporary, there were enough attempts, or the pause would end after the deadline.
    package mutating func pause(after error: SDKError) -> Deadline? {
        guard count < Self.maxCount, Self.isTransient(error) else { return nil }
        let pause = firstPauseMilliseconds << count
        count += 1
        // If the server names a waiting time, the pause is at least that long.
        let asked = error.server.retryAfter.map { UInt32(clamping: min($0, 1_000_000) &* 1000) } ?? 0
        let end = Deadline.after(milliseconds: asked &+ UInt32.random(in: pause / 2...pause))
        return end.nanoseconds < deadline.nanoseconds ? end : nil
    }

    /// Whether the error may be temporary: there was no connection, or the HTTP status is 429 with a waiting time, 502,
    /// 503 or 504.
    private static func isTransient(_ error: SDKError) -> Bool {
        switch error.httpStatus {
        case nil: error.status == .networkError && !error.isFinal
        case 429?: error.server.retryAfter != nil
        case 502?, 503?, 504?: true
        default: false
        }
    }
}

package import MPinHTTP

/// When a request that failed is worth another try: at most three, each after a pause of random length, so that clients
/// which failed together do not come back together.
package struct Retries {
    /// Of the first pause, at most.
    package static let usualMilliseconds: UInt32 = 100

    private let deadline: Deadline
    private let firstPauseMilliseconds: UInt32
    private var count: UInt32 = 0
    private static let maxCount: UInt32 = 3

    package init(deadline: Deadline, firstPauseMilliseconds: UInt32 = Retries.usualMilliseconds) {
        self.deadline = deadline
        self.firstPauseMilliseconds = firstPauseMilliseconds
    }

    /// The end of the pause; nil where no further try is worth it, or where there is no time for one.
    package mutating func pause(after error: SDKError) -> Deadline? {
        guard count < Self.maxCount, Self.isTransient(error) else { return nil }
        let pause = firstPauseMilliseconds << count
        count += 1
        // A server that names a time gets it, and a little more.
        let asked = error.server.retryAfter.map { UInt32(clamping: min($0, 1_000_000) &* 1000) } ?? 0
        let end = Deadline.after(milliseconds: asked &+ UInt32.random(in: pause / 2...pause))
        return end.nanoseconds < deadline.nanoseconds ? end : nil
    }

    /// No connection, or an answer that tells of its own end.
    private static func isTransient(_ error: SDKError) -> Bool {
        switch error.httpStatus {
        case nil: error.status == .networkError && !error.isFinal
        case 429?: error.server.retryAfter != nil
        case 502?, 503?, 504?: true
        default: false
        }
    }
}

import Synchronization

/// How long one request may wait for its stores. A request makes several calls, one after the other, and its client waits
/// for all of them. So a call has only the time that the calls before it have left.
///
/// Only time in which a call waits counts. A call outside of a request has the patience of its store.
package final class StorePatience: Sendable {
    @TaskLocal private static var current: StorePatience?

    private struct State {
        var left: Duration
        /// How many calls wait now, and since when there has been one. Time in which several wait counts once.
        var calls = 0
        var start = ContinuousClock.now
    }

    /// A client gets its answer within five seconds. It is less, because calls that are not answered are looked for four
    /// times a second.
    package static let ofRequest = Duration.milliseconds(4500)
    /// A call that has less time left is not begun. If there is no answer in this time, the server does not answer others
    /// either.
    static let least = Duration.milliseconds(250)

    private let state: Mutex<State>

    private init(_ patience: Duration) { state = Mutex(State(left: patience)) }

    /// Runs a request, or a part of one that has all the time again. Its calls may wait for `patience` together.
    package static func limit<Result>(
        to patience: Duration = ofRequest, _ work: () async throws -> Result
    ) async rethrows -> Result {
        try await $current.withValue(StorePatience(patience)) { try await work() }
    }

    /// Runs a pause between two calls, which the client waits for, too.
    package static func counting(_ pause: () async throws -> Void) async rethrows {
        try await call(atMost: ofRequest) { _ in try await pause() }
    }

    /// Runs a call that may wait for `patience`, but not longer than its request. `work` gets the moment when it must give
    /// up.
    package static func call<Result>(
        atMost patience: Duration, _ work: (ContinuousClock.Instant) async throws -> Result
    ) async rethrows -> Result {
        let end = ContinuousClock.now + patience
        guard let current else { return try await work(end) }
        let latest = current.begin()
        defer { current.finish() }
        return try await work(min(end, latest))
    }

    /// Begins a call and returns when the request's time is over.
    private func begin() -> ContinuousClock.Instant {
        state.withLock { state in
            if state.calls == 0 { state.start = .now }
            state.calls += 1
            return state.start + state.left
        }
    }

    private func finish() {
        state.withLock { state in
            state.calls -= 1
            if state.calls == 0 { state.left -= .now - state.start }
        }
    }
}

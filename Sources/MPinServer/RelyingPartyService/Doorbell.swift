import Synchronization

/// Wakes the requests of this process that wait for a change of one item, without a thread for any of them.
///
/// They also look once a second by themselves: another process may share the store, and the change may be its.
final class Doorbell: Sendable {
    private struct State {
        var last: UInt64 = 0
        var waiting: [String: [UInt64: AsyncStream<Void>.Continuation]] = [:]
    }

    private let state = Mutex(State())

    /// Wakes all who wait for `key`.
    func ring(_ key: String) {
        let waiting = state.withLock { $0.waiting[key] ?? [:] }
        for continuation in waiting.values { continuation.yield() }
    }

    /// An element at once, one after each ring and each second, and the end after `seconds`. Rings that come while the
    /// listener is busy are one.
    func rings(_ key: String, seconds: Int) -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = add(key, continuation)
        continuation.yield()
        let ticking = Task {
            for _ in 0..<max(seconds, 0) {
                try await Task.sleep(for: .seconds(1))
                continuation.yield()
            }
            continuation.finish()
        }
        continuation.onTermination = { [weak self] _ in
            ticking.cancel()
            self?.remove(key, number)
        }
        return stream
    }

    private func add(_ key: String, _ continuation: AsyncStream<Void>.Continuation) -> UInt64 {
        state.withLock { state in
            state.last &+= 1
            state.waiting[key, default: [:]][state.last] = continuation
            return state.last
        }
    }

    private func remove(_ key: String, _ number: UInt64) {
        state.withLock { state in
            state.waiting[key]?[number] = nil
            if state.waiting[key]?.isEmpty ?? false { state.waiting[key] = nil }
        }
    }
}

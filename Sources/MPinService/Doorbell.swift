import NIOCore
import NIOPosix
import Synchronization

/// Wakes the requests of this process that wait for a change of one item, without a thread, a task or a regular look for
/// any of them: thousands may wait.
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

    /// An element at once, one after each ring, one after `seconds`, and then the end, which `stop` brings before its time.
    /// Rings that come while the listener is busy are one.
    func rings(_ key: String, seconds: Int) -> (stream: AsyncStream<Void>, stop: @Sendable () -> Void) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = add(key, continuation)
        continuation.yield()
        let alarm = MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: .seconds(Int64(max(seconds, 0)))) {
            continuation.yield()
            continuation.finish()
        }
        continuation.onTermination = { [weak self] _ in
            alarm.cancel()
            self?.remove(key, number)
        }
        return (stream, { continuation.finish() })
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

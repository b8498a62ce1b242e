import NIOCore
import NIOPosix
import Synchronization

/// Wakes requests that wait for a change. A signal is only a name; a request that it wakes reads the store to see what
/// has changed.
///
/// A ring from another process may get lost. So an engine that serves several processes must also ring every signal
/// once a second.
package protocol Signals: Sendable {
    /// Wakes all requests that wait for the signal.
    func ring(_ signal: String)

    /// A stream that gives one element at once, one after each ring of the signal, and one after `seconds`, and then
    /// ends. `stop` ends it earlier. Rings that come while the listener is busy together give one element, so none is
    /// missed.
    func rings(_ signal: String, seconds: Int) -> (stream: AsyncStream<Void>, stop: @Sendable () -> Void)
}

/// The signals of one process. A waiting request needs no thread and no task, so thousands may wait. It looks for changes
/// again and again only if other processes share its stores.
package final class LocalSignals: Signals {
    private struct State {
        var last: UInt64 = 0
        var waiting: [String: [UInt64: AsyncStream<Void>.Continuation]] = [:]
    }

    private let state = Mutex(State())
    /// After this time a waiting request is woken without a ring, because the ring may have come from another process.
    private let pause: Duration?

    package init(looksAgainAfter pause: Duration? = nil) { self.pause = pause }

    package func ring(_ signal: String) {
        let waiting = state.withLock { $0.waiting[signal] ?? [:] }
        for continuation in waiting.values { continuation.yield() }
    }

    /// Wakes all requests, because rings may have got lost.
    func ringAll() {
        let waiting = state.withLock { $0.waiting.values.flatMap(\.values) }
        for continuation in waiting { continuation.yield() }
    }

    package func rings(_ signal: String, seconds: Int) -> (stream: AsyncStream<Void>, stop: @Sendable () -> Void) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let number = add(signal, continuation)
        continuation.yield()
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let alarm = loop.scheduleTask(in: .seconds(Int64(max(seconds, 0)))) {
            continuation.yield()
            continuation.finish()
        }
        let looks = pause.map(TimeAmount.init).map { pause in
            loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in continuation.yield() }
        }
        continuation.onTermination = { [weak self] _ in
            alarm.cancel()
            looks?.cancel()
            self?.remove(signal, number)
        }
        return (stream, { continuation.finish() })
    }

    /// The number of waiting streams.
    package var count: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

    private func add(_ signal: String, _ continuation: AsyncStream<Void>.Continuation) -> UInt64 {
        state.withLock { state in
            state.last &+= 1
            state.waiting[signal, default: [:]][state.last] = continuation
            return state.last
        }
    }

    private func remove(_ signal: String, _ number: UInt64) {
        state.withLock { state in
            state.waiting[signal]?[number] = nil
            if state.waiting[signal]?.isEmpty ?? false { state.waiting[signal] = nil }
        }
    }
}

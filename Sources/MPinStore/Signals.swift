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

    /// The rings of the signal for one listener, who hears one at once, one after each ring of the signal, and one after
    /// `seconds`, which is the last. `stop` ends them earlier. The listener must call it when it does not listen any more.
    func rings(_ signal: String, seconds: Int) -> (rings: Rings, stop: @Sendable () -> Void)
}

/// The rings of a signal that one listener has not heard yet. Rings that come while the listener is busy together are
/// heard as one, so none is missed.
package final class Rings: AsyncSequence, AsyncIteratorProtocol, Sendable {
    package typealias Element = Void
    package typealias Failure = Never

    private struct State {
        /// Whether there is a ring to hear.
        var isRung = true
        var hasEnded = false
        var listener: UnsafeContinuation<Void?, Never>?
    }

    private let state = Mutex(State())
    fileprivate let end: NIODeadline

    fileprivate init(until end: NIODeadline) { self.end = end }

    package func makeAsyncIterator() -> Rings { self }

    /// Waits for the next ring. Nil after the last one. Only one task may listen.
    package func next() async -> Void? {
        await withUnsafeContinuation { listener in
            let isRung: Bool? = state.withLock { state in
                guard !state.isRung else {
                    state.isRung = false
                    return true
                }
                if !state.hasEnded { state.listener = listener }
                return state.hasEnded ? false : nil
            }
            if let isRung { listener.resume(returning: isRung ? () : nil) }
        }
    }

    fileprivate func ring() {
        let listener = state.withLock { state in
            if state.listener == nil { state.isRung = true }
            return state.listener.take()
        }
        listener?.resume(returning: ())
    }

    fileprivate func stop() {
        let listener = state.withLock { state in
            state.hasEnded = true
            return state.listener.take()
        }
        listener?.resume(returning: nil)
    }
}

/// The signals of one process. A waiting request needs no thread, no task and no timer of its own, so thousands may wait.
/// It looks for changes again and again only if other processes share its stores.
package final class LocalSignals: Signals {
    private struct State {
        var waiting: [String: [ObjectIdentifier: Rings]] = [:]
        /// The time that the alarm is set to; nil if none is set.
        var alarm: NIODeadline?
    }

    private let state = Mutex(State())
    private let loop = MultiThreadedEventLoopGroup.singleton.any()
    /// After this time a waiting request is woken without a ring, because the ring may have come from another process.
    private let pause: Duration?

    /// The alarm is not set to an earlier time than this one from now, so that many waits end with one alarm.
    private static let shortestAlarm = TimeAmount.milliseconds(100)

    package init(looksAgainAfter pause: Duration? = nil) { self.pause = pause }

    package func ring(_ signal: String) {
        let waiting = state.withLock { $0.waiting[signal] ?? [:] }
        for rings in waiting.values { rings.ring() }
    }

    /// Wakes all requests, because rings may have got lost.
    func ringAll() { for rings in all { rings.ring() } }

    package func rings(_ signal: String, seconds: Int) -> (rings: Rings, stop: @Sendable () -> Void) {
        let rings = Rings(until: .now() + .seconds(Int64(max(seconds, 0))))
        state.withLock { $0.waiting[signal, default: [:]][ObjectIdentifier(rings)] = rings }
        setAlarm(to: rings.end)
        let looks = pause.map(TimeAmount.init).map { pause in
            loop.scheduleRepeatedTask(initialDelay: pause, delay: pause) { _ in rings.ring() }
        }
        let stop: @Sendable () -> Void = { [self] in
            looks?.cancel()
            rings.stop()
            remove(rings, signal)
        }
        return (rings, stop)
    }

    /// The number of waiting listeners.
    package var count: Int { all.count }

    private var all: [Rings] { state.withLock { $0.waiting.values.flatMap(\.values) } }

    private func remove(_ rings: Rings, _ signal: String) {
        state.withLock { state in
            state.waiting[signal]?[ObjectIdentifier(rings)] = nil
            if state.waiting[signal]?.isEmpty ?? false { state.waiting[signal] = nil }
        }
    }

    /// Sets the one alarm to `time`, unless it is set to an earlier time. Most waits end long before their time, and the
    /// alarm stays as it is: a timer for each would cost more than the rest of the wait.
    private func setAlarm(to time: NIODeadline) {
        let isFirst = state.withLock { state in
            if let alarm = state.alarm, alarm <= time { return false }
            state.alarm = time
            return true
        }
        if isFirst { loop.scheduleTask(deadline: time) { self.endWaits(at: time) } }
    }

    /// Ends the waits whose time is over, after the alarm that was set to `time`.
    private func endWaits(at time: NIODeadline) {
        let isSet = state.withLock { state in
            // An alarm that was set later, to an earlier time, has taken the place of this one.
            guard state.alarm == time else { return false }
            state.alarm = nil
            return true
        }
        guard isSet else { return }
        let (now, all) = (NIODeadline.now(), all)
        for rings in all where rings.end <= now {
            rings.ring()
            rings.stop()
        }
        let next = all.lazy.map(\.end).filter { $0 > now }.min()
        if let next { setAlarm(to: max(next, now + Self.shortestAlarm)) }
    }
}

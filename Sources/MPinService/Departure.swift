import ServiceLifecycle
import Synchronization

/// Tells who waits on behalf of a client that the client has gone: it has closed its side of the connection, and nobody
/// would read what comes late. One to a connection.
package final class Departure: Sendable {
    /// That of the connection whose request is being served.
    @TaskLocal package static var ofClient: Departure?

    private struct State {
        var hasCome = false
        var last: UInt64 = 0
        var listeners: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    package var hasCome: Bool { state.withLock { $0.hasCome } }

    package init() {}

    /// The client has gone. Those who listen hear it once.
    package func come() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            state.hasCome = true
            return state.listeners
        }
        for listener in listeners.values { listener() }
    }

    /// `listener` hears of the departure, at once if it has come already. The number is for ``forget(_:)``.
    fileprivate func listen(_ listener: @escaping @Sendable () -> Void) -> UInt64 {
        let (number, hasCome) = state.withLock { state in
            state.last &+= 1
            if !state.hasCome { state.listeners[state.last] = listener }
            return (state.last, state.hasCome)
        }
        if hasCome { listener() }
        return number
    }

    fileprivate func forget(_ number: UInt64) { state.withLock { $0.listeners[number] = nil } }
}

/// Runs `work`, and `onEnd` as soon as its result is of no use: the client has gone, the server is to stop, or the task is
/// cancelled. `onEnd` may be called more than once, and also when `work` is just done.
package func whileWanted<Result>(
    _ work: () async throws -> Result, onEnd: @escaping @Sendable () -> Void
) async throws -> Result {
    let departure = Departure.ofClient
    let number = departure?.listen(onEnd)
    defer { if let number { departure?.forget(number) } }
    return try await withTaskCancellationOrGracefulShutdownHandler {
        try await work()
    } onCancelOrGracefulShutdown: {
        onEnd()
    }
}

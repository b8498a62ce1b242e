import ServiceLifecycle
import Synchronization

/// Reports that a client has closed its side of the connection, so that its waiting requests can end: nobody would read
/// their answers. Each connection has its own object.
package final class ClientDisconnect: Sendable {
    /// The object of the connection whose request this task serves.
    @TaskLocal package static var current: ClientDisconnect?

    private struct State {
        var hasHappened = false
        var last: UInt64 = 0
        var listeners: [UInt64: @Sendable () -> Void] = [:]
    }

    private let state = Mutex(State())

    package var hasHappened: Bool { state.withLock { $0.hasHappened } }

    package init() {}

    /// Notes that the client has disconnected, and calls each listener once.
    package func report() {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            state.hasHappened = true
            return state.listeners
        }
        for listener in listeners.values { listener() }
    }

    /// Calls `listener` when the client disconnects, or at once if it has already. Returns the number for
    /// ``forget(_:)``.
    fileprivate func listen(_ listener: @escaping @Sendable () -> Void) -> UInt64 {
        let (number, hasHappened) = state.withLock { state in
            state.last &+= 1
            if !state.hasHappened { state.listeners[state.last] = listener }
            return (state.last, state.hasHappened)
        }
        if hasHappened { listener() }
        return number
    }

    fileprivate func forget(_ number: UInt64) { state.withLock { $0.listeners[number] = nil } }
}

/// Runs `work`. Calls `onEnd` as soon as the result is no longer needed: when the client has disconnected, the server
/// is to stop, or the task is cancelled. `onEnd` may be called several times, and also when `work` has just finished.
package func runWhileNeeded<Result>(
    _ work: () async throws -> Result, onEnd: @escaping @Sendable () -> Void
) async throws -> Result {
    let disconnect = ClientDisconnect.current
    let number = disconnect?.listen(onEnd)
    defer { if let number { disconnect?.forget(number) } }
    return try await withTaskCancellationOrGracefulShutdownHandler {
        try await work()
    } onCancelOrGracefulShutdown: {
        onEnd()
    }
}

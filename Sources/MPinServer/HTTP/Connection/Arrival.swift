import HummingbirdCore
import NIOConcurrencyHelpers
import NIOCore

/// A connection between its set-up and the task that serves it. When the framework closes its listener, it drops such
/// connections without closing them, which would crash the process. So `deinit` serves them.
final class Arrival: ServerChildChannelValue {
    let channel: any Channel
    private let work: @Sendable () async -> Void
    private let left: @Sendable () -> Void
    private let isServed = NIOLockedValueBox(false)

    init(_ channel: any Channel, work: @escaping @Sendable () async -> Void, left: @escaping @Sendable () -> Void) {
        self.channel = channel
        self.work = work
        self.left = left
    }

    /// Runs the connection's work on its own event loop.
    var executor: EventLoopExecutor { .of(channel.eventLoop) }

    deinit {
        guard !isServed.withLockedValue({ $0 }) else { return }
        left()
        Task(executorPreference: executor) { [work] in await work() }
    }

    func serve() async {
        isServed.withLockedValue { $0 = true }
        left()
        await work()
    }
}

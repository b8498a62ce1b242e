import NIOCore
import NIOPosix

/// Runs tasks on the event loops, so that one thread reads a request, handles it and writes the answer. Changing to a
/// thread of another pool and back costs more than most handlers.
///
/// Handlers must not block. Calls to other servers run on threads of their own (``Workers``), and so do syncs to the
/// disk. A pairing takes a quarter of a millisecond and may run on the event loop.
final class EventLoopExecutor: TaskExecutor {
    /// Runs each step of a task on the event loop of the caller, or on any if the caller is on none.
    static let shared = EventLoopExecutor(nil)
    private static let each = Dictionary(
        uniqueKeysWithValues: MultiThreadedEventLoopGroup.singleton.makeIterator().map {
            (ObjectIdentifier($0), EventLoopExecutor($0))
        })

    /// Runs all steps of a task on the event loop of a connection, also after a step on a thread of the store.
    static func of(_ loop: any EventLoop) -> EventLoopExecutor { each[ObjectIdentifier(loop)] ?? shared }

    private let loop: (any EventLoop)?

    private init(_ loop: (any EventLoop)?) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        (loop ?? MultiThreadedEventLoopGroup.singleton.any()).execute {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }

    /// Lets the event loop of the caller first do everything that it can do now: read the requests that have arrived,
    /// and run their handlers until they wait.
    @Sendable static func pause() async {
        await withUnsafeContinuation { waiting in
            MultiThreadedEventLoopGroup.singleton.any().execute { waiting.resume() }
        }
    }
}

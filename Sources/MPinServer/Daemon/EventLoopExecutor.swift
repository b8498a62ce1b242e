import NIOPosix

/// Runs tasks on the event loops themselves: a request is read, answered and written by one thread, without a change to
/// another pool's thread and back, which costs more than most handlers.
///
/// Handlers must not block: calls of other servers have threads of their own (``Workers``), and so has a sync to the
/// disk. A pairing is a quarter of a millisecond and stays where it is.
final class EventLoopExecutor: TaskExecutor {
    static let shared = EventLoopExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        // From a loop this is the same loop.
        MultiThreadedEventLoopGroup.singleton.any().execute {
            job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
    }
}

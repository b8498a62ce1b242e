import Dispatch
import MPinSDK
import Synchronization

/// Whether the task is cancelled whose call this thread runs. Each task has its own flag, so that cancelling one task does
/// not end the calls of other tasks.
enum Cancellation {
    @TaskLocal private static var flag: Flag?

    static var isRequested: Bool { flag?.isSet ?? false }

    /// Runs a blocking call on a queue, outside of Swift's cooperative threads. If the task is cancelled,
    /// ``isRequested`` becomes true in the call's thread, and `onCancel` is called.
    static func perform<Answer: Sendable>(
        on queue: DispatchQueue, onCancel: @escaping @Sendable () -> Void = {},
        _ call: @escaping @Sendable () throws(SDKError) -> Answer
    ) async throws(MPinError) -> Answer {
        let cancellation = Flag()
        let result: Result<Answer, SDKError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async {
                    let result = $flag.withValue(cancellation) { Result { () throws(SDKError) in try call() } }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            cancellation.set()
            onCancel()
        }
        do { return try result.get() } catch { throw MPinError(error) }
    }
}

/// A flag that is set when a task is cancelled.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

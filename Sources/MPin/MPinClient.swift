import Dispatch
import MPinSDK
import Synchronization

/// A client of M-Pin servers. It has one store, many users, and one backend at a time.
///
/// Any task may call it. The calls run one after another, and not on the threads of Swift's cooperative pool. If a task
/// is cancelled, its call ends with ``MPinError/Code/canceled``.
public final class MPinClient: Sendable {
    private let sdk: SDK
    private let queue = DispatchQueue(label: "libmpin.client")

    /// The flag of the task whose call this thread runs. Each task has its own flag, so that cancelling one task does
    /// not end the calls of other tasks.
    @TaskLocal private static var cancellation: Flag?

    /// Opens the store, loads its users, and sets the backend if there is one.
    public init(_ configuration: Configuration) async throws(MPinError) {
        var environment = Environment()
        environment.isCancelled = { Self.cancellation?.isSet ?? false }
        sdk = SDK(environment: environment)
        let config = configuration.core
        try await perform { sdk throws(SDKError) in try sdk.initialize(config) }
    }

    /// Checks the arithmetic against known answers. It needs neither network nor storage.
    public static func selfTest() throws(MPinError) {
        do { try SDK.selfTest() } catch { throw MPinError(error) }
    }

    /// Runs a blocking call of the core outside of Swift's cooperative threads.
    func perform<Answer: Sendable>(
        _ call: @escaping @Sendable (SDK) throws(SDKError) -> Answer
    ) async throws(MPinError) -> Answer {
        let cancellation = Flag()
        let result: Result<Answer, SDKError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [sdk] in
                    let result = Self.$cancellation.withValue(cancellation) {
                        Result { () throws(SDKError) in try call(sdk) }
                    }
                    continuation.resume(returning: result)
                }
            }
        } onCancel: {
            cancellation.set()
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

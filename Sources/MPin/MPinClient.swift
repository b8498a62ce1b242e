import Dispatch
import MPinSDK
import Synchronization

/// A client of M-Pin servers: one store, one backend at a time, users.
///
/// Calls may come from any task; they run one after the other, off the cooperative threads. A task that is cancelled ends
/// its call with ``MPinError/Code/canceled``.
public final class MPinClient: Sendable {
    private let sdk: SDK
    private let queue = DispatchQueue(label: "libmpin.client")

    /// That of the task whose call this thread runs: a task that is cancelled ends no other one's.
    @TaskLocal private static var cancellation: Flag?

    /// Opens the store, loads its users, and sets the backend if one is given.
    public init(_ configuration: Configuration) async throws(MPinError) {
        var environment = Environment()
        environment.isCancelled = { Self.cancellation?.isSet ?? false }
        sdk = SDK(environment: environment)
        let config = configuration.core
        try await perform { sdk throws(SDKError) in try sdk.initialize(config) }
    }

    /// Checks the arithmetic against known answers, without network or storage.
    public static func selfTest() throws(MPinError) {
        do { try SDK.selfTest() } catch { throw MPinError(error) }
    }

    /// Runs a call of the core, which blocks, on a thread of its own.
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

/// Says that a task was cancelled.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

import Dispatch
import MPinSDK
import Synchronization

/// A client of M-Pin servers: one store, one backend at a time, users.
///
/// Calls may come from any task; they run one after the other, off the cooperative threads. A task that is cancelled ends
/// its call with ``MPinError/Code/canceled``.
public final class MPinClient: Sendable {
    private let sdk = SDK()
    private let queue = DispatchQueue(label: "libmpin.client")

    /// Opens the store, loads its users, and sets the backend if one is given.
    public init(_ configuration: Configuration) async throws(MPinError) {
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
        let isCancelled = Flag()
        let result: Result<Answer, SDKError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                queue.async { [sdk] in
                    continuation.resume(
                        returning: Result { () throws(SDKError) in
                            guard !isCancelled.isSet else { throw SDKError(.canceled, "the task was cancelled") }
                            return try call(sdk)
                        })
                }
            }
        } onCancel: {
            isCancelled.set()
            sdk.cancel()
        }
        do { return try result.get() } catch { throw MPinError(error) }
    }
}

/// Says that a task was cancelled before its call began.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

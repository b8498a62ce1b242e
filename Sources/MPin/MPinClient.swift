import Dispatch
import MPinSDK

/// A client of M-Pin servers. It has one store, many users, and one backend at a time.
///
/// Any task may call it. The calls run one after another, and not on the threads of Swift's cooperative pool. If a task
/// is cancelled, its call ends with ``MPinError/Code/canceled``.
public final class MPinClient: Sendable {
    private let sdk: SDK
    private let queue = DispatchQueue(label: "libmpin.client")

    /// Opens the store, loads its users, and sets the backend if there is one.
    public init(_ configuration: Configuration) async throws(MPinError) {
        var environment = Environment()
        environment.isCancelled = { Cancellation.isRequested }
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
        try await Cancellation.perform(on: queue) { [sdk] () throws(SDKError) in try call(sdk) }
    }
}

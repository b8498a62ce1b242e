import MPinHTTP
import MPinSecrets

/// The client core: one store, one backend at a time, users. Every call blocks, from any thread; calls on one object
/// wait for each other, but for ``cancel()``, ``lastError`` and the getters of ``User``.
package final class SDK: @unchecked Sendable {
    private let environment: Environment
    private let gate = Gate()
    private let errors = LastErrors()
    private let timeoutMilliseconds = Locked<UInt32>(SDK.defaultTimeout)
    /// Nil until initialised. Touched by the thread that is in the gate only, as the next ones.
    private var core: Core?
    private var settings = RequestSettings()
    /// Takes note of failures.
    private var log: Log?
    private static let defaultTimeout: UInt32 = 30_000

    package init(environment: Environment = Environment()) { self.environment = environment }

    // MARK: Life cycle

    /// Opens the store, loads its users, and sets the backend if one is given. Does nothing when that has been done.
    /// After a failure the object is as new. `environment` nil: that of the object.
    package func initialize(_ config: SDKConfig, _ environment: Environment? = nil) throws(SDKError) {
        let environment = environment ?? self.environment
        let timeout = config.timeoutMilliseconds == 0 ? Self.defaultTimeout : config.timeoutMilliseconds
        try alone(timeout) { limits throws(SDKError) in
            guard core == nil else { return }
            log = environment.log
            let core = try Core(config, environment)
            var settings = settings
            if let clientID = config.clientID { try settings.setClientID(clientID) }
            if let backend = config.backend {
                try core.setBackend(backend, prefix: nil, core.caller(limits, settings))
            }
            self.core = core
            self.settings = settings
            timeoutMilliseconds.withLock { $0 = timeout }
        }
    }

    /// Forgets store, users, backend, headers and trusted domains in memory.
    package func destroy() throws(SDKError) {
        try alone(timeoutMilliseconds.withLock { $0 }) { _ throws(SDKError) in
            core = nil
            settings = RequestSettings()
            log = nil
            timeoutMilliseconds.withLock { $0 = Self.defaultTimeout }
        }
    }

    /// Ends what is under way with CANCELED, waits for that, and refuses every later call.
    package func close() { gate.close() }

    /// Ends the call that is under way, if any, with CANCELED. Never waits.
    package func cancel() { gate.cancel() }

    /// The last failure of this object's calls in this thread. Never waits.
    package var lastError: SDKError? { errors.current }

    /// Takes note of a failure before the call: an argument that the C boundary refused.
    package func record(_ error: SDKError) { errors.record(error) }

    /// Computes known answers: shares, token, both passes, a right and a wrong PIN.
    package static func selfTest() throws(SDKError) { try SelfTest.run() }

    // MARK: Entering

    /// Runs a flow on the initialised core, alone. Of a `user` whose PIN it takes no factor is left for the next one, even
    /// if this one did not begin.
    func perform<Result>(
        pinOf user: User? = nil, _ flow: (Core, Caller) throws(SDKError) -> Result
    ) throws(SDKError) -> Result {
        do throws(SDKError) {
            let limits = try enter(timeoutMilliseconds.withLock { $0 })
            defer { gate.leave() }
            do throws(SDKError) {
                guard let core else { throw SDKError(.flowError, "not initialised: call init first") }
                core.limits = limits
                try core.refresh()
                return try flow(core, core.caller(limits, settings))
            } catch { throw logged(error) }
        } catch {
            user?.forgetFactors()
            errors.record(error)
            throw error
        }
    }

    /// Changes what is wanted of every request, initialised or not.
    func configure(_ change: (inout RequestSettings) throws(SDKError) -> Void) throws(SDKError) {
        try alone(timeoutMilliseconds.withLock { $0 }) { _ throws(SDKError) in try change(&settings) }
    }

    /// Runs what needs no initialised core.
    private func alone(_ timeout: UInt32, _ body: (CallLimits) throws(SDKError) -> Void) throws(SDKError) {
        do throws(SDKError) {
            let limits = try enter(timeout)
            defer { gate.leave() }
            do throws(SDKError) { try body(limits) } catch { throw logged(error) }
        } catch {
            errors.record(error)
            throw error
        }
    }

    /// Waits for its turn. Followed by `gate.leave()`.
    private func enter(_ timeout: UInt32) throws(SDKError) -> CallLimits {
        let deadline = Deadline.after(milliseconds: timeout)
        try gate.enter(until: deadline)
        let isCancelled = environment.isCancelled
        guard !isCancelled() else {
            defer { gate.leave() }
            throw logged(SDKError(.canceled, "cancelled before it began"))
        }
        return CallLimits(deadline: deadline) { [gate] in gate.isCancelRequested || isCancelled() }
    }

    /// Within the gate, which the log may not be looked at without.
    private func logged(_ error: SDKError) -> SDKError {
        log?(error.status.logLevel, error.description)
        // After a failed initialisation the program may release what its log stands on.
        if core == nil { log = nil }
        return error
    }
}

extension Status {
    /// A failure on this device is for its developer, all others happen every day.
    fileprivate var logLevel: LogLevel {
        switch self {
        case .storageError, .cryptoError, .randomFailed, .unsupportedFormat: .error
        default: .warning
        }
    }
}

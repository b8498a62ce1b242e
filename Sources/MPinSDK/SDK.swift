import MPinHTTP
import MPinSecrets

/// The client core. It has one store with users, and one backend at a time. Every call may come from any thread and
/// returns when its work is done. Calls on one object wait for each other, except ``cancel()``, ``lastError`` and the
/// getters of ``User``.
package final class SDK: @unchecked Sendable {
    let environment: Environment
    private let gate = Gate()
    private let errors = LastErrors()
    private let timeoutMilliseconds = Locked<UInt32>(SDK.defaultTimeout)
    /// The data of the initialised object; nil before the initialisation. Only the thread that has entered `gate` may
    /// use this variable and the following ones.
    private var core: Core?
    private var settings = RequestSettings()
    /// Receives log lines about failures.
    private var log: Log?
    private static let defaultTimeout: UInt32 = 30_000

    package init(environment: Environment = Environment()) { self.environment = environment }

    // MARK: Life cycle

    /// Opens the store, loads its users, and sets the backend if one is given. Does nothing if the object is
    /// initialised already. After a failure the object is as before the call. If `environment` is nil, the environment
    /// that the object was made with is used.
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

    /// Removes store, users, backend, headers and trusted domains from memory.
    package func destroy() throws(SDKError) {
        try alone(timeout) { _ throws(SDKError) in
            core = nil
            settings = RequestSettings()
            log = nil
            timeoutMilliseconds.withLock { $0 = Self.defaultTimeout }
        }
    }

    /// Ends the call that is under way with CANCELED, waits for its end, and refuses every later call.
    package func close() { gate.close() }

    /// Ends the call that is under way, if any, with CANCELED. Does not wait for its end.
    package func cancel() { gate.cancel() }

    /// The last error of this object's calls in this thread. Never waits.
    package var lastError: SDKError? { errors.current }

    /// Records an error for ``lastError``. The C boundary uses this for arguments that it refuses itself.
    package func record(_ error: SDKError) { errors.record(error) }

    /// Computes shares, a token and both passes for a right and a wrong PIN, and compares them with known results.
    package static func selfTest() throws(SDKError) { try SelfTest.run() }

    /// How long one call may take, in milliseconds.
    var timeout: UInt32 { timeoutMilliseconds.withLock { $0 } }

    // MARK: Running one operation at a time

    /// Runs a flow on the initialised core when no other operation is under way.
    func perform<Result>(_ flow: (Core, Caller) throws(SDKError) -> Result) throws(SDKError) -> Result {
        do throws(SDKError) {
            let (core, caller) = try begin()
            defer { gate.leave() }
            do throws(SDKError) { return try flow(core, caller) } catch { throw logged(error) }
        } catch { throw recorded(error) }
    }

    /// Runs a flow that takes a PIN, which it gets as a copy. After every failure the factors of `user` are forgotten; nil:
    /// the flow finds the user itself, and forgets them.
    func perform<Result>(
        pinOf user: User?, _ pin: Span<UInt8>, _ flow: (Core, Caller, SecretBytes) throws(SDKError) -> Result
    ) throws(SDKError) -> Result {
        let pin = SecretBytes(copying: pin)
        do throws(SDKError) {
            let (core, caller) = try begin()
            defer { gate.leave() }
            do throws(SDKError) { return try flow(core, caller, pin) } catch { throw logged(error) }
        } catch {
            user?.forgetFactors()
            throw recorded(error)
        }
    }

    /// Changes the settings of all requests; the core need not be initialised.
    func configure(_ change: (inout RequestSettings) throws(SDKError) -> Void) throws(SDKError) {
        try alone(timeout) { _ throws(SDKError) in try change(&settings) }
    }

    /// Runs `body` when no other operation is under way; the core need not be initialised.
    private func alone(_ timeout: UInt32, _ body: (CallLimits) throws(SDKError) -> Void) throws(SDKError) {
        do throws(SDKError) {
            let limits = try enter(timeout)
            defer { gate.leave() }
            do throws(SDKError) { try body(limits) } catch { throw logged(error) }
        } catch { throw recorded(error) }
    }

    /// Enters the gate for a flow. The caller must then call `gate.leave()`.
    private func begin() throws(SDKError) -> (Core, Caller) {
        let limits = try enter(timeout)
        do throws(SDKError) {
            guard let core else { throw SDKError(.flowError, "not initialised: call init first") }
            core.limits = limits
            try core.refresh()
            return (core, core.caller(limits, settings))
        } catch {
            defer { gate.leave() }
            throw logged(error)
        }
    }

    /// Enters the gate. The caller must then call `gate.leave()`.
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

    /// Keeps an error for ``lastError`` and returns it.
    private func recorded(_ error: SDKError) -> SDKError {
        errors.record(error)
        return error
    }

    /// Logs an error and returns it. Must be called in the gate, which protects `log`.
    private func logged(_ error: SDKError) -> SDKError {
        log?(error.status.logLevel, error.description)
        // After a failed initialisation the program may release what its log function uses, so it is not called again.
        if core == nil { log = nil }
        return error
    }
}

extension Status {
    /// The level at which a failure is logged. Failures of this device need the attention of a developer, so they are
    /// errors. All other failures are usual and are warnings.
    fileprivate var logLevel: LogLevel {
        switch self {
        case .storageError, .cryptoError, .randomFailed, .unsupportedFormat: .error
        default: .warning
        }
    }
}

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
    private var session: Session?
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
        try enter(timeout) { limits throws(SDKError) in
            guard session == nil else { return }
            log = environment.log
            let session = try Session(config, environment)
            var settings = settings
            if let clientID = config.clientID { try settings.setClientID(clientID) }
            if let backend = config.backend {
                try session.setBackend(backend, prefix: nil, session.caller(limits, settings))
            }
            self.session = session
            self.settings = settings
            timeoutMilliseconds.withLock { $0 = timeout }
        }
    }

    /// Forgets store, users, backend, headers and trusted domains in memory.
    package func destroy() throws(SDKError) {
        try enter(timeoutMilliseconds.withLock { $0 }) { _ throws(SDKError) in
            session = nil
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

    /// Records of the store that were damaged when it was last read.
    package func damagedRecords() throws(SDKError) -> Int {
        try perform { session, _ throws(SDKError) in session.damagedRecords }
    }

    /// Computes known answers: shares, token, both passes, a right and a wrong PIN.
    package static func selfTest() throws(SDKError) { try SelfTest.run() }

    // MARK: Entering

    /// Runs `body` on the initialised session, alone.
    func perform<Result>(_ body: (Session, Caller) throws(SDKError) -> Result) throws(SDKError) -> Result {
        try enter(timeoutMilliseconds.withLock { $0 }) { limits throws(SDKError) in
            guard let session else { throw SDKError(.flowError, "not initialised: call init first") }
            session.limits = limits
            try session.refresh()
            return try body(session, session.caller(limits, settings))
        }
    }

    /// As ``perform(_:)``, for an operation that takes a PIN of `user`: no factor is left for the next one, even if this one
    /// did not begin.
    func perform<Result>(
        withPINOf user: User, _ body: (Session, Caller) throws(SDKError) -> Result
    ) throws(SDKError) -> Result {
        do throws(SDKError) { return try perform(body) } catch {
            user.forgetFactors()
            throw error
        }
    }

    /// Changes what is wanted of every request, initialised or not.
    func configure(_ change: (inout RequestSettings) throws(SDKError) -> Void) throws(SDKError) {
        try enter(timeoutMilliseconds.withLock { $0 }) { _ throws(SDKError) in try change(&settings) }
    }

    private func enter<Result>(
        _ timeout: UInt32, _ body: (CallLimits) throws(SDKError) -> Result
    ) throws(SDKError) -> Result {
        do throws(SDKError) {
            let deadline = Deadline.after(milliseconds: timeout)
            try gate.enter(until: deadline)
            defer { gate.leave() }
            return try logged { () throws(SDKError) in
                let isCancelled = environment.isCancelled
                guard !isCancelled() else { throw SDKError(.canceled, "cancelled before it began") }
                return try body(
                    CallLimits(deadline: deadline) { [gate] in gate.isCancelRequested || isCancelled() })
            }
        } catch {
            errors.record(error)
            throw error
        }
    }

    private func logged<Result>(_ body: () throws(SDKError) -> Result) throws(SDKError) -> Result {
        do { return try body() } catch {
            log?(error.status.logLevel, error.description)
            // After a failed initialisation the program may release what its log stands on.
            if session == nil { log = nil }
            throw error
        }
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

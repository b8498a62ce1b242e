import MPinHTTP
import MPinSecrets

/// The client core: one store, one backend at a time, users. Every call blocks, from any thread; calls on one object
/// wait for each other, but for ``cancel()``, ``lastError`` and the getters of ``User``.
package final class SDK: @unchecked Sendable {
    private let environment: Environment
    private let gate = Gate()
    private let errors = LastErrors()
    private let timeoutMilliseconds = Locked<UInt32>(SDK.defaultTimeout)
    /// Nil until initialised. Touched by the thread that is in the gate only.
    private var session: Session?
    private static let defaultTimeout: UInt32 = 30_000

    package init(environment: Environment = Environment()) { self.environment = environment }

    // MARK: Life cycle

    /// Opens the store, loads its users, and sets the backend if one is given. Does nothing when that has been done.
    /// After a failure the object is as new.
    package func initialize(_ config: SDKConfig) throws(SDKError) {
        let timeout = config.timeoutMilliseconds == 0 ? Self.defaultTimeout : config.timeoutMilliseconds
        try enter(timeout) { limits throws(SDKError) in
            guard session == nil else { return }
            let session = try Session(config, environment)
            if let backend = config.backend {
                try session.setBackend(backend, prefix: nil, session.caller(limits))
            }
            self.session = session
            timeoutMilliseconds.withLock { $0 = timeout }
        }
    }

    /// Forgets store, users and backend in memory.
    package func destroy() throws(SDKError) {
        try enter(timeoutMilliseconds.withLock { $0 }) { _ throws(SDKError) in
            session = nil
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

    // MARK: Backend

    /// Asks a backend for its client settings and keeps nothing. `prefix` nil: the configured one.
    package func testBackend(_ url: String, prefix: String? = nil) throws(SDKError) {
        try perform { session, caller throws(SDKError) in _ = try session.backend(url, prefix: prefix, caller) }
    }

    /// Asks a backend for its client settings and uses it from now on; on failure the former one stays.
    package func setBackend(_ url: String, prefix: String? = nil) throws(SDKError) {
        try perform { session, caller throws(SDKError) in try session.setBackend(url, prefix: prefix, caller) }
    }

    /// A member of the client settings as text; empty where there is none.
    package func clientParam(_ name: String) throws(SDKError) -> String {
        try perform { session, _ throws(SDKError) in try session.currentBackend().parameter(name) }
    }

    // MARK: Users

    /// The user of that id at the current backend, a new one in state INVALID where none is known.
    package func makeNewUser(_ id: String, deviceName: String? = nil) throws(SDKError) -> User {
        try perform { session, _ throws(SDKError) in try session.makeNewUser(id, deviceName: deviceName) }
    }

    /// The user of that id at the current backend, nil where none is known.
    package func user(_ id: String) throws(SDKError) -> User? {
        try perform { session, _ throws(SDKError) in try session.user(id) }
    }

    /// Erases a user here, in memory and in the store. The server is not told.
    package func deleteUser(_ user: User) throws(SDKError) {
        try perform { session, _ throws(SDKError) in try session.delete(user) }
    }

    /// Forgets the users in memory; the store keeps them.
    package func clearUsers() throws(SDKError) {
        try perform { session, _ throws(SDKError) in session.clearUsers() }
    }

    /// The users of the current backend, by id. One that was made and never started is not among them.
    package func listUsers() throws(SDKError) -> [User] {
        try perform { session, _ throws(SDKError) in session.listUsers(backend: try session.currentBackend().url) }
    }

    /// The users of a backend, by id.
    package func listUsers(backend: String) throws(SDKError) -> [User] {
        try perform { session, _ throws(SDKError) in session.listUsers(backend: Backend.base(backend)) }
    }

    /// The users of all backends, by id.
    package func listAllUsers() throws(SDKError) -> [User] {
        try perform { session, _ throws(SDKError) in session.listUsers(backend: nil) }
    }

    /// The base URLs that users are registered with, sorted.
    package func listBackends() throws(SDKError) -> [String] {
        try perform { session, _ throws(SDKError) in Set(session.listUsers(backend: nil).map(\.backend)).sorted() }
    }

    // MARK: Registration

    /// Asks for a registration. INVALID -> STARTED_REGISTRATION, or ACTIVATED.
    package func startRegistration(
        _ user: User, activateCode: String? = nil, userData: String? = nil
    ) throws(SDKError) {
        try perform { session, caller throws(SDKError) in
            try session.startRegistration(user, activateCode: activateCode, userData: userData, caller)
        }
    }

    /// Asks for the confirmation mail again. STARTED_REGISTRATION -> STARTED_REGISTRATION or ACTIVATED.
    package func restartRegistration(_ user: User, userData: String? = nil) throws(SDKError) {
        try perform { session, caller throws(SDKError) in
            try session.restartRegistration(user, userData: userData, caller)
        }
    }

    /// Fetches the client secret's shares. STARTED_REGISTRATION or ACTIVATED, unchanged.
    package func confirmRegistration(_ user: User, pushID: String? = nil) throws(SDKError) {
        try perform { session, caller throws(SDKError) in
            try session.confirmRegistration(user, pushID: pushID, caller)
        }
    }

    /// Makes and stores the token. STARTED_REGISTRATION or ACTIVATED -> REGISTERED. `pin` is ASCII.
    package func finishRegistration(_ user: User, pin: Span<UInt8>) throws(SDKError) {
        let pin = SecretBytes(copying: pin)
        try perform { session, _ throws(SDKError) in try session.finishRegistration(user, pin: pin) }
    }

    // MARK: Authentication

    /// Gets today's time permit. REGISTERED, unchanged.
    package func startAuthentication(_ user: User) throws(SDKError) {
        try perform { session, caller throws(SDKError) in try session.startAuthentication(user, caller) }
    }

    /// Proves PIN and token. REGISTERED, or BLOCKED after the last attempt. `pin` is ASCII. Returns the answer of the
    /// application, JSON text.
    package func finishAuthentication(_ user: User, pin: Span<UInt8>) throws(SDKError) -> String {
        let pin = SecretBytes(copying: pin)
        return try perform { session, caller throws(SDKError) in
            try session.finishAuthentication(user, pin: pin, caller)
        }
    }

    // MARK: Entering

    /// Runs `body` on the initialised session, alone.
    private func perform<Result>(_ body: (Session, Caller) throws(SDKError) -> Result) throws(SDKError) -> Result {
        try enter(timeoutMilliseconds.withLock { $0 }) { limits throws(SDKError) in
            guard let session else { throw SDKError(.flowError, "not initialised") }
            try session.refresh()
            return try body(session, session.caller(limits))
        }
    }

    private func enter<Result>(
        _ timeout: UInt32, _ body: (CallLimits) throws(SDKError) -> Result
    ) throws(SDKError) -> Result {
        do throws(SDKError) {
            let deadline = Deadline.after(milliseconds: timeout)
            try gate.enter(until: deadline)
            defer { gate.leave() }
            return try body(CallLimits(deadline: deadline) { [gate] in gate.isCancelRequested })
        } catch {
            errors.record(error)
            throw error
        }
    }
}

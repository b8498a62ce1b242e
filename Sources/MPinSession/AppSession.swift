import MPinHTTP
package import MPinSDK
import MPinSecrets
import MPinWire

/// What an app has after a login: the tokens of one user at one provider, kept in a file and renewed as they are used.
///
/// Several threads and processes may use one file: one of them renews, the others wait for its result. Every call may
/// come from any thread. ``state``, ``profile()`` and ``credentials(scope:minTTL:mayInteract:)`` with a valid token
/// make no system call but one `stat` of the file.
package final class AppSession: Sendable {
    let sdk: SDK
    let parts: SessionParts
    let store: SessionStore
    let callbacks: SessionCallbacks
    /// How long a login in a browser may take, in milliseconds.
    let loginMilliseconds: UInt32
    /// Whether the tokens are renewed here. If not, only another process does it.
    let renews: Bool
    let keys = KeySet()
    let discovered = Locked<[String: (endpoints: Endpoints, until: Deadline)]>([:])
    let mailbox: CallbackMailbox
    /// Lets one login at a time enter, and one renewal.
    let logins = Gate()
    let renewals = Gate()
    /// Lets one of the other calls that use the network enter.
    let others = Gate()
    /// The last renewal that has failed.
    let lastFailure = Locked<FailedRenewal?>(nil)
    private let errors = LastErrors()
    private let providers = Locked<[String: Provider]>([:])
    /// The provider of the login that is under way in this process.
    private let signingIn = Locked<String?>(nil)
    /// How often ``cancel()`` was called. A call ends when this differs from what it was at its beginning.
    private let cancels = Locked<UInt64>(0)
    private let isClosed = Locked(false)
    package static let usualLoginMilliseconds: UInt32 = 300_000

    /// Opens the session of an app that is stored in the file at `path`; nil: the path of the users' store of `sdk`
    /// followed by `.session`; empty: nothing is stored, and the session is gone with this object. `sdk` must be
    /// initialised. `renews`: false for a part of an app that the system may end at any time, such as an extension.
    package init(
        _ sdk: SDK, path: String? = nil, loginMilliseconds: UInt32 = 0, renews: Bool = true,
        callbacks: SessionCallbacks = SessionCallbacks()
    ) throws(SDKError) {
        self.sdk = sdk
        parts = try sdk.sessionParts(path: path)
        store = try SessionStore(parts)
        mailbox = try CallbackMailbox()
        self.callbacks = callbacks
        self.renews = renews
        self.loginMilliseconds = loginMilliseconds == 0 ? Self.usualLoginMilliseconds : loginMilliseconds
    }

    // MARK: Providers

    /// Adds a provider, or replaces the one of the same name.
    package func add(_ provider: Provider) throws(SDKError) {
        try recorded { () throws(SDKError) in
            try provider.check()
            providers.withLock { $0[provider.name] = provider }
        }
    }

    func provider(_ name: String) throws(SDKError) -> Provider {
        guard let provider = providers.withLock({ $0[name] }) else {
            throw SDKError(.providerUnknown, "no provider with that name was added")
        }
        return provider
    }

    /// The provider of the last login, for the app to propose; empty if there was none.
    package func lastProvider() throws(SDKError) -> String {
        try recorded { () throws(SDKError) in try store.content().lastProvider }
    }

    // MARK: What is known without asking anybody

    package func state() throws(SDKError) -> SessionState {
        try recorded { () throws(SDKError) in
            if signingIn.withLock({ $0 != nil }) { return .signingIn }
            guard let session = try store.content().session else { return .signedOut }
            if session.isRevoked { return .revoked }
            let now = try parts.now()
            let isOver = session.refreshToken == nil && !session.isValid(for: 0, now: now)
            return isOver ? .expired : .signedIn
        }
    }

    /// What the provider has said about the user at the login; empty if nobody is logged in.
    package func profile() throws(SDKError) -> Profile {
        try recorded { () throws(SDKError) in try store.content().session?.profile ?? Profile() }
    }

    /// The tokens as they are stored, valid or not; nil if nobody is logged in.
    package func stored() throws(SDKError) -> Credentials? {
        try recorded { () throws(SDKError) in try store.content().session?.credentials }
    }

    /// Whether the access token is valid for `minTTL` more seconds.
    package func hasValid(minTTL: Int64 = 0) throws(SDKError) -> Bool {
        try recorded { () throws(SDKError) in
            let now = try parts.now()
            return try store.content().session?.isValid(for: minTTL, now: now) ?? false
        }
    }

    /// Whether there is a refresh token.
    package func canRenew() throws(SDKError) -> Bool {
        try recorded { () throws(SDKError) in try store.content().session?.refreshToken != nil }
    }

    // MARK: Calls

    /// The last error of this object's calls in this thread.
    package var lastError: SDKError? { errors.current }

    package func record(_ error: SDKError) { errors.record(error) }

    /// Ends the calls that are under way with CANCELED. Does not wait for their end.
    package func cancel() {
        cancels.withLock { $0 &+= 1 }
        mailbox.wake()
        if signingIn.withLock({ $0 != nil }) { sdk.cancel() }
    }

    /// Wakes a login that waits for a browser, so that it sees that its task is cancelled.
    package func wake() { mailbox.wake() }

    /// Ends the calls that are under way, waits for logins and renewals, and refuses all later ones.
    package func close() {
        isClosed.withLock { $0 = true }
        cancel()
        logins.close()
        renewals.close()
        others.close()
    }

    /// The limits of a call that begins now. The time is that of the client core's calls if `milliseconds` is nil.
    func limits(_ milliseconds: UInt32? = nil) -> CallLimits {
        let before = cancels.withLock { $0 }
        return CallLimits(deadline: .after(milliseconds: milliseconds ?? parts.timeoutMilliseconds)) { [self] in
            isClosed.withLock { $0 } || cancels.withLock { $0 } != before || parts.isCancelled()
        }
    }

    func caller(_ limits: CallLimits) -> Caller { parts.caller(limits) }

    /// Runs a call and keeps its error for ``lastError``.
    func recorded<Result>(_ call: () throws(SDKError) -> Result) throws(SDKError) -> Result {
        do throws(SDKError) { return try call() } catch {
            errors.record(error)
            throw error
        }
    }

    /// Runs one of the calls that use the network without a login or a renewal, so that ``close()`` can wait for it.
    func alone<Result>(_ call: (Caller) throws(SDKError) -> Result) throws(SDKError) -> Result {
        let limits = limits()
        try others.enter(until: limits.deadline)
        defer { others.leave() }
        return try call(caller(limits))
    }

    func tell(_ state: SessionState, _ provider: String) { callbacks.event?(state, provider) }

    func beginSigningIn(_ provider: String?) { signingIn.withLock { $0 = provider } }
}

import Dispatch
import MPinHTTP
import MPinSDK
import MPinSecrets
public import MPinSession
import MPinWire
import Synchronization

/// What an app has after a login: an access token for its APIs, which is renewed as it is used, and the user's profile.
///
/// The session is in a file of its own, sealed under the key of the client's store. Several processes may open it: one of
/// them renews the tokens, the others wait for its result, and all see a logout at once.
///
///     let session = try await SessionManager(client, questions)
///     try await session.add(Provider(name: "home", login: .pin, clientID: "app", issuer: "https://login.example.com"))
///     try await session.login("home", userID: "alice@example.com")
///     let token = try await session.credentials().accessToken
public actor SessionManager {
    private nonisolated let session: AppSession
    private nonisolated let listeners: Listeners
    /// The calls wait for the network, and for each other, so each has a thread.
    private nonisolated let queue = DispatchQueue(label: "libmpin.session", attributes: .concurrent)

    /// Opens the session that is stored at `path`; nil: the path of the client's store followed by `.session`; empty:
    /// nothing is stored, and the session is gone with this object. `loginTimeout` is how long a login in a browser may
    /// take. `renews` is false for a part of an app that the system may end at any time, such as an extension: the app
    /// renews the tokens, and calls that would do so fail with `renewFailed`.
    public init(
        _ client: MPinClient, _ questions: SessionQuestions = SessionQuestions(), path: String? = nil,
        loginTimeout: Duration = .seconds(300), renews: Bool = true
    ) async throws(MPinError) {
        let listeners = Listeners()
        let callbacks = questions.callbacks { state, provider in
            listeners.tell(SessionEvent(state: state, provider: provider))
        }
        let milliseconds = UInt32(clamping: Int64(loginTimeout / .milliseconds(1)))
        self.listeners = listeners
        session = try await client.perform { sdk throws(SDKError) in
            try AppSession(
                sdk, path: path, loginMilliseconds: milliseconds, renews: renews, callbacks: callbacks)
        }
    }

    deinit {
        session.close()
        listeners.end()
    }

    /// Each new state of the session from now on, in this process.
    public nonisolated func events() -> AsyncStream<SessionEvent> { listeners.stream() }

    // MARK: Providers and logins

    /// Adds a provider, or replaces the one of the same name.
    public func add(_ provider: Provider) throws(MPinError) {
        try now { session throws(SDKError) in try session.add(provider) }
    }

    /// The name of the provider of the last login, also after a logout; empty if there was none.
    public func lastProvider() throws(MPinError) -> String {
        try now { session throws(SDKError) in try session.lastProvider() }
    }

    /// Logs a user in. The new session replaces the one before; after a failure the one before stays. If the task is
    /// cancelled, so is the login.
    ///
    /// `userID` is a registered user for a login by PIN; for others it is a hint for the provider's page.
    public func login(_ provider: String, userID: String = "") async throws(MPinError) {
        try await run { session throws(SDKError) in try session.login(provider, userID: userID) }
    }

    /// Goes on with a login whose browser has come back to the app by `url`, a redirect URI that is no loopback address.
    public nonisolated func resume(_ url: String) throws(MPinError) {
        do { try session.resume(url) } catch { throw MPinError(error) }
    }

    /// Logs the user out, and has the provider revoke the tokens, later if it cannot be reached. `everywhere` also ends
    /// the session at the provider that the login has begun.
    public func logout(everywhere: Bool = false) async throws(MPinError) {
        try await run { session throws(SDKError) in try session.logout(everywhere: everywhere) }
    }

    /// Has the provider revoke the tokens, and ends the session. If that fails, the session stays.
    public func revoke() async throws(MPinError) {
        try await run { session throws(SDKError) in try session.revoke() }
    }

    /// Ends the session here, and tells nobody.
    public func clear() throws(MPinError) { try now { session throws(SDKError) in try session.clear() } }

    // MARK: Tokens

    /// What the session is in.
    public func state() throws(MPinError) -> SessionState {
        try now { session throws(SDKError) in try session.state() }
    }

    /// What the provider says about the user; empty if nobody is logged in.
    public func profile() throws(MPinError) -> Profile { try now { session throws(SDKError) in try session.profile() } }

    /// Whether the access token is valid for `minTTL` more seconds.
    public func hasValid(minTTL: Int64 = 0) throws(MPinError) -> Bool {
        try now { session throws(SDKError) in try session.hasValid(minTTL: minTTL) }
    }

    /// Whether there is a refresh token.
    public func canRenew() throws(MPinError) -> Bool { try now { session throws(SDKError) in try session.canRenew() } }

    /// The tokens; the access token is valid for `minTTL` more seconds. If it is now, this makes no system call but one
    /// `stat` of the file; else the tokens are renewed first, once for all callers. Cancelling one of them does not end
    /// the renewal.
    ///
    /// `scope`: the scopes that are needed; nil: those of the login. `mayInteract`: whether the user may be asked for the
    /// PIN, when the provider has ended the session.
    public func credentials(
        scope: String? = nil, minTTL: Int64 = 60, mayInteract: Bool = false
    ) async throws(MPinError) -> Credentials {
        let known = try now { session throws(SDKError) in try session.known(scope: scope, minTTL: minTTL) }
        if let known { return Credentials(known) }
        return try await share { session throws(SDKError) in
            Credentials(try session.credentials(scope: scope, minTTL: minTTL, mayInteract: mayInteract))
        }
    }

    /// Renews the tokens, also if they are valid.
    public func renew() async throws(MPinError) {
        try await share { session throws(SDKError) in try session.renew() }
    }

    /// A new access token to pass on to a smaller app, for one service and some of the scopes, together with the profile.
    /// It cannot be renewed.
    public func handover(audience: String = "", scope: String = "") async throws(MPinError) -> Handover {
        try await run { session throws(SDKError) in
            let made = try session.handover(audience: audience, scope: scope)
            return Handover(profile: made.profile, accessToken: made.accessToken.plainText, expiry: made.expiry)
        }
    }

    // MARK: APIs

    /// The value of the header Authorization for a request to `url`, whose origin the provider's description must name.
    /// `rejected` is the value that the API has answered with 401: send the request again, once, with the new value.
    public func authorization(
        for url: String, rejected: String? = nil, mayInteract: Bool = false
    ) async throws(MPinError) -> String {
        try await share { session throws(SDKError) in
            try session.authorization(for: url, rejected: rejected.map { SecretText($0) }, mayInteract: mayInteract)
                .plainText
        }
    }

    /// Sends a request with the access token. If the API answers 401, the token is renewed and the request is sent once
    /// more. Redirects are not followed. If the task is cancelled, the request may have been sent.
    public func perform(_ request: APIRequest, mayInteract: Bool = false) async throws(MPinError) -> APIResponse {
        try await share { session throws(SDKError) in
            APIResponse(try session.perform(request.core, mayInteract: mayInteract))
        }
    }

    // MARK: Threads

    /// Runs a call that does not wait for the network.
    private func now<Answer>(_ call: (AppSession) throws(SDKError) -> Answer) throws(MPinError) -> Answer {
        do { return try call(session) } catch { throw MPinError(error) }
    }

    private func run<Answer: Sendable>(
        _ call: @escaping @Sendable (AppSession) throws(SDKError) -> Answer
    ) async throws(MPinError) -> Answer {
        let session = session
        return try await Cancellation.perform(on: queue, onCancel: { session.wake() }) { () throws(SDKError) in
            try call(session)
        }
    }

    /// Runs a call whose result other tasks may wait for, too. If this task is cancelled, only its waiting ends.
    private func share<Answer: Sendable>(
        _ call: @escaping @Sendable (AppSession) throws(SDKError) -> Answer
    ) async throws(MPinError) -> Answer {
        let (session, waiting) = (session, Waiting<Answer>())
        let result: Result<Answer, SDKError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiting.begin(continuation)
                queue.async { waiting.end(Result { () throws(SDKError) in try call(session) }) }
            }
        } onCancel: {
            waiting.end(.failure(SDKError(.canceled, "the task was cancelled")))
        }
        do { return try result.get() } catch { throw MPinError(error) }
    }
}

/// A task that waits for a result, or for its own cancellation, whatever comes first.
private final class Waiting<Answer: Sendable>: Sendable {
    private typealias Outcome = Result<Answer, SDKError>
    private let state = Mutex<(continuation: CheckedContinuation<Outcome, Never>?, outcome: Outcome?)>((nil, nil))

    func begin(_ continuation: CheckedContinuation<Result<Answer, SDKError>, Never>) {
        let early = state.withLock { state -> Outcome? in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let early { continuation.resume(returning: early) }
    }

    func end(_ outcome: Result<Answer, SDKError>) {
        let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            defer { (state.continuation, state.outcome) = (nil, state.outcome ?? outcome) }
            return state.continuation
        }
        waiting?.resume(returning: outcome)
    }
}

/// Those who listen to the events of a session.
private final class Listeners: Sendable {
    private let listeners = Mutex<[Int: AsyncStream<SessionEvent>.Continuation]>([:])

    func stream() -> AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: SessionEvent.self)
        let number = listeners.withLock { listeners in
            let number = (listeners.keys.max() ?? 0) + 1
            listeners[number] = continuation
            return number
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.listeners.withLock { $0.removeValue(forKey: number) }
        }
        return stream
    }

    func tell(_ event: SessionEvent) {
        for listener in listeners.withLock({ Array($0.values) }) { listener.yield(event) }
    }

    func end() {
        for listener in listeners.withLock({ Array($0.values) }) { listener.finish() }
    }
}

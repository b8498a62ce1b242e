import Dispatch
import MPinHTTP
import MPinSDK
import MPinSecrets
public import MPinSession
import Synchronization

/// What a session is in.
public typealias SessionState = MPinSession.SessionState

/// A provider at which the users of an app log in.
public typealias Provider = MPinSession.Provider

/// Where a provider without OpenID Connect answers.
public typealias Endpoints = MPinSession.Endpoints

/// What the provider says about the user.
public typealias Profile = MPinSession.Profile

/// A question for a PIN.
public typealias PINRequest = MPinSession.PINRequest

/// What a device without a browser shows to its user.
public typealias DeviceCode = MPinSession.DeviceCode

/// A new state of a session.
public struct SessionEvent: Sendable, Equatable {
    /// The state that has begun.
    public let state: SessionState
    /// The name of the provider.
    public let provider: String
}

/// The tokens of a session. The description does not show them.
public struct Credentials: Sendable, CustomStringConvertible {
    /// What APIs get.
    public let accessToken: String
    /// For a logout at the provider, not for APIs; nil if the provider does not support OpenID Connect.
    public let idToken: String?
    /// What the tokens are renewed with; nil if they cannot be.
    public let refreshToken: String?
    /// The type of the access token, such as `Bearer`.
    public let tokenType: String
    /// The scopes, separated by spaces.
    public let scope: String
    /// When the access token expires, in seconds since 1970 of this device's clock; 0 if the provider does not say.
    public let expiry: Int64

    init(_ credentials: MPinSession.Credentials) {
        accessToken = credentials.accessToken.plainText
        idToken = credentials.idToken?.plainText
        refreshToken = credentials.refreshToken?.plainText
        tokenType = credentials.tokenType
        scope = credentials.scope
        expiry = credentials.expiry
    }

    /// Type, scopes and expiry, without the tokens.
    public var description: String { "\(tokenType) token for \(scope), until \(expiry)" }
}

/// What an app passes to a smaller app: who the user is, and an access token that can do less and cannot be renewed.
public struct Handover: Sendable, CustomStringConvertible {
    /// Who the user is.
    public let profile: Profile
    /// What the smaller app shows to its service.
    public let accessToken: String
    /// When the token expires, in seconds since 1970 of this device's clock; 0 if the provider does not say.
    public let expiry: Int64

    /// User and expiry, without the token.
    public var description: String { "token for \(profile.sub), until \(expiry)" }
}

/// How an app asks its user. A function that is nil makes the logins that need it impossible.
public struct SessionQuestions: Sendable {
    /// Asks for the PIN; nil means that the user has cancelled.
    public var pin: (@Sendable (PINRequest) async -> PIN?)?
    /// Opens the system's browser at a URL, and returns whether it could.
    public var openBrowser: (@Sendable (String) async -> Bool)?
    /// Shows the code of a login by device code.
    public var showCode: (@Sendable (DeviceCode) async -> Void)?

    /// Makes questions; those that are left out are not asked.
    public init(
        pin: (@Sendable (PINRequest) async -> PIN?)? = nil, openBrowser: (@Sendable (String) async -> Bool)? = nil,
        showCode: (@Sendable (DeviceCode) async -> Void)? = nil
    ) {
        self.pin = pin
        self.openBrowser = openBrowser
        self.showCode = showCode
    }

    func callbacks(event: @escaping @Sendable (SessionState, String) -> Void) -> SessionCallbacks {
        var callbacks = SessionCallbacks()
        callbacks.event = event
        if let pin { callbacks.pin = { request in result { await pin(request) }?.bytes } }
        if let openBrowser { callbacks.openBrowser = { url in result { await openBrowser(url) } } }
        if let showCode { callbacks.showCode = { code in result { await showCode(code) } } }
        return callbacks
    }
}

/// Waits for an asynchronous function. The calling thread must be none of Swift's cooperative threads; those of a session's
/// calls are not.
private func result<Answer: Sendable>(_ ask: @escaping @Sendable () async -> Answer) -> Answer {
    let answer = LateAnswer<Answer>()
    Task { answer.give(await ask()) }
    return answer.wait()
}

/// An answer that one thread waits for.
private final class LateAnswer<Answer: Sendable>: Sendable {
    private let answer = Mutex<Answer?>(nil)
    private let isHere = DispatchSemaphore(value: 0)

    func give(_ answer: Answer) {
        self.answer.withLock { $0 = answer }
        isHere.signal()
    }

    func wait() -> Answer {
        while true {
            isHere.wait()
            if let answer = answer.withLock({ $0 }) { return answer }
        }
    }
}

package import MPinSDK

/// Why a call failed.
public struct MPinError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong.
    public let code: Code
    /// A description for the user. It never contains a PIN, a token or another secret.
    public let text: String
    /// The HTTP status; nil if no server has answered.
    public let httpStatus: Int?
    /// The server's error text; may be empty.
    public let serverText: String
    /// The server's id of the request; may be empty.
    public let requestID: String
    /// How many seconds the server asks to wait; nil if it does not ask.
    public let retryAfter: Int64?
    /// When the request may be repeated, or when the temporary block of the user ends, in seconds since 1970 (MIRACL
    /// Trust); nil if the server does not say.
    public let retryAt: Int64?
    /// After a wrong PIN: how many more wrong PINs the server accepts before it blocks the user. Nil if the server does
    /// not say.
    public let attemptsLeft: Int?

    /// The reasons, with the numbers of `mpin.h`.
    public enum Code: Int32, Sendable, CaseIterable {
        // Written by Sources/Packaging/statuses.py.
        /// The PIN is empty: the user cancelled.
        case pinInputCanceled = 1
        /// A cryptographic operation refused its input, or the user has no token.
        case cryptoError = 2
        /// The store could not be read or written, or a record in it is damaged.
        case storageError = 3
        /// There was no HTTP answer, or it was a redirect.
        case networkError = 4
        /// The answer is not JSON or lacks a member.
        case responseParseError = 5
        /// The call came in the wrong order, the user is in the wrong state, or no backend is set.
        case flowError = 6
        /// The server does not accept this identity (HTTP 403).
        case identityNotAuthorized = 7
        /// The identity is not confirmed yet, or its registration has ended.
        case identityNotVerified = 8
        /// The request came too late (HTTP 408).
        case requestExpired = 9
        /// The identity is suspended: it gets no time permit (HTTP 410). At a MIRACL Trust project: the server no
        /// longer accepts the identity, and its state is REVOKED.
        case revoked = 10
        /// The PIN is wrong. The user may be BLOCKED now: see ``User/state``. The token is kept. Once the operator has
        /// unblocked the user, logins work again.
        case incorrectPIN = 11
        /// The check digit of the access number is wrong (nothing was sent), or no browser session has this number
        /// (HTTP 412).
        case incorrectAccessNumber = 12
        /// An HTTP status 5xx for which there is no other code.
        case httpServerError = 13
        /// An HTTP status 4xx for which there is no other code.
        case httpRequestError = 14
        /// The server refuses this client's User-Agent (HTTP 406).
        case badUserAgent = 15
        /// The master secret was changed, or the server has lost the registration with its database. The user must
        /// register again (HTTP 409).
        case clientSecretExpired = 16
        /// The service does not support this client's version (HTTP 412).
        case badClientVersion = 17
        /// The URL is plain http to a host other than this machine, or neither http nor https; or its host is not in
        /// the list of trusted domains, or is in a network where requests may not go. Nothing was sent.
        case untrustedDomainError = 18
        /// The server no longer knows the registration or its code (HTTP 404).
        case registrationExpired = 19
        /// The identity was made from a registration code and asks for another one, which is not allowed.
        case operationNotAllowed = 20
        /// The server refused to verify the user id.
        case verificationFailed = 21
        /// An argument is malformed.
        case invalidArgument = 33
        /// The task was cancelled.
        case canceled = 35
        /// The call took longer than its time limit.
        case timedOut = 36
        /// The PIN is not 4 to 6 decimal digits. Nothing was sent.
        case pinInvalid = 37
        /// The store was written by a newer version. Nothing was changed.
        case unsupportedFormat = 38
        /// The server asks to wait (HTTP 429); ``MPinError/retryAfter`` says how long.
        case tooManyRequests = 39
        /// The random generator of the system failed.
        case randomFailed = 40
        /// The server sends this user another mail only later; ``MPinError/retryAt`` says when.
        case requestBackoff = 41
        /// The activation token or QuickCode is wrong, used or expired.
        case activationTokenInvalid = 42
        /// The answer, the link or the message belongs to another project than the current one.
        case projectMismatch = 43
        /// The server asks for another curve than BN254CX.
        case unsupportedCurve = 44
        /// The browser's session is unknown or has ended.
        case sessionInvalid = 45
        /// This device has no user of that id. Nothing was sent.
        case userNotFound = 46
        /// Nobody is logged in, or the session was cleared.
        case noCredentials = 64
        /// The access token has expired, and there is no refresh token.
        case noRefreshToken = 65
        /// The provider refuses to renew for a reason that is not the user's, such as an unknown client. The session
        /// stays.
        case renewFailed = 66
        /// The provider refuses to exchange the access token.
        case exchangeFailed = 67
        /// The provider did not revoke the tokens. The session stays.
        case revokeFailed = 68
        /// A renewed access token is not valid for as long as the caller wants.
        case largeMinTTL = 69
        /// The provider has ended the session: the user must log in.
        case loginRequired = 70
        /// The login needs a callback that the session does not have, or the callback has failed.
        case interactionNotAllowed = 71
        /// No provider with this name was added.
        case providerUnknown = 72
        /// The provider or the user has refused the login.
        case loginRefused = 73
        /// The ID token is malformed, or not for this login, client, user or time.
        case tokenInvalid = 74
    }

    /// Converts an error of the client core (`MPinSDK`). Statuses for handles and buffers of the C API have no code
    /// here, because they cannot occur.
    package init(_ error: SDKError) {
        code = Code(rawValue: error.status.rawValue) ?? .flowError
        text = error.text
        httpStatus = error.httpStatus
        serverText = error.server.text
        requestID = error.server.requestID
        retryAfter = error.server.retryAfter
        retryAt = error.server.retryAt
        attemptsLeft = error.status == .incorrectPIN ? error.server.attemptsLeft.map(Int.init) : nil
    }

    /// The code and the text, in one line.
    public var description: String { "\(code): \(text)" }
}

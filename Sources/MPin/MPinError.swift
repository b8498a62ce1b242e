package import MPinSDK

/// Why a call failed.
public struct MPinError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong.
    public let code: Code
    /// For a person: what went wrong where; never a PIN, a token or another secret.
    public let text: String
    /// The HTTP status, where a server answered.
    public let httpStatus: Int?
    /// The server's own words; may be empty.
    public let serverText: String
    /// The server's name of the request; may be empty.
    public let requestID: String
    /// Seconds that the server asks to wait.
    public let retryAfter: Int64?
    /// Of a wrong PIN: how many more may be wrong before the block; nil where the server does not tell.
    public let attemptsLeft: Int?

    /// The results that are failures, with the numbers of `mpin.h`.
    public enum Code: Int32, Sendable, CaseIterable {
        /// The PIN is empty: the user gave up.
        case pinInputCanceled = 1
        /// A primitive refused its input, or the user has no token.
        case cryptoError = 2
        /// The store could not be read or written.
        case storageError = 3
        /// No HTTP answer, or a redirect.
        case networkError = 4
        /// The answer is not JSON or lacks a member.
        case responseParseError = 5
        /// Wrong order, wrong state of the user, no backend set.
        case flowError = 6
        /// The server does not want this identity.
        case identityNotAuthorized = 7
        /// The identity is not confirmed yet, or its registration has ended.
        case identityNotVerified = 8
        /// The request came too late.
        case requestExpired = 9
        /// The identity is suspended.
        case revoked = 10
        /// Wrong PIN. The user may be blocked now: see ``User/state``.
        case incorrectPIN = 11
        /// Wrong check digit, or no such session.
        case incorrectAccessNumber = 12
        /// Any other HTTP 5xx.
        case httpServerError = 13
        /// Any other HTTP 4xx.
        case httpRequestError = 14
        /// HTTP 406.
        case badUserAgent = 15
        /// The master secret was changed: register again.
        case clientSecretExpired = 16
        /// The service does not serve this client's version.
        case badClientVersion = 17
        /// A host that may not be spoken to; nothing was sent.
        case untrustedDomainError = 18
        /// The registration or its code is no longer known.
        case registrationExpired = 19
        /// An identity that was made from a registration code asks for one.
        case operationNotAllowed = 20
        /// The server refused to verify the user id.
        case verificationFailed = 21
        /// An argument is malformed.
        case invalidArgument = 33
        /// The task was cancelled.
        case canceled = 35
        /// The deadline ended the call.
        case timedOut = 36
        /// The PIN is not 4 to 6 decimal digits; nothing was sent.
        case pinInvalid = 37
        /// The store was written by a newer version.
        case unsupportedFormat = 38
        /// The server asks to wait.
        case tooManyRequests = 39
        /// The random generator of the system failed.
        case randomFailed = 40
    }

    /// A status without a code of its own is about what no Swift program sees: handles and buffers of the C API.
    package init(_ error: SDKError) {
        code = Code(rawValue: error.status.rawValue) ?? .flowError
        text = error.text
        httpStatus = error.httpStatus
        serverText = error.server.text
        requestID = error.server.requestID
        retryAfter = error.server.retryAfter
        attemptsLeft = error.status == .incorrectPIN ? error.server.attemptsLeft.map(Int.init) : nil
    }

    /// One line: code and text.
    public var description: String { "\(code): \(text)" }
}

/// The result of an operation. The numbers are those of the C header. 0-21 are the numbers of the Milagro SDK core and
/// its successors and never change; 32 and up are new.
package enum Status: Int32, Sendable, CaseIterable {
    // Written by Sources/Packaging/statuses.py.
    case ok = 0
    case pinInputCanceled = 1
    case cryptoError = 2
    case storageError = 3
    case networkError = 4
    case responseParseError = 5
    case flowError = 6
    case identityNotAuthorized = 7
    case identityNotVerified = 8
    case requestExpired = 9
    case revoked = 10
    case incorrectPIN = 11
    case incorrectAccessNumber = 12
    case httpServerError = 13
    case httpRequestError = 14
    case badUserAgent = 15
    case clientSecretExpired = 16
    case badClientVersion = 17
    case untrustedDomainError = 18
    case registrationExpired = 19
    case operationNotAllowed = 20
    case verificationFailed = 21
    case invalidHandle = 32
    case invalidArgument = 33
    case bufferTooSmall = 34
    case canceled = 35
    case timedOut = 36
    case pinInvalid = 37
    case unsupportedFormat = 38
    case tooManyRequests = 39
    case randomFailed = 40
    case requestBackoff = 41
    case activationTokenInvalid = 42
    case projectMismatch = 43
    case unsupportedCurve = 44
    case sessionInvalid = 45
    case userNotFound = 46
    case noCredentials = 64
    case noRefreshToken = 65
    case renewFailed = 66
    case exchangeFailed = 67
    case revokeFailed = 68
    case largeMinTTL = 69
    case loginRequired = 70
    case interactionNotAllowed = 71
    case providerUnknown = 72
    case loginRefused = 73
    case tokenInvalid = 74
    case forked = 75

    /// The name in the C header without its prefix.
    package var name: String {
        switch self {
        case .ok: "OK"
        case .pinInputCanceled: "PIN_INPUT_CANCELED"
        case .cryptoError: "CRYPTO_ERROR"
        case .storageError: "STORAGE_ERROR"
        case .networkError: "NETWORK_ERROR"
        case .responseParseError: "RESPONSE_PARSE_ERROR"
        case .flowError: "FLOW_ERROR"
        case .identityNotAuthorized: "IDENTITY_NOT_AUTHORIZED"
        case .identityNotVerified: "IDENTITY_NOT_VERIFIED"
        case .requestExpired: "REQUEST_EXPIRED"
        case .revoked: "REVOKED"
        case .incorrectPIN: "INCORRECT_PIN"
        case .incorrectAccessNumber: "INCORRECT_ACCESS_NUMBER"
        case .httpServerError: "HTTP_SERVER_ERROR"
        case .httpRequestError: "HTTP_REQUEST_ERROR"
        case .badUserAgent: "BAD_USER_AGENT"
        case .clientSecretExpired: "CLIENT_SECRET_EXPIRED"
        case .badClientVersion: "BAD_CLIENT_VERSION"
        case .untrustedDomainError: "UNTRUSTED_DOMAIN_ERROR"
        case .registrationExpired: "REGISTRATION_EXPIRED"
        case .operationNotAllowed: "OPERATION_NOT_ALLOWED"
        case .verificationFailed: "VERIFICATION_FAILED"
        case .invalidHandle: "INVALID_HANDLE"
        case .invalidArgument: "INVALID_ARGUMENT"
        case .bufferTooSmall: "BUFFER_TOO_SMALL"
        case .canceled: "CANCELED"
        case .timedOut: "TIMED_OUT"
        case .pinInvalid: "PIN_INVALID"
        case .unsupportedFormat: "UNSUPPORTED_FORMAT"
        case .tooManyRequests: "TOO_MANY_REQUESTS"
        case .randomFailed: "RANDOM_FAILED"
        case .requestBackoff: "REQUEST_BACKOFF"
        case .activationTokenInvalid: "ACTIVATION_TOKEN_INVALID"
        case .projectMismatch: "PROJECT_MISMATCH"
        case .unsupportedCurve: "UNSUPPORTED_CURVE"
        case .sessionInvalid: "SESSION_INVALID"
        case .userNotFound: "USER_NOT_FOUND"
        case .noCredentials: "NO_CREDENTIALS"
        case .noRefreshToken: "NO_REFRESH_TOKEN"
        case .renewFailed: "RENEW_FAILED"
        case .exchangeFailed: "EXCHANGE_FAILED"
        case .revokeFailed: "REVOKE_FAILED"
        case .largeMinTTL: "LARGE_MIN_TTL"
        case .loginRequired: "LOGIN_REQUIRED"
        case .interactionNotAllowed: "INTERACTION_NOT_ALLOWED"
        case .providerUnknown: "PROVIDER_UNKNOWN"
        case .loginRefused: "LOGIN_REFUSED"
        case .tokenInvalid: "TOKEN_INVALID"
        case .forked: "FORKED"
        }
    }
}

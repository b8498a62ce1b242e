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

    /// The name in the C header without its prefix: `INCORRECT_PIN` for ``incorrectPIN``.
    package var name: String {
        var (name, wasLower) = ("", false)
        for letter in "\(self)" {
            if wasLower && letter.isUppercase { name += "_" }
            name += letter.uppercased()
            wasLower = letter.isLowercase
        }
        return name
    }
}

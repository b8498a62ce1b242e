/// An error of the token endpoint (RFC 6749 section 5.2), and of the other endpoints that clients call directly.
package struct TokenFault: Error, Sendable, Equatable {
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
        /// RFC 8693 section 2.2.2.
        case invalidTarget = "invalid_target"
        /// This one and the next three: RFC 8628 section 3.5.
        case authorizationPending = "authorization_pending"
        case slowDown = "slow_down"
        case expiredToken = "expired_token"
        case accessDenied = "access_denied"

        /// Whether something was refused: a guess, an attempt to get more than the client may have, or what a user has
        /// declined. Other faults are mistakes of a program, or a device that waits for its user.
        package var isRefusal: Bool {
            switch self {
            case .invalidRequest, .unsupportedGrantType, .authorizationPending, .slowDown, .expiredToken: false
            case .invalidClient, .invalidGrant, .unauthorizedClient, .invalidScope, .invalidTarget, .accessDenied: true
            }
        }
    }

    package let code: Code
    /// A sentence for the developer of the client. It quotes nothing from the request, because whoever made that may be
    /// an attacker.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The one error for everything that can be wrong with a code or a refresh token, so that nobody can find out which
    /// it is.
    static let invalidGrant = TokenFault(.invalidGrant, "it is unknown, expired, used, or another client's")
    static let wrongClient = TokenFault(.invalidClient, "unknown client, or wrong secret or method")
}

/// An error of the userinfo endpoint: the reason why an access token is refused (RFC 6750 section 3.1).
package enum BearerFault: String, Error, Sendable {
    case invalidToken = "invalid_token"
    case insufficientScope = "insufficient_scope"
}

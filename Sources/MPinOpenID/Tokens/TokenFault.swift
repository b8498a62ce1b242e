/// Why the token endpoint gives no token (RFC 6749 section 5.2).
package struct TokenFault: Error, Sendable, Equatable {
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
    }

    package let code: Code
    /// For who writes the client; it quotes nothing of the request.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The same for whatever is wrong with a code or a refresh token.
    static let invalidGrant = TokenFault(.invalidGrant, "it is unknown, expired, used, or another client's")
    static let wrongClient = TokenFault(.invalidClient, "unknown client, or wrong secret or method")
}

/// Why an access token opens nothing (RFC 6750 section 3.1).
package enum BearerFault: String, Error, Sendable {
    case invalidToken = "invalid_token"
    case insufficientScope = "insufficient_scope"
}

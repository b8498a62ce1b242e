package import MPinWire

/// The answer of the token endpoint (RFC 6749 section 5.1, RFC 8693 section 2.2.1).
package struct TokenAnswer: Sendable {
    package let accessToken: String
    /// Lifetime of the access token, in seconds.
    package let lifetime: Int
    package let scopes: [String]
    /// Nil if the client has exchanged an access token.
    package var idToken: String?
    /// Nil if the client gets no refresh token.
    package var refreshToken: String?
    /// The `issued_token_type` of an exchange. Nil in other answers.
    package var issuedTokenType: String?

    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "access_token": .string(accessToken), "token_type": .string("Bearer"), "expires_in": .int(lifetime),
            "scope": .string(scopes.joined(separator: " ")),
        ]
        if let idToken { members["id_token"] = .string(idToken) }
        if let issuedTokenType { members["issued_token_type"] = .string(issuedTokenType) }
        if let refreshToken { members["refresh_token"] = .string(refreshToken) }
        return .object(members)
    }
}

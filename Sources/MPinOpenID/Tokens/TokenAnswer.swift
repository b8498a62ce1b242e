package import MPinWire

/// The answer of the token endpoint (RFC 6749 section 5.1).
package struct TokenAnswer: Sendable {
    package let accessToken: String
    /// Lifetime of the access token, in seconds.
    package let lifetime: Int
    package let scopes: [String]
    package let idToken: String
    /// Nil if the client gets no refresh token.
    package let refreshToken: String?

    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "access_token": .string(accessToken), "token_type": .string("Bearer"), "expires_in": .int(lifetime),
            "scope": .string(scopes.joined(separator: " ")), "id_token": .string(idToken),
        ]
        if let refreshToken { members["refresh_token"] = .string(refreshToken) }
        return .object(members)
    }
}

import MPinWire

/// What is known of a user, by the claims' names (OpenID Connect Core section 5.1).
struct UserClaims {
    let userID: String

    /// Those that the scopes stand for.
    private static let byScope = ["profile": ["name", "preferred_username"], "email": ["email", "email_verified"]]
    /// All that there may be.
    static let names = byScope.values.joined().sorted()

    /// Those that `scopes` stand for, and of `requested` those that the scopes allow its client.
    func claims(scopes: [String], requested: [String], allowed: [String]) -> [String: JSONValue] {
        let granted = scopes.flatMap { Self.byScope[$0] ?? [] }
        let askable = allowed.flatMap { Self.byScope[$0] ?? [] }
        let names = Set(granted + requested.filter(askable.contains))
        return all.filter { names.contains($0.key) }
    }

    private var all: [String: JSONValue] {
        var claims: [String: JSONValue] = ["name": .string(userID), "preferred_username": .string(userID)]
        if userID.contains("@") {
            claims["email"] = .string(userID)
            // Nothing here knows whether a mail was sent, or an operator has let everybody in.
            claims["email_verified"] = .bool(false)
        }
        return claims
    }
}

import MPinWire

/// What the provider knows about a user, as claims (OpenID Connect Core section 5.1).
struct UserClaims {
    let userID: String

    /// The claims that each scope stands for.
    private static let byScope = ["profile": ["name", "preferred_username"], "email": ["email", "email_verified"]]
    /// The names of all claims that any user can have.
    static let names = byScope.values.joined().sorted()

    /// Returns the claims for the granted `scopes`, and those of `requested` (names in the parameter `claims`) that
    /// belong to a scope in `allowed`, which the client may ask for.
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
            // It is always false, because the service does not know whether the address was confirmed by a mail, or the
            // operator admits all users without one.
            claims["email_verified"] = .bool(false)
        }
        return claims
    }
}

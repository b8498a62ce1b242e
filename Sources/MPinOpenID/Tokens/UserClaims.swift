import MPinWire

/// What the provider tells clients about a user, as claims (OpenID Connect Core section 5.1).
struct UserClaims {
    let profile: Profile

    /// The claims that each scope stands for.
    private static let byScope = [
        "profile": ["name", "preferred_username", "picture", "locale", "updated_at"],
        "email": ["email", "email_verified"], "groups": ["groups"],
    ]
    /// The names of all claims that any user can have.
    static let names = byScope.values.joined().sorted()
    /// The scopes that stand for claims, in the order of the discovery document.
    static let scopes = ["profile", "email", "groups"]

    /// Returns the claims for the granted `scopes`, and those of `requested` (names in the parameter `claims`) that
    /// belong to a scope in `allowed`, which the client may ask for.
    func claims(scopes: [String], requested: [String], allowed: [String]) -> [String: JSONValue] {
        let granted = scopes.flatMap { Self.byScope[$0] ?? [] }
        let askable = allowed.flatMap { Self.byScope[$0] ?? [] }
        let names = Set(granted + requested.filter(askable.contains))
        return all.filter { names.contains($0.key) }
    }

    /// Returns the scope that stands for a claim. Nil if no user has such a claim.
    static func scope(of claim: String) -> String? { scopes.first { byScope[$0]?.contains(claim) ?? false } }

    /// Returns whether ``claims(scopes:requested:allowed:)`` can return any claim, so that a profile must be read.
    static func areWanted(scopes: [String], requested: [String]) -> Bool {
        !requested.isEmpty || scopes.contains { byScope[$0] != nil }
    }

    /// A claim without a value is left out, as OpenID Connect Core section 5.3.2 wants. Two claims always have one: the
    /// user id stands for a missing name, and no group is an empty list.
    private var all: [String: JSONValue] {
        let user = profile.user.shown
        var claims: [String: JSONValue] = [
            "name": .string(profile.name ?? user), "preferred_username": .string(user),
            "groups": .array(profile.groups.map { .string($0) }),
        ]
        if let picture = profile.picture { claims["picture"] = .string(picture) }
        if let locale = profile.locale { claims["locale"] = .string(locale) }
        if let updated = profile.updated { claims["updated_at"] = .int(updated.epochSeconds) }
        if let email = profile.email {
            claims["email"] = .string(email)
            // This server has sent no mail to a user of a project.
            if profile.user.project == nil { claims["email_verified"] = .bool(profile.isEmailVerified) }
        }
        return claims
    }
}

import MPinWire

/// The parameter `claims` (OpenID Connect Core section 5.5): claims by name and place. Whether one is essential makes no
/// difference, because a missing one is no error, except for `acr`.
package struct RequestedClaims: Sendable, Equatable, Codable {
    package private(set) var userinfo: [String] = []
    package private(set) var idToken: [String] = []
    /// The one user that the client means, by `sub`.
    package private(set) var subject: String?
    /// Nil: any will do. Else one of these must be met.
    package private(set) var acr: [String]?

    package init() {}

    /// nil for what is no JSON object whose members `userinfo` and `id_token` are objects of null and objects.
    package init?(_ text: String) {
        guard case .object(let places)? = try? JSON.decode(JSONValue.self, from: Array(text.utf8).span),
            let userinfo = Self.claims(places["userinfo"]), let idToken = Self.claims(places["id_token"])
        else { return nil }
        self.userinfo = userinfo.keys.sorted()
        self.idToken = idToken.keys.sorted()
        if case .string(let subject)? = (idToken["sub"] ?? userinfo["sub"])?["value"] { self.subject = subject }
        if let acr = idToken["acr"], acr["essential"] == .bool(true) { self.acr = Self.values(acr) }
    }

    /// The claims of one place.
    private static func claims(_ place: JSONValue?) -> [String: JSONValue]? {
        guard let place, place != .null else { return [:] }
        guard case .object(let claims) = place else { return nil }
        let areForms = claims.values.allSatisfy { if case .object = $0 { true } else { $0 == .null } }
        return areForms ? claims : nil
    }

    /// `value` or `values`, nil where it says neither.
    private static func values(_ claim: JSONValue) -> [String]? {
        if case .string(let value)? = claim["value"] { return [value] }
        guard case .array(let values)? = claim["values"] else { return nil }
        return values.compactMap { if case .string(let value) = $0 { value } else { nil } }
    }
}

package import MPinStore
import MPinWire

/// The parameter `claims` (OpenID Connect Core section 5.5): the names of the claims that a client wants at userinfo,
/// and of those that it wants in the ID token. The flag `essential` has an effect for the claim `acr` only: if a login
/// cannot have an essential `acr`, the request is refused. Other claims may be missing without an error.
package struct RequestedClaims: Sendable, Equatable, Codable {
    package private(set) var userinfo: [String] = []
    package private(set) var idToken: [String] = []
    /// The `sub` of the one user that the client wants. Nil if it accepts any user.
    package private(set) var subject: String?
    /// The values of an essential `acr` that a login here can have. Nil if the client requires none.
    package private(set) var acr: [String]?

    /// The most claims that a request may name, at both places together.
    static let most = 64
    /// The longest name of a claim, and the longest `sub` (OpenID Connect Core section 2), in bytes.
    private static let longest = 255

    package init() {}

    /// Nil if the text is not a JSON object, or if its member `userinfo` or `id_token` is not an object in which every
    /// claim is null or an object. Nil also if there are more than ``most`` claims, or a text is longer than 255 bytes.
    package init?(_ text: String) {
        guard case .object(let places)? = try? JSON.decode(JSONValue.self, from: Array(text.utf8).span),
            let userinfo = Self.claims(places["userinfo"]), let idToken = Self.claims(places["id_token"]),
            userinfo.count + idToken.count <= Self.most,
            [userinfo, idToken].allSatisfy({ $0.keys.allSatisfy { $0.utf8.count <= Self.longest } })
        else { return nil }
        self.userinfo = userinfo.keys.sorted()
        self.idToken = idToken.keys.sorted()
        if case .string(let subject)? = (idToken["sub"] ?? userinfo["sub"])?["value"] {
            guard subject.utf8.count <= Self.longest else { return nil }
            self.subject = subject
        }
        if let acr = idToken["acr"], acr["essential"] == .bool(true) { self.acr = Self.values(acr) }
    }

    /// The scopes that the claims about the user belong to, in the order of the discovery document.
    var scopes: [String] {
        let wanted = Set((userinfo + idToken).compactMap(UserClaims.scope))
        return UserClaims.scopes.filter(wanted.contains)
    }

    /// Returns these claims without those about the user whose scope `isAllowed` refuses.
    func limited(to isAllowed: (String) -> Bool) -> RequestedClaims {
        var rest = self
        rest.userinfo = userinfo.filter { UserClaims.scope(of: $0).map(isAllowed) ?? true }
        rest.idToken = idToken.filter { UserClaims.scope(of: $0).map(isAllowed) ?? true }
        return rest
    }

    /// Returns the claims in one member, `userinfo` or `id_token`: empty if the member is missing or null, nil if it is
    /// malformed.
    private static func claims(_ place: JSONValue?) -> [String: JSONValue]? {
        guard let place, place != .null else { return [:] }
        guard case .object(let claims) = place else { return nil }
        let areForms = claims.values.allSatisfy { if case .object = $0 { true } else { $0 == .null } }
        return areForms ? claims : nil
    }

    /// Returns those of the values that a claim must have, from its member `value` or `values`, which a login here can
    /// have. Nil if it has neither member.
    private static func values(_ claim: JSONValue) -> [String]? {
        if case .string(let value)? = claim["value"] { return value == UserLogin.acr ? [value] : [] }
        guard case .array(let values)? = claim["values"] else { return nil }
        // The only value that a login here has is enough to know.
        return values.contains(.string(UserLogin.acr)) ? [UserLogin.acr] : []
    }
}

extension RequestedClaims: Packable {
    package init(packed members: inout Unpacker) throws {
        userinfo = try members.texts()
        idToken = try members.texts()
        subject = try members.optionalText()
        acr = try members.flag() ? members.texts() : nil
    }

    package func pack(into members: inout Packer) {
        members.put(userinfo)
        members.put(idToken)
        members.put(subject)
        members.put(acr != nil)
        if let acr { members.put(acr) }
    }
}

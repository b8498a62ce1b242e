import MPinSDK
import MPinWire

/// How a profile is made of the claims of an ID token and of userinfo (OpenID Connect Core section 5.1).
extension Profile {
    /// Takes the claims of one document, which errors call `document`. `names` says under which name a provider sends a
    /// claim, for providers that use names of their own. Throws if a claim has another type than the specification says;
    /// null is no claim. Numbers become text, because other providers count their users.
    ///
    /// An address and whether it is verified are told together: the latter means nothing without the former, and is left
    /// out then.
    init(_ claims: JSONValue, in document: String, names: [String: String] = [:]) throws(SDKError) {
        let read = ClaimReader(claims: claims, document: document, names: names)
        self.init()
        sub = try read.text("sub", orNumber: true)
        name = try read.text("name")
        email = try read.text("email")
        let isVerified = try read.flag("email_verified")
        emailVerified = email.isEmpty ? "" : isVerified.map { $0 ? "true" : "false" } ?? ""
        picture = try read.text("picture")
        updatedAt = try read.text("updated_at", orNumber: true)
    }

    /// Returns this profile, that of an ID token, with what userinfo says about the same user where the token says
    /// nothing. Address and verification are those of one document, because a user may have several addresses.
    func completed(by other: Profile) -> Profile {
        var all = self
        all.name = name.isEmpty ? other.name : name
        all.picture = picture.isEmpty ? other.picture : picture
        all.updatedAt = updatedAt.isEmpty ? other.updatedAt : updatedAt
        if email.isEmpty || emailVerified.isEmpty, !other.email.isEmpty {
            (all.email, all.emailVerified) = (other.email, other.emailVerified)
        }
        return all
    }
}

/// The members of two documents that must not contradict each other, because who may log in is decided by them.
enum DecidingClaims {
    /// Throws unless each claim that an ID token and userinfo both have is the same in both. A document that says only
    /// whether an address is verified counts, too: it cannot mean another address than the other one. `names`: see
    /// ``Provider/claimNames``.
    static func compare(_ token: JSONValue, _ userinfo: JSONValue, names: [String: String]) throws(SDKError) {
        for claim in ["iss", "sub", "email", "email_verified"] {
            guard let one = token[claim], let other = userinfo[names[claim] ?? claim], one != .null, other != .null
            else { continue }
            guard one == other else {
                throw SDKError(.tokenInvalid, "userinfo: another \(claim) than that of the ID token")
            }
        }
    }
}

/// Reads the claims of one document.
private struct ClaimReader {
    let claims: JSONValue
    let document: String
    let names: [String: String]

    /// Returns a text; empty if the document does not say it. Throws if it is of another type.
    func text(_ claim: String, orNumber: Bool = false) throws(SDKError) -> String {
        switch claims[name(claim)] {
        case nil, .null?: return ""
        case .string(let text)?: return text
        case .int(let number)? where orNumber: return String(number)
        case .double(let number)? where orNumber: return String(number)
        default: throw wrongType(claim)
        }
    }

    /// Returns a truth value; nil if the document does not say it. Throws if it is of another type, such as the text
    /// "false", which many programs take for true.
    func flag(_ claim: String) throws(SDKError) -> Bool? {
        switch claims[name(claim)] {
        case nil, .null?: return nil
        case .bool(let flag)?: return flag
        default: throw wrongType(claim)
        }
    }

    private func name(_ claim: String) -> String { names[claim] ?? claim }

    private func wrongType(_ claim: String) -> SDKError {
        SDKError(.tokenInvalid, "\(document): \(claim) has another type than it must have")
    }
}

import MPinSecrets
import MPinWire

/// A mail that verifies a user id at a MIRACL Trust project, on its way.
public struct VerificationMail: Sendable, Equatable {
    /// What the mail contains.
    public enum Method: Int32, Sendable {
        /// A link.
        case link = 0
        /// A code of six digits.
        case code = 1
    }

    /// What the mail contains.
    public let method: Method
    /// When another mail may be requested, in seconds since 1970.
    public let backoff: Int64

    package init(method: Method, backoff: Int64) {
        self.method = method
        self.backoff = backoff
    }
}

/// The permission to register a device for a user id that a MIRACL Trust project has verified.
public struct Activation: Sendable, Equatable {
    /// The user id.
    public let userID: String
    /// The project's id.
    public let projectID: String
    /// The browser's session that asked for the verification; may be empty.
    public let accessID: String
    /// The activation token, a secret until it is used.
    public let token: String
    /// When the token expires, in seconds since 1970; 0 if the server does not say.
    public let expireTime: Int64
}

extension SDK {
    /// Asks the server to mail a link or a code that verifies the user id. `accessID` is the browser's session that the
    /// user registers for, or nil.
    package func sendVerificationEmail(
        _ userID: String, accessID: String? = nil
    ) throws(SDKError) -> VerificationMail {
        try perform { core, caller throws(SDKError) in
            let project = try core.currentProject()
            guard !userID.isEmpty else { throw SDKError(.invalidArgument, "the user id is empty") }
            let mpinID = try core.user(userID, customerID: project.id, appID: nil)?.record.mpinID
            let answer = try project.verify(userID, mpinID: mpinID, accessID: accessID, caller)
            return VerificationMail(method: answer.method == "code" ? .code : .link, backoff: answer.backoff)
        }
    }

    /// Exchanges the code of a mail for an activation token.
    package func activationToken(_ userID: String, code: String) throws(SDKError) -> Activation {
        try perform { core, caller throws(SDKError) in try core.activation(userID, code, caller) }
    }

    /// Exchanges the link of a mail, or one from the project's back end, for an activation token (TRUST wire section
    /// 2.3). Sends nothing to the link's host.
    package func activationToken(link: String) throws(SDKError) -> Activation {
        try perform { core, caller throws(SDKError) in
            guard let userID = queryMember("user_id", of: link), let code = queryMember("code", of: link) else {
                throw SDKError(.invalidArgument, "the link has no user_id or no code")
            }
            return try core.activation(userID, code, caller)
        }
    }
}

extension Core {
    fileprivate func activation(_ userID: String, _ code: String, _ caller: Caller) throws(SDKError) -> Activation {
        let project = try currentProject()
        guard !userID.isEmpty, !code.isEmpty else {
            throw SDKError(.invalidArgument, "the user id or the code is empty")
        }
        let answer = try project.confirm(userID, code, caller)
        return Activation(
            userID: userID, projectID: answer.projectId, accessID: answer.accessId, token: answer.actToken,
            expireTime: answer.expireTime)
    }
}

/// The first member `name` of a URL's query, decoded; '+' is a space. Nil if it is missing or no UTF-8.
func queryMember(_ name: String, of url: String) -> String? {
    let query = url.utf8.prefix { $0 != UInt8(ascii: "#") }.drop { $0 != UInt8(ascii: "?") }.dropFirst()
    for member in query.split(separator: UInt8(ascii: "&")) {
        let parts = member.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, formDecoded(parts[0]) == name else { continue }
        return formDecoded(parts[1])
    }
    return nil
}

/// Decodes `application/x-www-form-urlencoded` text. Nil if the result is no UTF-8. A '%' without two hex digits after
/// it stays, as in browsers.
private func formDecoded(_ text: some Collection<UInt8>) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count >= 2,
            let code = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self))
        {
            bytes += code
            rest = rest.dropFirst(2)
        } else {
            bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
        }
    }
    return String(validating: bytes, as: UTF8.self)
}

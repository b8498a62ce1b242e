package import MPinStore

/// An error that the client gets as the answer to its authorization request (RFC 6749 section 4.1.2.1, OpenID Connect
/// Core section 3.1.2.6).
package struct AuthorizationFault: Error, Sendable, Equatable {
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case unauthorizedClient = "unauthorized_client"
        case accessDenied = "access_denied"
        case unsupportedResponseType = "unsupported_response_type"
        case invalidScope = "invalid_scope"
        case serverError = "server_error"
        case temporarilyUnavailable = "temporarily_unavailable"
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
        case requestNotSupported = "request_not_supported"
        case requestURINotSupported = "request_uri_not_supported"
        case registrationNotSupported = "registration_not_supported"
        case unmetRequirements = "unmet_authentication_requirements"
    }

    package let code: Code
    /// A sentence for the developer of the client. It quotes nothing from the request, because whoever made that may be
    /// an attacker.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// The user is none of those who may use the client.
    package static let noAccess = AuthorizationFault(.accessDenied, "this user may not use the client")
}

/// The reason why the browser shows an error page and is not sent back to the client. Either nobody can be trusted with
/// an answer, because the client is unknown or the redirect URI is not one of the client's; or the request is malformed.
package enum PageFault: Error, Sendable, Equatable {
    case noClient
    case unknownClient
    case noRedirectURI
    /// The redirect URI that the request has and the client has not registered. It is written to the log.
    case foreignRedirectURI(String)
    case tooLongState
    /// The parameters cannot be read, because they are not form-encoded text.
    case unreadable
}

/// Where the answer to an authorization request goes: the client's redirect URI, and how the browser carries the answer
/// there.
package struct ReturnAddress: Sendable, Equatable, Codable {
    package enum Mode: String, Sendable, Codable, CaseIterable {
        case query
        case formPost = "form_post"
    }

    package let clientID: String
    package let redirectURI: RedirectURI
    package var mode = Mode.query
    /// The parameter `state`, which goes back unchanged. Nil if the request had none.
    package let state: String?

    /// Returns the parameters of the answer: `members`, then `state` if there is one, then `iss` with the issuer, which
    /// tells a client of several providers who answered (RFC 9207).
    package func answer(_ members: [(String, String)], issuer: String) -> [(String, String)] {
        members + (state.map { [("state", $0)] } ?? []) + [("iss", issuer)]
    }

    package func answer(_ fault: AuthorizationFault, issuer: String) -> [(String, String)] {
        answer([("error", fault.code.rawValue), ("error_description", fault.description)], issuer: issuer)
    }

    /// The URL that carries `answer` in its query.
    package func location(_ answer: [(String, String)]) -> String {
        guard !answer.isEmpty else { return redirectURI.text }
        let separator = redirectURI.text.utf8.contains(UInt8(ascii: "?")) ? "&" : "?"
        return redirectURI.text + separator + RequestParameters.query(answer)
    }
}

extension ReturnAddress: Packable {
    package init(packed members: inout Unpacker) throws {
        clientID = try members.text()
        redirectURI = try members.value()
        guard let mode = Mode(rawValue: try members.text()) else { throw Unpacker.foreign }
        self.mode = mode
        state = try members.optionalText()
    }

    package func pack(into members: inout Packer) throws {
        members.put(clientID)
        try members.put(redirectURI)
        members.put(mode.rawValue)
        members.put(state)
    }
}

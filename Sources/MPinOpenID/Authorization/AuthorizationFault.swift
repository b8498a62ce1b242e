/// Why an authorization request is refused, as its client is told (RFC 6749 section 4.1.2.1, OpenID Connect Core section
/// 3.1.2.6).
package struct AuthorizationFault: Error, Sendable, Equatable {
    package enum Code: String, Sendable {
        case invalidRequest = "invalid_request"
        case unauthorizedClient = "unauthorized_client"
        case accessDenied = "access_denied"
        case unsupportedResponseType = "unsupported_response_type"
        case invalidScope = "invalid_scope"
        case serverError = "server_error"
        case temporarilyUnavailable = "temporarily_unavailable"
        case interactionRequired = "interaction_required"
        case loginRequired = "login_required"
        case consentRequired = "consent_required"
        case requestNotSupported = "request_not_supported"
        case requestURINotSupported = "request_uri_not_supported"
        case registrationNotSupported = "registration_not_supported"
        case unmetRequirements = "unmet_authentication_requirements"
    }

    package let code: Code
    /// For who writes the client; it quotes nothing of the request.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// Why a browser gets a page and is sent nowhere: who asks is not known, or where the answer should go is not that
/// client's.
package enum PageFault: Error, Sendable, Equatable {
    case noClient
    case unknownClient
    case noRedirectURI
    /// What was asked for, for the log.
    case foreignRedirectURI(String)
    case tooLongState
    /// Not one request in the form that one has.
    case unreadable
}

/// Where the answer to an authorization request goes.
package struct ReturnAddress: Sendable, Equatable, Codable {
    package enum Mode: String, Sendable, Codable, CaseIterable {
        case query
        case formPost = "form_post"
    }

    package let clientID: String
    package let redirectURI: RedirectURI
    package var mode = Mode.query
    /// As it was sent; nil: none was.
    package let state: String?

    /// What goes there: `members`, the state, and who answers (RFC 9207).
    package func answer(_ members: [(String, String)], issuer: String) -> [(String, String)] {
        members + (state.map { [("state", $0)] } ?? []) + [("iss", issuer)]
    }

    package func answer(_ fault: AuthorizationFault, issuer: String) -> [(String, String)] {
        answer([("error", fault.code.rawValue), ("error_description", fault.description)], issuer: issuer)
    }

    /// The URL that carries `answer` in its query.
    package func location(_ answer: [(String, String)]) -> String {
        redirectURI.text + (redirectURI.text.contains("?") ? "&" : "?") + RequestParameters.query(answer)
    }
}

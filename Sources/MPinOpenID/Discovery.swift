package import MPinWire

/// The discovery document, which tells clients the provider's endpoints and features (OpenID Connect Discovery section
/// 3, RFC 8414). It lists only what this provider has.
extension OpenIDProvider {
    /// Paths of the endpoints, relative to the issuer.
    package enum Path {
        package static let authorize = "/authorize"
        package static let token = "/oidc/token"
        package static let userinfo = "/oidc/userinfo"
        package static let certs = "/oidc/certs"
        package static let logout = "/oidc/logout"
        package static let revoke = "/oidc/revoke"
        package static let introspect = "/oidc/introspect"
        package static let deviceAuthorization = "/oidc/device"
        /// The page where a person types the code that a device shows, and the one at the end of that login.
        package static let device = "/device"
        package static let deviceEnd = "/device/done"
        package static let configuration = "/.well-known/openid-configuration"
        package static let serverMetadata = "/.well-known/oauth-authorization-server"
    }

    /// The issuer without a slash at its end. The endpoints' URLs begin with it.
    package var base: String { issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer }

    /// Returns the discovery document. `languages` are the languages of the login page.
    package func metadata(languages: [String]) -> JSONValue {
        let urls = [
            "authorization_endpoint": Path.authorize, "token_endpoint": Path.token,
            "userinfo_endpoint": Path.userinfo, "jwks_uri": Path.certs, "revocation_endpoint": Path.revoke,
            "introspection_endpoint": Path.introspect, "end_session_endpoint": Path.logout,
            "device_authorization_endpoint": Path.deviceAuthorization,
        ]
        let methods = Client.AuthMethod.allCases.map(\.rawValue)
        let lists: [String: [String]] = [
            "scopes_supported": ["openid"] + UserClaims.scopes + ["offline_access"],
            "response_types_supported": ["code"],
            "response_modes_supported": ReturnAddress.Mode.allCases.map(\.rawValue),
            "grant_types_supported": Client.Grant.allCases.map(\.rawValue),
            "subject_types_supported": ["public", "pairwise"],
            "id_token_signing_alg_values_supported": [SigningAlgorithm.rs256.rawValue],
            "token_endpoint_auth_methods_supported": methods, "revocation_endpoint_auth_methods_supported": methods,
            "introspection_endpoint_auth_methods_supported": methods.filter { $0 != Client.AuthMethod.none.rawValue },
            "code_challenge_methods_supported": ["S256"], "acr_values_supported": [UserLogin.acr],
            "prompt_values_supported": AuthorizationRequest.Prompt.allCases.map(\.rawValue),
            "claims_supported": TokenMaker.claims + UserClaims.names, "ui_locales_supported": languages,
        ]
        let flags = [
            "claims_parameter_supported": true, "request_parameter_supported": false,
            "request_uri_parameter_supported": false, "authorization_response_iss_parameter_supported": true,
            "backchannel_logout_supported": true, "backchannel_logout_session_supported": true,
        ]
        var members = lists.mapValues { JSONValue.array($0.map { .string($0) }) }
        members.merge(urls.mapValues { .string(base + $0) }) { first, _ in first }
        members.merge(flags.mapValues { .bool($0) }) { first, _ in first }
        members["issuer"] = .string(issuer)
        return .object(members)
    }
}

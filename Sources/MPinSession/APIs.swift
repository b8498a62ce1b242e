package import MPinHTTP
package import MPinSDK
import MPinSecrets
package import MPinWire

/// Requests to APIs with the access token, and what smaller apps get.
extension AppSession {
    /// The value of the header Authorization for a request to `url`, whose origin the provider's description must
    /// name. `rejected` is the value that the API has answered with 401, or nil: if it is no longer the current one,
    /// the current one is returned; else the tokens are renewed.
    package func authorization(
        for url: String, rejected: SecretText? = nil, mayInteract: Bool = false
    ) throws(SDKError) -> SecretText {
        try recorded { () throws(SDKError) in
            guard let session = try store.content().session else { throw Self.noCredentials }
            let provider = try provider(session.provider)
            try check(url, provider)
            let token = rejected.map(Self.token)
            if token == session.accessToken, !provider.renewsOn401 {
                try end(session.id, everywhere: false)
                throw SDKError(.loginRequired, "the API has refused the token, and the provider renews none")
            }
            let new = try current(Need(rejected: token), mayInteract: mayInteract)
            return Self.scheme + new.accessToken
        }
    }

    /// Sends a request with the access token. If the API answers 401, the token is renewed and the request is sent once
    /// more. Redirects are not followed, so the token goes to no other origin.
    package func perform(_ request: HTTPRequest, mayInteract: Bool = false) throws(SDKError) -> HTTPResponse {
        let used = try authorization(for: request.url, mayInteract: mayInteract)
        return try recorded { () throws(SDKError) in
            let response = try send(request, used)
            guard response.status == 401 else { return response }
            let newer = try authorization(for: request.url, rejected: used, mayInteract: mayInteract)
            return try send(request, newer)
        }
    }

    private func check(_ url: String, _ provider: Provider) throws(SDKError) {
        guard provider.trusts(url) else {
            throw SDKError(.untrustedDomainError, "the token is not for that origin: the provider does not name it")
        }
        if let refusal = parts.policy.refusal(of: url) { throw SDKError(.untrustedDomainError, "\(refusal)") }
    }

    private func send(_ request: HTTPRequest, _ value: SecretText) throws(SDKError) -> HTTPResponse {
        let caller = caller(limits())
        var request = request
        request.deadline = caller.deadline
        request.headers.removeAll { $0.0.lowercased() == "authorization" }
        request.secretHeaders.append(("Authorization", value.secret))
        return try caller.execute(.api, request)
    }

    private static let scheme: SecretText = "Bearer "

    /// The token in the value of a header Authorization.
    private static func token(_ value: SecretText) -> SecretText {
        let text = value.secret.span
        guard text.count > scheme.count else { return value }
        return SecretText(SecretBytes(copying: text.extracting(scheme.count..<text.count)))
    }

    /// What the app passes to a smaller app: the profile, and an access token for one service and some scopes, which
    /// the provider issues for the access token of the session (RFC 8693). The smaller app cannot renew it.
    package func handover(audience: String, scope: String) throws(SDKError) -> Handover {
        try recorded { () throws(SDKError) in
            let session = try current(Need(), mayInteract: false)
            let provider = try provider(session.provider)
            var form = Form()
            form.add("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
            form.add("subject_token", session.accessToken)
            form.add("subject_token_type", "urn:ietf:params:oauth:token-type:access_token")
            if !audience.isEmpty { form.add("audience", audience) }
            if !scope.isEmpty { form.add("scope", scope) }
            let received: ReceivedTokens
            do throws(SDKError) {
                received = try alone { caller throws(SDKError) in
                    try tokens(.exchange, provider, form, caller)
                }
            } catch {
                guard error.status == .httpRequestError else { throw error }
                throw SDKError(.exchangeFailed, error.text, httpStatus: error.httpStatus, server: error.server)
            }
            return Handover(
                profile: session.profile, accessToken: received.answer.access_token,
                expiry: (received.expiry ?? 0) / 1000)
        }
    }
}

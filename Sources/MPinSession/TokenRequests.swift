import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire

/// An answer of a token endpoint (RFC 6749 section 5.1).
struct TokenAnswer: Decodable {
    var access_token: SecretText
    var token_type: String?
    var expires_in: LenientInt?
    var refresh_token: SecretText?
    var id_token: SecretText?
    var scope: String?
}

/// An answer of a token endpoint, and the two clocks when it came.
struct ReceivedTokens {
    var answer: TokenAnswer
    /// The time of this device, in milliseconds since 1970.
    var now: Int64
    /// The time of the provider's clock, in seconds since 1970; that of this device if the provider did not say.
    var providerNow: Int64

    /// When the access token expires, in milliseconds since 1970 of this device's clock; nil if it does not say.
    var expiry: Int64? {
        answer.expires_in.map { now &+ Int64(clamping: max(0, min($0.value, 1 << 40))) &* 1000 }
    }
}

extension AppSession {
    /// Posts a form to the token endpoint.
    func tokens(
        _ call: Call, _ provider: Provider, _ form: Form, _ caller: Caller
    ) throws(SDKError) -> ReceivedTokens {
        var form = form
        let endpoints = try endpoints(of: provider, caller)
        let headers = addClient(provider, endpoints, to: &form)
        let response = try caller.post(call, endpoints.token, form, headers)
        let answer: TokenAnswer = try caller.decode(call, response)
        guard answer.access_token.count > 0, answer.token_type?.lowercased() ?? "bearer" == "bearer",
            HeaderField.isValue(answer.access_token.secret)
        else { throw SDKError(.responseParseError, "\(call.name): not a bearer token") }
        let now = try parts.now()
        return ReceivedTokens(answer: answer, now: now, providerNow: response.date ?? now / 1000)
    }

    /// Adds what the client authenticates with to a form, and returns the headers that do it (RFC 6749 section 2.3.1).
    /// A public client only names itself.
    func addClient(_ provider: Provider, _ endpoints: Endpoints, to form: inout Form) -> [(String, SecretBytes)] {
        guard let secret = provider.clientSecret, !endpoints.wantsSecretInForm else {
            form.add("client_id", provider.clientID)
            if let secret = provider.clientSecret { form.add("client_secret", secret) }
            return []
        }
        let parts = [SecretBytes(utf8: "\(percentEncoded(provider.clientID)):"), percentEncoded(secret.secret)]
        let basic = [SecretBytes(utf8: "Basic "), Base64.encode(SecretBytes(joining: parts))]
        return [("Authorization", SecretBytes(joining: basic))]
    }

    /// The endpoints of a provider, from its discovery document, which is fetched again after an hour.
    func endpoints(of provider: Provider, _ caller: Caller) throws(SDKError) -> Endpoints {
        guard let issuer = provider.issuer else { return provider.endpoints }
        let deadline = discovered.withLock { $0[issuer]?.until.remainingMilliseconds() ?? 0 }
        if deadline > 0, let known = discovered.withLock({ $0[issuer]?.endpoints }) { return known }
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let document = try caller.document("discovery", "\(base)/.well-known/openid-configuration")
        let endpoints = try Endpoints(discovery: document, issuer: issuer)
        discovered.withLock { $0[issuer] = (endpoints, .after(milliseconds: 3_600_000)) }
        return endpoints
    }

    /// Makes the record of a new login from the provider's answer, whose ID token is verified.
    func record(
        _ received: ReceivedTokens, _ provider: Provider, userID: String, scope: String, nonce: String?,
        _ caller: Caller
    ) throws(SDKError) -> SessionRecord {
        let answer = received.answer
        var claims: JSONValue?
        if provider.issuer != nil {
            guard let token = answer.id_token else { throw SDKError(.tokenInvalid, "the provider gave no ID token") }
            claims = try verify(token, received, provider, nonce: nonce, subject: nil, caller).claims
        }
        return SessionRecord(
            id: try randomText(), provider: provider.name, userID: userID, accessToken: answer.access_token,
            refreshToken: answer.refresh_token, idToken: answer.id_token, tokenType: answer.token_type ?? "Bearer",
            scope: answer.scope ?? scope, expiry: received.expiry,
            profile: try profile(of: provider, answer.access_token, claims, caller))
    }

    func verify(
        _ token: SecretText, _ received: ReceivedTokens, _ provider: Provider, nonce: String?, subject: String?,
        _ caller: Caller
    ) throws(SDKError) -> IDToken {
        let expected = IDToken.Expectation(
            issuer: provider.issuer ?? "", clientID: provider.clientID, nonce: nonce,
            accessToken: received.answer.access_token, now: received.providerNow, subject: subject)
        return try IDToken(
            token, expected, keys: keys, at: endpoints(of: provider, caller).keys, caller)
    }

    /// Returns what ID token and userinfo say about the user. `claims` are those of the ID token; nil if the provider
    /// has none. A provider that does not answer leaves it at what the token says.
    private func profile(
        of provider: Provider, _ token: SecretText, _ claims: JSONValue?, _ caller: Caller
    ) throws(SDKError) -> Profile {
        let own = try claims.map { claims throws(SDKError) in try Profile(claims, in: "ID token") }
        let url = try endpoints(of: provider, caller).userinfo
        guard !url.isEmpty, let told = try? caller.document("userinfo", url, bearer: token) else {
            return own ?? Profile()
        }
        if let claims { try DecidingClaims.compare(claims, told, names: provider.claimNames) }
        let other = try Profile(told, in: "userinfo", names: provider.claimNames)
        guard let own else { return other }
        return other.sub == own.sub ? own.completed(by: other) : own
    }

    /// 43 random characters, for 32 bytes.
    func randomText() throws(SDKError) -> String {
        do { return Base64URL.encode(try randomBytes(32, from: parts.random)) } catch {
            throw SDKError(.randomFailed, "the random generator failed")
        }
    }
}

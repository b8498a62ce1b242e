import MPinStore

/// Token exchange (RFC 8693): a client gets an access token with fewer scopes, or for one service only, and hands it to
/// a program that it trusts less than itself, for example to a small app inside the app.
extension OpenIDProvider {
    private static var accessTokenType: String { "urn:ietf:params:oauth:token-type:access_token" }

    /// Exchanges an access token for another one. The new token has no more scopes, does not live longer, ends with the
    /// grant of the old one, and cannot be exchanged again. There is no refresh token and no ID token with it.
    func exchange(_ parameters: RequestParameters, for client: Client) async throws -> TokenAnswer {
        let now = now
        let (subject, authorization) = try await subject(parameters, for: client, at: now)
        let scopes = try narrowed(subject, parameters, for: client)
        let exchange = TokenMaker.Exchange(
            audience: try target(parameters, for: client),
            seconds: min(client.lifetimes.accessToken, subject.ends - now.epochSeconds))
        let token = try maker.accessToken(
            authorization, scopes: scopes, grantID: subject.grantID, for: client, exchange: exchange, at: now)
        observer(.granted(clientID: client.id, grant: .tokenExchange, authorization.login))
        return TokenAnswer(
            accessToken: token.text, lifetime: exchange.seconds, scopes: scopes, issuedTokenType: Self.accessTokenType)
    }

    /// Returns the token that the client wants to exchange: its own access token, or one of which it is an audience.
    private func subject(
        _ parameters: RequestParameters, for client: Client, at now: Moment
    ) async throws -> (TokenMaker.Access, Authorization) {
        guard let text = parameters["subject_token"], parameters["subject_token_type"] == Self.accessTokenType,
            (parameters["requested_token_type"] ?? Self.accessTokenType) == Self.accessTokenType
        else { throw TokenFault(.invalidRequest, "an access token is exchanged for an access token") }
        guard parameters["actor_token"] == nil else {
            throw TokenFault(.invalidRequest, "actor_token is not supported")
        }
        guard let access = maker.access(text, at: now), !access.isExchanged,
            access.clientID == client.id || access.audiences.contains(where: client.resources.contains),
            let (authorization, _) = try await authorization(of: access)
        else {
            // RFC 8693 section 2.2.2 wants this code, and not invalid_grant.
            throw TokenFault(.invalidRequest, "subject_token is not valid, not for this client, or was exchanged")
        }
        return (access, authorization)
    }

    /// Returns the scopes of the new token. If the client names none, they are those of the old token that the client
    /// may have.
    private func narrowed(
        _ subject: TokenMaker.Access, _ parameters: RequestParameters, for client: Client
    ) throws(TokenFault) -> [String] {
        let possible = subject.scopes.filter {
            $0 != "offline_access" && ($0 == "openid" || client.scopes.contains($0))
        }
        let scopes = parameters.words("scope") ?? possible
        guard !scopes.isEmpty, scopes.allSatisfy(possible.contains) else {
            throw TokenFault(.invalidScope, "more than the subject_token has, or than the client may have")
        }
        return scopes
    }

    /// Returns the service that the new token is for: one of the client's registered audiences. Nil if the client names
    /// none.
    private func target(_ parameters: RequestParameters, for client: Client) throws(TokenFault) -> String? {
        guard let target = parameters["audience"] ?? parameters["resource"] else { return nil }
        guard parameters["audience"] == nil || parameters["resource"] == nil,
            maker.audiences(of: client).contains(target)
        else { throw TokenFault(.invalidTarget, "the client may have tokens for registered audiences, one at a time") }
        return target
    }
}

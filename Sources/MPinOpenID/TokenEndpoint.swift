package import MPinWire

/// The token endpoint and userinfo.
extension OpenIDProvider {
    /// Answers a token request (RFC 6749 section 3.2). `header` is the value of the header `Authorization`. Throws
    /// ``TokenFault``, or the store's error.
    package func token(_ parameters: RequestParameters, header: String?) async throws -> TokenAnswer {
        try await serving(parameters, header: header) { try await token(parameters, for: $0) }
    }

    /// Answers a request that a client sends directly, without a browser: checks the client's credentials, and does the
    /// `work` for that client. Throws ``TokenFault``, also that of the work, or the store's error.
    func serving<Answer: Sendable>(
        _ parameters: RequestParameters, header: String?, _ work: (Client) async throws -> Answer
    ) async throws -> Answer {
        var name = ""
        do {
            guard !parameters.repeatsAny else { throw TokenFault(.invalidRequest, "a parameter is sent twice") }
            let credentials = try ClientCredentials(header: header, parameters)
            name = credentials.id
            let found = try await client(credentials.id)
            guard credentials.areRight(for: found, at: now), let found else { throw TokenFault.wrongClient }
            return try await work(found)
        } catch let fault as TokenFault {
            observer(.refused(clientID: name, fault.code))
            throw fault
        }
    }

    private func token(_ parameters: RequestParameters, for client: Client) async throws -> TokenAnswer {
        guard let type = parameters["grant_type"] else {
            throw TokenFault(.invalidRequest, "grant_type is missing")
        }
        guard let grant = Client.Grant(rawValue: type) else {
            throw TokenFault(.unsupportedGrantType, "there is no such grant_type here")
        }
        // Only this server redeems the codes of a protected host.
        guard client.grants.contains(grant), client.protectedOrigin == nil else {
            throw TokenFault(.unauthorizedClient, "the client may not use this grant_type")
        }
        switch grant {
        case .authorizationCode: return try await redeem(parameters, for: client)
        case .refreshToken: return try await refresh(parameters, for: client)
        case .deviceCode: return try await redeemDevice(parameters, for: client)
        case .tokenExchange: return try await exchange(parameters, for: client)
        }
    }

    /// Redeems a code for tokens. If the code was redeemed before, it revokes the tokens that were issued for it.
    private func redeem(_ parameters: RequestParameters, for client: Client) async throws -> TokenAnswer {
        guard let text = parameters["code"], let redirectURI = parameters["redirect_uri"] else {
            throw TokenFault(.invalidRequest, "code or redirect_uri is missing")
        }
        guard let code = OpaqueToken(text) else { throw TokenFault.invalidGrant }
        let now = now
        let new = try NewGrant(for: client, at: now)
        let claim = Codes.Claim(
            code: code, clientID: client.id, redirectURI: redirectURI, verifier: parameters["code_verifier"])
        switch try await codes.spend(claim, for: new.id, at: now) {
        case .unknown: throw TokenFault.invalidGrant
        case .replayed(let grantID): throw try await replay(of: grantID, .authorizationCode, by: client)
        case .granted(let authorization): return try await issue(authorization, new, .authorizationCode, to: client)
        }
    }

    /// Revokes the tokens of a code that was redeemed before, because one of the two who had the code must have copied
    /// it. Returns the error for the second one.
    func replay(of grantID: String, _ grant: Client.Grant, by client: Client) async throws -> TokenFault {
        let authorization = try await grants.authorization(grantID, at: now)
        try await grants.revoke(grantID, at: now)
        observer(.reused(clientID: client.id, grant: grant, authorization?.login))
        return .invalidGrant
    }

    /// Issues the first tokens of a new grant.
    func issue(
        _ authorization: Authorization, _ new: NewGrant, _ grant: Client.Grant, to client: Client
    ) async throws -> TokenAnswer {
        guard try await isPermitted(authorization.login, at: client),
            let allowed = try await consented(authorization, to: client)
        else { throw TokenFault.invalidGrant }
        let isLasting = authorization.isOffline || client.refreshesWithoutOfflineAccess
        let token = isLasting ? new.token : nil
        try await grants.begin(new.id, token, authorization, client.lifetimes, at: now)
        observer(.granted(clientID: client.id, grant: grant, authorization.login))
        return try await answer(
            allowed, scopes: authorization.scopes, nonce: authorization.nonce, new.id, token, for: client)
    }

    /// Redeems a refresh token for new tokens, among them the next refresh token (RFC 6749 section 6).
    private func refresh(_ parameters: RequestParameters, for client: Client) async throws -> TokenAnswer {
        guard let text = parameters["refresh_token"] else {
            throw TokenFault(.invalidRequest, "refresh_token is missing")
        }
        let now = now
        guard let token = RefreshToken(text),
            let known = try await grants.authorization(token.grantID, at: now), known.clientID == client.id
        else { throw TokenFault.invalidGrant }
        let scopes = parameters.words("scope") ?? known.scopes
        guard scopes.allSatisfy(known.scopes.contains) else {
            throw TokenFault(.invalidScope, "more than was granted")
        }
        guard try await isPermitted(known.login, at: client) else { throw TokenFault.invalidGrant }
        guard let allowed = try await consented(known, to: client) else {
            // A consent that the user gives again later must not bring the old tokens back.
            try await grants.revoke(token.grantID, at: now)
            throw TokenFault.invalidGrant
        }
        let next = try token.next()
        switch try await grants.rotate(token, to: next, of: client, at: now) {
        case .unknown: throw TokenFault.invalidGrant
        case .reused(let authorization):
            observer(.reused(clientID: client.id, grant: .refreshToken, authorization.login))
            throw TokenFault.invalidGrant
        case .granted(let authorization):
            observer(.granted(clientID: client.id, grant: .refreshToken, authorization.login))
            return try await answer(allowed, scopes: scopes, nonce: nil, next.grantID, next, for: client)
        }
    }

    private func answer(
        _ authorization: Authorization, scopes: [String], nonce: String?, _ grantID: String, _ token: RefreshToken?,
        for client: Client
    ) async throws -> TokenAnswer {
        let (maker, now) = (maker, now)
        let isAbout = maker.wantsProfile(authorization, for: client)
        let profile = isAbout ? try await profiles.profile(of: authorization.login.userID, at: now) : nil
        let accessToken = try maker.accessToken(
            authorization, scopes: scopes, grantID: grantID, for: client, at: now)
        let idToken = try maker.idToken(
            authorization, profile, nonce: nonce, accessToken: accessToken, for: client, at: now)
        return TokenAnswer(
            accessToken: accessToken.text, lifetime: client.lifetimes.accessToken, scopes: scopes, idToken: idToken,
            refreshToken: token?.text)
    }

    /// Returns the claims about the user of an access token (OpenID Connect Core section 5.3). Throws ``BearerFault``,
    /// or the store's error.
    package func userinfo(_ token: String) async throws -> JSONValue {
        guard let access = maker.access(token, at: now),
            let (authorization, client) = try await authorization(of: access)
        else { throw BearerFault.invalidToken }
        // Whoever gets an exchanged token may be trusted with nothing but what the token is for.
        guard !access.isExchanged || access.audiences.contains(issuer) else { throw BearerFault.invalidToken }
        guard access.scopes.contains("openid") else { throw BearerFault.insufficientScope }
        let userID = authorization.login.userID
        let requested = access.isExchanged ? [] : authorization.claims(of: access.scopes)
        var claims: [String: JSONValue] = [:]
        if UserClaims.areWanted(scopes: access.scopes, requested: requested) {
            let profile = try await profiles.profile(of: userID, at: now)
            claims = UserClaims(profile: profile).claims(
                scopes: access.scopes, requested: requested, allowed: client.scopes)
        }
        claims["sub"] = .string(subjects.subject(of: userID, for: client))
        return .object(claims)
    }

    /// Returns what was granted, with those claims only that the user has allowed: earlier versions did not ask about
    /// claims. Nil if the user's consent to the scopes no longer stands. Clients of the operator need none.
    private func consented(_ authorization: Authorization, to client: Client) async throws -> Authorization? {
        guard !client.isFirstParty else { return authorization }
        let allowed = try await consents.scopes(of: client, by: authorization.login.userID, at: now)
        return authorization.scopes.allSatisfy(allowed.contains) ? authorization.limited(to: allowed) : nil
    }

    /// Returns what was granted with an access token, and the client that the token was issued to. Nil if the token or
    /// its grant is revoked, if its user may no longer log in, may not use the client or has withdrawn the consent, or
    /// if its client is disabled, or the client from whose token it was exchanged.
    func authorization(of access: TokenMaker.Access) async throws -> (Authorization, Client)? {
        guard let granted = try await grants.authorization(access.grantID, at: now),
            let client = try await client(access.clientID), !client.isDisabled,
            let first = access.isExchanged ? try await self.client(granted.clientID) : client, !first.isDisabled,
            let authorization = try await consented(granted, to: first),
            try await isPermitted(authorization.login, at: first)
        else { return nil }
        guard access.isExchanged else { return (authorization, client) }
        return try await grants.isRevoked(token: access.id, at: now) ? nil : (authorization, client)
    }
}

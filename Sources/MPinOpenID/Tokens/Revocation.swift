import MPinStore

/// The revocation endpoint, by which a client ends its own tokens, for example when a user logs out of it (RFC 7009).
extension OpenIDProvider {
    /// Answers a revocation request. A refresh token ends all tokens of its grant, and so does an access token. An access
    /// token that was exchanged ends alone, because it may be in the hands of somebody who was meant to have less than
    /// the client has. A token that is unknown, expired or revoked is no error. `token_type_hint` has no effect, as the
    /// form of a token tells its type. Throws ``TokenFault``, among others for a token of another client, or the
    /// store's error.
    package func revoke(_ parameters: RequestParameters, header: String?) async throws {
        try await serving(parameters, header: header) { client in
            guard let token = parameters["token"] else { throw TokenFault(.invalidRequest, "token is missing") }
            if let token = RefreshToken(token) { return try await revoke(token, of: client) }
            if let access = maker.access(token, at: now) { try await revoke(access, of: client) }
        }
    }

    /// Revokes the family also if the token was used before: a client that has lost the answer to a refresh has no
    /// newer one.
    private func revoke(_ token: RefreshToken, of client: Client) async throws {
        guard let authorization = try await grants.authorization(token.grantID, at: now) else { return }
        guard authorization.clientID == client.id else { throw Self.foreignToken }
        try await grants.revoke(token.grantID, at: now)
        observer(.revoked(clientID: client.id, authorization.login))
    }

    private func revoke(_ access: TokenMaker.Access, of client: Client) async throws {
        guard access.clientID == client.id else { throw Self.foreignToken }
        guard let (authorization, _) = try await authorization(of: access) else { return }
        if access.isExchanged {
            let ends = Moment(microseconds: Int64(access.ends) * 1_000_000)
            try await grants.revoke(token: access.id, ends: ends, at: now)
        } else {
            try await grants.revoke(access.grantID, at: now)
        }
        observer(.revoked(clientID: client.id, authorization.login))
    }

    private static var foreignToken: TokenFault { TokenFault(.invalidRequest, "it is another client's token") }
}

package import MPinWire

/// The introspection endpoint, which tells a service whether a token that it was sent is valid (RFC 7662).
extension OpenIDProvider {
    /// Answers an introspection request of a client with a secret. It may ask about its own tokens, and about access
    /// tokens of which it is an audience (``Client/resources``). The answer for all others is the same as for an
    /// unknown, expired or revoked token: `active` is false, and there is no other member. Throws ``TokenFault``, or
    /// the store's error.
    package func introspect(_ parameters: RequestParameters, header: String?) async throws -> JSONValue {
        try await serving(parameters, header: header) { client in
            // Everybody can send the id of a public client, so it proves nothing.
            guard !client.isPublic else { throw TokenFault.wrongClient }
            guard let token = parameters["token"] else { throw TokenFault(.invalidRequest, "token is missing") }
            guard let members = try await members(of: token, for: client) else {
                return .object(["active": .bool(false)])
            }
            return .object(members.merging(["active": .bool(true)]) { own, _ in own })
        }
    }

    /// Returns what the client may know about a token (RFC 7662 section 2.2). Nil if the token is not valid, or if the
    /// client may know nothing about it.
    private func members(of token: String, for client: Client) async throws -> [String: JSONValue]? {
        if let token = RefreshToken(token) { return try await members(of: token, for: client) }
        guard let access = maker.access(token, at: now),
            access.clientID == client.id || access.audiences.contains(where: client.resources.contains),
            try await authorization(of: access) != nil
        else { return nil }
        return access.claims.merging(["token_type": .string("Bearer")]) { own, _ in own }
    }

    private func members(of token: RefreshToken, for client: Client) async throws -> [String: JSONValue]? {
        guard let authorization = try await grants.authorization(of: token, at: now),
            authorization.clientID == client.id, try await isPermitted(authorization.login, at: client)
        else { return nil }
        return [
            "iss": .string(issuer), "client_id": .string(client.id),
            "sub": .string(subjects.subject(of: authorization.login.userID, for: client)),
            "scope": .string(authorization.scopes.joined(separator: " ")),
        ]
    }
}

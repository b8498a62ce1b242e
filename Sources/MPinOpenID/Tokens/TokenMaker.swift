import MPinSecrets
import MPinStore
import MPinWire

/// Makes ID tokens (OpenID Connect Core section 2) and access tokens (RFC 9068), and reads them.
struct TokenMaker: Sendable {
    let issuer: String
    let keys: SigningKeys
    let subjects: Subjects

    /// The claims of an ID token that do not describe the user. The discovery document lists them.
    static let claims = ["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "at_hash", "sid"]

    private static let accessType = "at+jwt"
    private static let idType = "JWT"

    /// Returns a signed access token. `grantID` is written into the token, because the token is refused when that grant
    /// is revoked. `scopes` are those of this token, which may be fewer than were granted.
    func accessToken(
        _ authorization: Authorization, scopes: [String], grantID: String, for client: Client, at now: Moment
    ) throws -> String {
        var claims = common(authorization, client, seconds: client.lifetimes.accessToken, at: now)
        let audiences = client.audiences.isEmpty ? [issuer] : client.audiences
        let listed = audiences.map { JSONValue.string($0) }
        claims["aud"] = listed.count > 1 ? .array(listed) : listed.first
        claims["client_id"] = .string(client.id)
        claims["scope"] = .string(scopes.joined(separator: " "))
        claims["jti"] = .string(Base64URL.encode(try randomBytes(16)))
        claims["gid"] = .string(grantID)
        return try JWT.sign(claims, type: Self.accessType, by: keys.signer(.es256, at: now))
    }

    /// Returns a signed ID token. `accessToken` is the access token that is issued with it. `nonce` is that of the
    /// authorization request; it is nil in ID tokens that a refresh token was redeemed for.
    func idToken(
        _ authorization: Authorization, nonce: String?, accessToken: String, for client: Client, at now: Moment
    ) throws -> String {
        var claims = common(authorization, client, seconds: client.lifetimes.idToken, at: now)
        claims["aud"] = .string(client.id)
        let amr = client.amr == .token ? ["token"] : UserLogin.amr
        claims["amr"] = .array(amr.map { .string($0) })
        claims["at_hash"] = .string(Self.half(accessToken))
        if let nonce { claims["nonce"] = .string(nonce) }
        if let sessionID = authorization.sessionID { claims["sid"] = .string(sessionID) }
        let scopes = client.claimsInIDToken ? authorization.scopes : []
        let user = UserClaims(userID: authorization.login.userID).claims(
            scopes: scopes, requested: authorization.claims.idToken, allowed: client.scopes)
        return try JWT.sign(
            claims.merging(user) { own, _ in own }, type: Self.idType, by: keys.signer(.rs256, at: now))
    }

    private func common(
        _ authorization: Authorization, _ client: Client, seconds: Int, at now: Moment
    ) -> JWT.Claims {
        let login = authorization.login
        return [
            "iss": .string(issuer), "sub": .string(subjects.subject(of: login.userID, for: client)),
            "iat": .int(now.epochSeconds), "exp": .int(now.epochSeconds + seconds),
            "auth_time": .int(login.time.epochSeconds), "acr": .string(UserLogin.acr),
        ]
    }

    /// Returns the claim `at_hash`: the left half of the token's SHA-256, in base64url.
    private static func half(_ token: String) -> String {
        Base64URL.encode(Array(SHA256.hash(Array(token.utf8)).prefix(SHA256.size / 2)))
    }

    /// The contents of an access token that was made here and has not expired.
    struct Access {
        let clientID: String
        let grantID: String
        let scopes: [String]
    }

    func access(_ token: String, at now: Moment) -> Access? {
        guard let claims = try? JWT.verified(token, .es256, type: Self.accessType, by: keys.signers),
            claims["iss"] == .string(issuer), case .int(let end)? = claims["exp"], now.epochSeconds < end,
            case .string(let clientID)? = claims["client_id"], case .string(let grantID)? = claims["gid"],
            case .string(let scope)? = claims["scope"]
        else { return nil }
        return Access(clientID: clientID, grantID: grantID, scopes: scope.split(separator: " ").map(String.init))
    }

    /// Returns the `sub` in an ID token that was made here for this client, also if the token has expired. Nil if it is
    /// not such a token.
    func subject(ofHint token: String, for client: Client) -> String? {
        guard let claims = try? JWT.verified(token, .rs256, type: Self.idType, by: keys.signers),
            claims["iss"] == .string(issuer), claims["aud"] == .string(client.id),
            case .string(let subject)? = claims["sub"]
        else { return nil }
        return subject
    }
}

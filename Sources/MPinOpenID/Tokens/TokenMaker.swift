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

    /// How an access token that was exchanged for another one differs from a client's first one.
    struct Exchange {
        /// The one service that the new token is for. Nil: all those of the client.
        let audience: String?
        /// The lifetime of the new token in seconds.
        let seconds: Int
    }

    /// The text of an access token. The ID token that is issued with it names a half of its hash.
    struct AccessToken {
        let text: String
        /// SHA-256 of the text, 32 bytes.
        let hash: [UInt8]

        init(_ text: String) {
            self.text = text
            hash = SHA256.hash(Array(text.utf8))
        }
    }

    /// Returns a signed access token. `grantID` is written into the token, because the token is refused when that grant
    /// is revoked. `scopes` are those of this token, which may be fewer than were granted. `exchange` is nil if the
    /// token is not issued for another access token.
    func accessToken(
        _ authorization: Authorization, scopes: [String], grantID: String, for client: Client,
        exchange: Exchange? = nil, at now: Moment
    ) throws -> AccessToken {
        let seconds = exchange?.seconds ?? client.lifetimes.accessToken
        var claims = common(authorization, client, seconds: seconds, at: now)
        let audiences = exchange?.audience.map { [$0] } ?? audiences(of: client)
        let listed = audiences.map { JSONValue.string($0) }
        claims["aud"] = listed.count > 1 ? .array(listed) : listed.first
        claims["client_id"] = .string(client.id)
        claims["scope"] = .string(scopes.joined(separator: " "))
        claims["jti"] = .string(Base64URL.encode(try randomBytes(16)))
        claims["gid"] = .string(grantID)
        // Who has exchanged the token acts for the user (RFC 8693 section 4.1). By this claim it is recognised.
        if exchange != nil { claims["act"] = .object(["sub": .string(client.id)]) }
        let token = AccessToken(try JWT.sign(claims, type: Self.accessType, by: keys.signer(.es256, at: now)))
        keys.knownTokens.add(token.hash, claims)
        return token
    }

    /// Returns the audiences that access tokens of the client can have.
    func audiences(of client: Client) -> [String] { client.audiences.isEmpty ? [issuer] : client.audiences }

    /// Returns a signed ID token. `accessToken` is the access token that is issued with it. `nonce` is that of the
    /// authorization request; it is nil in ID tokens that a refresh token was redeemed for. `profile` is the user's. Nil
    /// if the ID token has none of its claims (``wantsProfile(_:for:)``).
    func idToken(
        _ authorization: Authorization, _ profile: Profile?, nonce: String?, accessToken: AccessToken,
        for client: Client, at now: Moment
    ) throws -> String {
        var claims = common(authorization, client, seconds: client.lifetimes.idToken, at: now)
        claims["aud"] = .string(client.id)
        let amr = client.amr == .token ? ["token"] : UserLogin.amr
        claims["amr"] = .array(amr.map { .string($0) })
        claims["at_hash"] = .string(Base64URL.encode(Array(accessToken.hash.prefix(SHA256.size / 2))))
        if let nonce { claims["nonce"] = .string(nonce) }
        if let sessionID = authorization.sessionID { claims["sid"] = .string(sessionID) }
        let user =
            profile.map {
                UserClaims(profile: $0).claims(
                    scopes: client.claimsInIDToken ? authorization.scopes : [],
                    requested: authorization.claims.idToken, allowed: client.scopes)
            } ?? [:]
        return try JWT.sign(
            claims.merging(user) { own, _ in own }, type: Self.idType, by: keys.signer(.rs256, at: now))
    }

    /// Returns whether the ID token may have claims about the user, so that the profile must be read.
    func wantsProfile(_ authorization: Authorization, for client: Client) -> Bool {
        UserClaims.areWanted(
            scopes: client.claimsInIDToken ? authorization.scopes : [], requested: authorization.claims.idToken)
    }

    private func common(
        _ authorization: Authorization, _ client: Client, seconds: Int, at now: Moment
    ) -> JWT.Claims {
        let login = authorization.login
        // There is room for the claims that are added to these.
        var claims = JWT.Claims(minimumCapacity: 16)
        claims["iss"] = .string(issuer)
        claims["sub"] = .string(subjects.subject(of: login.userID, for: client))
        claims["iat"] = .int(now.epochSeconds)
        claims["exp"] = .int(now.epochSeconds + seconds)
        claims["auth_time"] = .int(login.time.epochSeconds)
        claims["acr"] = .string(UserLogin.acr)
        return claims
    }

    /// The contents of an access token that was made here and has not expired. It may have been revoked.
    struct Access {
        /// The claim `jti`.
        let id: String
        let clientID: String
        let grantID: String
        let scopes: [String]
        let audiences: [String]
        /// The claim `exp`, in seconds since 1970.
        let ends: Int
        /// Whether the token was issued for another access token.
        let isExchanged: Bool
        /// All claims of the token.
        fileprivate let allClaims: JWT.Claims

        /// The claims that are for others than this provider.
        var claims: JWT.Claims { allClaims.filter { $0.key != "gid" } }
    }

    func access(_ token: String, at now: Moment) -> Access? {
        guard let claims = claims(of: AccessToken(token)),
            claims["iss"] == .string(issuer), case .int(let end)? = claims["exp"], now.epochSeconds < end,
            case .string(let clientID)? = claims["client_id"], case .string(let grantID)? = claims["gid"],
            case .string(let scope)? = claims["scope"], case .string(let id)? = claims["jti"]
        else { return nil }
        return Access(
            id: id, clientID: clientID, grantID: grantID, scopes: RequestParameters.words(of: scope),
            audiences: Self.texts(claims["aud"]), ends: end, isExchanged: claims["act"] != nil,
            allClaims: claims)
    }

    /// Returns the claims of an access token that was made here. Nil if it is no such token.
    private func claims(of token: AccessToken) -> JWT.Claims? {
        if let known = keys.knownTokens.claims(of: token.hash) { return known }
        guard let claims = try? JWT.verified(token.text, .es256, type: Self.accessType, by: keys.signers) else {
            return nil
        }
        keys.knownTokens.add(token.hash, claims)
        return claims
    }

    /// Returns the texts of a claim that is one text or a list of them.
    private static func texts(_ claim: JSONValue?) -> [String] {
        switch claim {
        case .string(let text)?: [text]
        case .array(let texts)?: texts.compactMap { if case .string(let text) = $0 { text } else { nil } }
        default: []
        }
    }

    /// Returns the `sub` in an ID token that was made here for this client, also if the token has expired. Nil if it is
    /// not such a token.
    func subject(ofHint token: String, for client: Client) -> String? {
        guard let hint = hint(token), hint.clientID == client.id else { return nil }
        return hint.subject
    }

    /// The contents of an ID token that a client sends to name a user or a session (`id_token_hint`).
    struct Hint {
        /// The client that the token was made for.
        let clientID: String
        let subject: String
        /// The browser session of the login. Nil if it had none.
        let sessionID: String?
    }

    /// Returns the contents of an ID token that was made here, also if it has expired. Nil if it is no such token.
    func hint(_ token: String) -> Hint? {
        guard let claims = try? JWT.verified(token, .rs256, type: Self.idType, by: keys.signers),
            claims["iss"] == .string(issuer), case .string(let clientID)? = claims["aud"],
            case .string(let subject)? = claims["sub"]
        else { return nil }
        guard case .string(let sessionID)? = claims["sid"] else {
            return Hint(clientID: clientID, subject: subject, sessionID: nil)
        }
        return Hint(clientID: clientID, subject: subject, sessionID: sessionID)
    }
}

/// Logout tokens (OpenID Connect Back-Channel Logout section 2.4).
extension TokenMaker {
    private static let logoutType = "logout+jwt"
    private static let logoutEvent = "http://schemas.openid.net/event/backchannel-logout"
    /// Lifetime of a logout token, in seconds.
    private static let logoutSeconds = 120

    /// Returns a signed logout token, by which a client learns that a session of its user has ended, or all of them. It
    /// has no nonce, so that no client takes it for an ID token.
    func logoutToken(_ notice: LogoutNotice, for client: Client, at now: Moment) throws -> String {
        var claims: JWT.Claims = [
            "iss": .string(issuer), "aud": .string(client.id),
            "sub": .string(subjects.subject(of: notice.userID, for: client)),
            "iat": .int(now.epochSeconds), "exp": .int(now.epochSeconds + Self.logoutSeconds),
            "jti": .string(Base64URL.encode(try randomBytes(16))),
            "events": .object([Self.logoutEvent: .object([:])]),
        ]
        if let sessionID = notice.sessionID { claims["sid"] = .string(sessionID) }
        return try JWT.sign(claims, type: Self.logoutType, by: keys.signer(.rs256, at: now))
    }
}

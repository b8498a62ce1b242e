package import MPinStore

/// What a user has granted a client. It is stored with a code, and after that with the grant that the code was redeemed
/// for.
package struct Authorization: Sendable, Equatable, Codable {
    package let clientID: String
    package let login: UserLogin
    /// The ``BrowserSession/id`` of the browser session. Nil if the login had none.
    package let sessionID: String?
    package let scopes: [String]
    package private(set) var claims: RequestedClaims
    package let nonce: String?

    /// Whether the client may act while the user is away (OpenID Connect Core section 11).
    package var isOffline: Bool { scopes.contains("offline_access") }

    package init(
        clientID: String, login: UserLogin, sessionID: String?, scopes: [String], claims: RequestedClaims,
        nonce: String?
    ) {
        self.clientID = clientID
        self.login = login
        self.sessionID = sessionID
        self.scopes = scopes
        self.claims = claims
        self.nonce = nonce
    }

    /// Returns the names of the claims that userinfo gives for a token with `scopes`. A token that was issued with fewer
    /// scopes than were granted has no claims of the others.
    func claims(of scopes: [String]) -> [String] {
        let missing = self.scopes.filter { !scopes.contains($0) }
        return claims.limited { !missing.contains($0) }.userinfo
    }

    /// Returns the authorization with those claims only whose scopes are in `allowed`.
    func limited(to allowed: [String]) -> Authorization {
        var rest = self
        rest.claims = claims.limited { allowed.contains($0) }
        return rest
    }
}

/// The authorization codes: 32 random bytes each, of which the store has only the hash. A code is valid once, for a
/// minute.
package struct Codes: Sendable {
    fileprivate struct Record: PackedItem {
        let authorization: Authorization
        let redirectURI: String
        let pkce: PKCE?
        let ends: Moment
        /// The grant that the code was redeemed for. Nil if it was not redeemed yet.
        var grantID: String?
    }

    package static let seconds = 60
    /// The seconds for which a code is remembered after its end, so that a second use can revoke the tokens of the
    /// first.
    static let memory = 3600

    private let table: Table<Record>

    package init(in store: any Store) { table = Table("oidc_code", in: store) }

    package func issue(
        _ authorization: Authorization, redirectURI: String, pkce: PKCE?, at now: Moment
    ) async throws -> OpaqueToken {
        let code = try OpaqueToken.random()
        let ends = now.adding(seconds: Self.seconds)
        let record = Record(authorization: authorization, redirectURI: redirectURI, pkce: pkce, ends: ends)
        _ = try await table.create(code.key, record, expires: ends.adding(seconds: Self.memory), at: now)
        return code
    }

    /// What a client sends to redeem a code.
    package struct Claim: Sendable {
        let code: OpaqueToken
        let clientID: String
        let redirectURI: String
        let verifier: String?
    }

    package enum Outcome: Sendable, Equatable {
        case granted(Authorization)
        /// The code was redeemed before, for this grant.
        case replayed(grantID: String)
        /// There is no valid code for this client, redirect URI and verifier.
        case unknown
    }

    /// Redeems the code for a new grant. If several requests try at once, only one succeeds. A request with the wrong
    /// client, redirect URI or verifier is refused without using the code up.
    package func spend(_ claim: Claim, for grantID: String, at now: Moment) async throws -> Outcome {
        try await table.store.performOnce(
            SpendCode(key: table.key(claim.code.key), claim: claim, grantID: grantID, now: now), at: now, .durable)
    }
}

private struct SpendCode: NamedChange {
    static let name = "spend-code"

    let key: ItemKey
    let claim: Codes.Claim
    let grantID: String
    let now: Moment

    var keys: [ItemKey] { [key] }

    func run(_ items: inout Items) throws -> Codes.Outcome {
        try Table<Codes.Record>.change(&items[key]) { entry in
            guard var record = entry?.value, record.authorization.clientID == claim.clientID,
                record.redirectURI == claim.redirectURI, isProven(record.pkce)
            else { return .unknown }
            if let spent = record.grantID, spent != grantID { return .replayed(grantID: spent) }
            guard now < record.ends else { return .unknown }
            record.grantID = grantID
            entry?.value = record
            return .granted(record.authorization)
        }
    }

    /// Returns whether the verifier fits the challenge of the authorization request, or neither was sent. A verifier
    /// without a challenge is refused, because an attacker may have removed the challenge from the request (RFC 9700
    /// section 4.8).
    private func isProven(_ pkce: PKCE?) -> Bool {
        switch (pkce, claim.verifier) {
        case (nil, nil): true
        case (let pkce?, let verifier?): pkce.admits(verifier)
        default: false
        }
    }
}

extension Authorization: Packable {
    package init(packed members: inout Unpacker) throws {
        clientID = try members.text()
        login = try members.value()
        sessionID = try members.optionalText()
        scopes = try members.texts()
        claims = try members.value()
        nonce = try members.optionalText()
    }

    package func pack(into members: inout Packer) throws {
        members.put(clientID)
        try members.put(login)
        members.put(sessionID)
        members.put(scopes)
        try members.put(claims)
        members.put(nonce)
    }
}

extension Codes.Record {
    init(packed members: inout Unpacker) throws {
        authorization = try members.value()
        redirectURI = try members.text()
        pkce = try members.optionalValue()
        ends = try members.moment()
        grantID = try members.optionalText()
    }

    func pack(into members: inout Packer) throws {
        try members.put(authorization)
        members.put(redirectURI)
        try members.put(pkce)
        members.put(ends)
        members.put(grantID)
    }
}

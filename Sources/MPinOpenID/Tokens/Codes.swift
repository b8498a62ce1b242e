package import MPinStore

/// What a user has granted a client: it stands behind a code, and then behind its tokens.
package struct Authorization: Sendable, Equatable, Codable {
    package let clientID: String
    package let login: UserLogin
    /// The browser's session; nil: there is none.
    package let sessionID: String?
    package let scopes: [String]
    package let claims: RequestedClaims
    package let nonce: String?

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
}

/// The authorization codes: 32 random bytes, kept as their hash, good once for a minute.
package struct Codes: Sendable {
    fileprivate struct Record: Codable, Storable {
        let authorization: Authorization
        let redirectURI: String
        let pkce: PKCE?
        let ends: Moment
        /// The grant that it was spent for.
        var grantID: String?
    }

    package static let seconds = 60
    /// For so long after its end a spent one is known, in seconds, so that a second use revokes what came of the first.
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

    /// What a client hands in.
    package struct Claim: Sendable {
        let code: OpaqueToken
        let clientID: String
        let redirectURI: String
        let verifier: String?
    }

    package enum Outcome: Sendable, Equatable {
        case granted(Authorization)
        /// It has been spent for that grant.
        case replayed(grantID: String)
        /// No live code of that client for that address and verifier.
        case unknown
    }

    /// Spends the code for a new grant: of many that try, one gets it. Who brings the wrong verifier or address spends
    /// nothing.
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

    /// A verifier without a challenge: somebody has taken the challenge out of the request (RFC 9700 section 4.8).
    private func isProven(_ pkce: PKCE?) -> Bool {
        switch (pkce, claim.verifier) {
        case (nil, nil): true
        case (let pkce?, let verifier?): pkce.admits(verifier)
        default: false
        }
    }
}

import MPinSecrets
package import MPinStore

/// What a login with a key pair is for (TRUST wire section 4.8).
package enum LoginScope: String, Sendable {
    /// A browser that waits for the phone.
    case oidc
    /// A token for the app's own server.
    case jwt
    /// A look at the PIN, before the device signs.
    case signing = "dvs-auth"
}

extension ProjectService {
    /// Pass 1. An identity that can never log in again is refused at once, so that its device forgets it; but only for
    /// its own public key, so that nobody else learns of it.
    package func challenge(_ id: MPinID, u: String, publicKey: String, scope: String?) async throws -> String {
        guard let scope = scope.flatMap(LoginScope.init(rawValue:)) else { throw ProjectFault.wrongScope }
        let challenge = try await service.challenge(id, u: u, publicKey: publicKey, scope: scope.rawValue)
        if try await service.isEnded(id, publicKey: publicKey) { throw ServiceError.revoked }
        return challenge
    }

    /// What a login has come to.
    package struct Outcome: Sendable {
        package let verdict: Verdict
        package let scope: LoginScope
        package let userID: String
        /// The id of the identity's project; empty if it has none.
        package let projectID: String
        package let now: Moment
    }

    /// Redeems the one-time token of pass 2, given in hex. Of several callers only one gets the verdict. A login for a
    /// browser is handed over to it, and its token stays until the browser's page takes it.
    package func redeem(_ authOTT: String) async throws -> Outcome {
        let now = now
        let token = try await service.redeemScoped(authOTT.lowercased()) { token in
            try await sessions.find(wid: token.wid, at: now)?.admits(token.mpinID, user: token.userID) ?? true
        }
        guard let scope = token.scope.flatMap(LoginScope.init(rawValue:)) else { throw ServiceError.expiredLogin }
        let project = MPinID(hex: token.mpinID)?.projectID ?? ""
        return Outcome(verdict: token.verdict, scope: scope, userID: token.userID, projectID: project, now: now)
    }
}

extension AuthenticationService {
    /// Whether the identity is revoked, or blocked until the operator ends that, and `publicKey` (hex) is its key.
    fileprivate func isEnded(_ id: MPinID, publicKey: String) async throws -> Bool {
        let record = try await identities.findInEqualTime(id, at: now)
        let hash = SHA256.hash(Hex.decode(publicKey) ?? [])
        let registered = record?.publicKeyHash ?? IdentityRecord.noPublicKey
        let isOwn = constantTimeEqual(hash.span, registered.span)
        return isOwn && (record?.revoked == true || record?.blocked == true)
    }

    /// Redeems the token of a login with a scope. The verdict of a right PIN is `revoked` if the relying party refuses
    /// the user. `isAdmitted` tells whether the session of the token's browser is one for its user.
    fileprivate func redeemScoped(
        _ authOTT: String, _ isAdmitted: (AuthToken) async throws -> Bool
    ) async throws -> AuthToken {
        let now = now
        guard var token = try await tokens.read(authOTT, at: now), token.scope != nil, now < token.expires else {
            throw ServiceError.expiredLogin
        }
        if token.verdict == .right, let id = MPinID(hex: token.mpinID), try await !isPermitted(id) {
            token.verdict = .revoked
        }
        if token.scope == LoginScope.oidc.rawValue {
            guard token.verdict == .right else {
                try await refusal(token, authOTT)
                return token
            }
            guard try await isAdmitted(token) else { throw ServiceError.noWaitingBrowser }
            try await handOver(token, authOTT)
        } else if try await tokens.take(authOTT, at: now) == nil {
            throw ServiceError.expiredLogin
        }
        if token.verdict != .right { try await identities.sync(token, at: now) }
        return token
    }

    private func isPermitted(_ id: MPinID) async throws -> Bool {
        if try await isRevoked(id) { return false }
        return try await permission?(id) == nil
    }
}

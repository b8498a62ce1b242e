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
    /// A code with which the user registers another device.
    case quickCode = "reg-code"
    /// A code for the app's own server, of the OpenID client that has opened the session (before client-js 8).
    case authorizationCode = "authcode"
    /// Digits that the user types elsewhere (before client-js 8.3).
    case oneTimePassword = "otp"
    /// A token with which the device registers an identity for signatures (before client-js 7).
    case signingRegistration = "dvs-reg"
    /// Only the last requests tell what the login is for (TRUST wire section 7.2). No client sends this name.
    case unstated

    /// Whether the login goes to the browser with this name, which waits for it; "0" stands for no browser.
    func isForBrowser(_ wid: String) -> Bool {
        switch self {
        case .oidc, .authorizationCode: true
        case .unstated: wid != "0"
        case .jwt, .signing, .quickCode, .oneTimePassword, .signingRegistration: false
        }
    }
}

extension ProjectService {
    /// Pass 1. An identity that can never log in again is refused at once, so that its device forgets it; but only for
    /// its own public key, so that nobody else learns of it. Without a key pair it is refused at the end of the login.
    package func challenge(
        _ id: MPinID, u: String, ut: String = "", publicKey: String, scope: String?
    ) async throws -> String {
        guard let scope = scope.flatMap(LoginScope.init(rawValue:)), scope != .unstated else {
            throw ProjectFault.wrongScope
        }
        return try await challenge(id, u: u, ut: ut, publicKey: publicKey, scope: scope, registersDevice: false)
    }

    func challenge(
        _ id: MPinID, u: String, ut: String, publicKey: String, scope: LoginScope, registersDevice: Bool
    ) async throws -> String {
        // An identity of the Milagro wire has no key pair and is of no project. Its logins need a time permit.
        guard !publicKey.isEmpty || id.projectID != nil || !service.rules.usesPermits else {
            throw ServiceError.badPublicKey
        }
        // A token for an app names its project.
        guard scope != .jwt || id.projectID != nil else { throw ProjectFault.wrongScope }
        guard scope == .signing || !id.isForSignatures else { throw ProjectFault.wrongScope }
        let challenge = try await service.challenge(
            id, u: u, ut: ut, publicKey: publicKey, scope: scope.rawValue, registersDevice: registersDevice)
        if !publicKey.isEmpty, try await service.isEnded(id, publicKey: publicKey) { throw ServiceError.revoked }
        return challenge
    }

    /// What a login has come to.
    package struct Outcome: Sendable {
        package let verdict: Verdict
        package let scope: LoginScope
        /// The user id, without its name space: the project knows its own users only.
        package let userID: String
        /// The ``MPinID/key`` of the identity.
        package let identity: String
        /// The id of the identity's project; empty if it has none.
        package let projectID: String
        package let now: Moment
        /// "0", or the name of the browser that the login is for.
        package let wid: String
        /// The digits that the user types elsewhere; nil if there are none.
        package let digits: Digits?
        /// If it is there, the login has no effect: the device must register again with this token, and then repeat the
        /// login.
        package let renewal: RenewalToken?
    }

    /// Redeems the one-time token of pass 2, given in hex. Of several callers only one gets the verdict. A login for a
    /// browser is handed over to it, and its token stays until the browser's page takes it. `project` is the id of the
    /// project that the request names. `canRenew`: whether the client can renew its secret.
    package func redeem(
        _ authOTT: String, project: String? = nil, canRenew: Bool = true
    ) async throws -> Outcome {
        let (now, authOTT) = (now, authOTT.lowercased())
        let (token, id, record) = try await service.scopedToken(authOTT)
        guard let scope = token.scope.flatMap(LoginScope.init(rawValue:)) else { throw ServiceError.expiredLogin }
        var renewal: RenewalToken?
        if token.verdict == .right, let id, let record {
            try await endRenewed(by: id, of: record.user)
            if scope == .signingRegistration {
                renewal = try await signingRegistration(record, fallback: project)
            } else if canRenew {
                renewal = try await self.renewal(record, fallback: project)
            }
        }
        try await service.end(token, authOTT, handsOver: scope.isForBrowser(token.wid) && renewal == nil) {
            guard try await service.browsers.isWaiting(token.wid, at: now) else { return false }
            guard let session = try await sessions.find(wid: token.wid, at: now) else { return true }
            // A login is no signature.
            return session.hash.isEmpty && session.admits(token.mpinID, user: token.user.userID)
        }
        var digits: Digits?
        if token.verdict == .right, renewal == nil, let id, let record {
            digits = try await keepDigits(token, scope, of: id, user: record.user)
        }
        return Outcome(
            verdict: token.verdict, scope: scope, userID: token.user.userID, identity: token.id,
            projectID: id?.projectID ?? "", now: now, wid: token.wid,
            digits: digits, renewal: renewal)
    }
}

extension AuthenticationService {
    /// Whether the identity is revoked, blocked until the operator ends that, or has a secret that no D-TA serves any
    /// more, and `publicKey` (hex) is its key.
    fileprivate func isEnded(_ id: MPinID, publicKey: String) async throws -> Bool {
        let record = try await identities.findInEqualTime(id, at: now)
        let hash = SHA256.hash(Hex.decode(publicKey) ?? [])
        let registered = record?.publicKeyHash ?? IdentityRecord.noPublicKey
        guard constantTimeEqual(hash.span, registered.span), let record else { return false }
        // A suspension may end, so pass 2 tells of it. The device forgets an identity that has ended.
        if record.hasEnded || record.blocked && !record.isSuspended { return true }
        return await isRetired(record)
    }

    /// Whether the master secret of the identity has ended, so that it must register again. One that cannot be used now
    /// has not.
    private func isRetired(_ record: IdentityRecord) async -> Bool {
        let renewed = record.renewal == .none ? [] : [record.renewal.keyID]
        for keyID in [record.keyID] + renewed {
            do { if try await keyRing.context(keyID) != nil { return false } } catch { return false }
        }
        return true
    }

    /// Returns the token of a login with a scope, which stays in the store, its M-Pin ID if that is registered, and after
    /// a right PIN the record of its identity. The verdict of a right PIN is `revoked` if the identity has ended or the
    /// relying party refuses the user.
    fileprivate func scopedToken(_ authOTT: String) async throws -> (AuthToken, MPinID?, IdentityRecord?) {
        let now = now
        guard var token = try await tokens.read(authOTT, at: now), token.scope != nil, now < token.expires else {
            throw ServiceError.expiredLogin
        }
        let known = MPinID(hex: token.mpinID)
        guard token.verdict == .right, let id = known else { return (token, known, nil) }
        let record = try await identities.find(id, at: now)
        let refusal = try await permission?(id)
        if record?.isBarred != false || refusal != nil { token.verdict = .revoked }
        return (token, id, record)
    }

    /// Ends the login of a token. With `handsOver` the token of a right PIN goes to the browser that waits for it, if
    /// `isAdmitted` allows it; any other token is taken out of the store, by one caller.
    fileprivate func end(
        _ token: AuthToken, _ authOTT: String, handsOver: Bool, _ isAdmitted: () async throws -> Bool
    ) async throws {
        guard handsOver else {
            guard try await tokens.take(authOTT, at: now) != nil else { throw ServiceError.expiredLogin }
            if token.verdict != .right { try await identities.sync(token, at: now) }
            return
        }
        guard token.verdict == .right else {
            try await refusal(token, authOTT)
            return
        }
        guard try await isAdmitted() else { throw ServiceError.noWaitingBrowser }
        try await handOver(token, authOTT)
    }
}

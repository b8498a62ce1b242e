import Logging
import MPinCrypto
import MPinSecrets
import MPinStore
import MPinWire

extension RelyingPartyService {
    /// Judges a proof, keeps the outcome under a new one-time token, and gives that token to the client.
    ///
    /// Whatever comes out, the steps are the same: claim the challenges, reserve an attempt, compute, settle, use the
    /// challenges up, keep the token.
    func logIn(_ proof: Proof, _ logger: Logger) async throws -> Pass2Response {
        let now = config.clock()
        let (isKnown, claimed) = try await challenges.claim(proof.id, proof: Hex.encode(proof.v), at: now)
        guard !claimed.isEmpty else { throw APIError(.forbidden, "Invalid pass one data") }
        let (reservation, identity) = try await reserve(proof.id, isKnown: isKnown)
        let login = Login(
            proof: proof, isKnown: isKnown, isLost: try await lost.contains(proof.id, at: now), identity: identity,
            claimed: claimed, reservation: reservation, now: now)
        let (verdict, block, answered) = try await judge(login, logger)
        config.audit.record(.login(proof.id, user: identity.userID, status: verdict.status))
        if isKnown { tell(block, proof.id, identity) }
        let authOTT = Hex.encode(try randomBytes(16))
        let otp = proof.wantsOTP ? try randomDigits(6) : nil
        let token = AuthToken(
            key: AuthToken.key(authOTT), id: proof.id.key, mpinID: isKnown ? identity.mpinID : "",
            userID: identity.userID, verdict: verdict, wid: proof.wid,
            // The digits that a wrong PIN gets are good for nothing.
            otp: verdict == .right ? otp ?? "" : "", expires: now.adding(seconds: limits.tokenSeconds),
            registersDevice: answered?.registersDevice == true)
        // One for a browser is known as long as that may wait, so that a late phone hears what is wrong.
        let seconds = limits.accessNumberSeconds + limits.accessNumberGraceSeconds
        let end = proof.wid == "0" ? token.expires : max(token.expires, now.adding(seconds: seconds))
        try await tokens.save(token, until: end, at: now)
        return Pass2Response(authOTT: authOTT, OTP: otp)
    }

    /// Waits for attempts in progress where they are all that the policy leaves: logins of one user at the same time do
    /// not refuse each other.
    private func reserve(_ id: MPinID, isKnown: Bool) async throws -> (Reservation, IdentityRecord) {
        for _ in 0..<limits.busyTries {
            let (reservation, identity, block) = try await identities.reserve(
                id, isKnown: isKnown, at: config.clock())
            if isKnown { tell(block, id, identity) }
            if reservation != .refused(.busy) { return (reservation, identity) }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw APIError(.busy, at: config.clock())
    }

    private struct Login {
        let proof: Proof
        let isKnown: Bool
        /// Whether it may have been registered before a restore.
        let isLost: Bool
        let identity: IdentityRecord
        let claimed: [Challenge]
        let reservation: Reservation
        let now: Moment
    }

    /// Each block is heard of once, whoever comes upon it.
    private func tell(_ block: BegunBlock?, _ id: MPinID, _ identity: IdentityRecord) {
        guard let block else { return }
        config.audit.record(.blocked(id, user: identity.userID, until: block.until))
        metrics.count(.blocked, [block.until == nil ? "permanent" : "temporary"])
    }

    private func judge(_ login: Login, _ logger: Logger) async throws -> (Verdict, BegunBlock?, Challenge?) {
        let (id, isKnown, now) = (login.proof.id, login.isKnown, login.now)
        let context: ServerContext?
        let answered: Challenge?
        do {
            let keys = keys
            context = try await keyRing.context(isKnown ? login.identity.keyID : keys.currentID)
            guard let usable = try context ?? keys.context(keys.currentID) else { throw APIError.internalError }
            let judge = Judge(context: usable, id: id, dates: config.usePermits ? now.permitDates : [0])
            let isJudged = login.reservation == .granted && isKnown && context != nil
            if isJudged { logger.debug("proof judged") }
            answered = try await metrics.timed(.pairingSeconds) {
                try judge.answered(login.claimed, by: isJudged ? login.proof.v : nil)
            }
        } catch {
            if login.reservation == .granted { try await identities.refund(id, isKnown: isKnown, at: now) }
            throw error
        }
        try await challenges.use(answered.map { [$0] } ?? login.claimed, for: id, isKnown: isKnown, at: now)
        if case .refused(let verdict) = login.reservation {
            try await identities.refuse(id, isKnown: isKnown, at: now)
            return (!isKnown && login.isLost ? .retired : verdict, nil, nil)
        }
        guard context != nil, isKnown || !login.isLost else {
            try await identities.refund(id, isKnown: isKnown, at: now)
            return (.retired, nil, nil)
        }
        let (verdict, block) = try await identities.settle(
            id, isKnown: isKnown, isRight: answered != nil, at: now)
        return (verdict, block, answered)
    }
}

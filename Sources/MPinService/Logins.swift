package import Logging
import MPinCrypto
import MPinSecrets
package import MPinStore

/// The two passes of a login, and the redemption of its one-time token.
extension AuthenticationService {
    /// What a client brings to pass 2.
    package struct Proof: Sendable {
        package let id: MPinID
        /// Hex of V: G1 point, 65 bytes.
        package let v: String
        /// "0" for a login on the same device, else the access number or QR id.
        package let wid: String
        /// Whether one-time digits are asked for.
        package let wantsDigits: Bool

        package init(id: MPinID, v: String, wid: String, wantsDigits: Bool) {
            self.id = id
            self.v = v
            self.wid = wid
            self.wantsDigits = wantsDigits
        }
    }

    /// Pass 1: keeps the client's commitment and gives a challenge, 32 bytes in hex, to known and unknown IDs alike. `u` and
    /// `ut`: hex of points of G1; `ut` is nil where the client has no time permit. `registersDevice`: whether the login is
    /// for digits that register another device.
    package func challenge(_ id: MPinID, u: String, ut: String?, registersDevice: Bool) async throws -> String {
        try permitWatch?.requireRight()
        let u = try point(u, "U")
        let ut = ut == nil && !rules.usesPermits ? nil : try point(ut ?? "", "UT")
        var y = [UInt8](repeating: 0, count: MPinSize.scalar)
        var span = y.mutableSpan
        try RandomScalar.generateChallenge(into: &span, random: systemRandom)
        let now = now
        let challenge = Challenge(
            id: id.key, u: Hex.encode(rules.usesPermits ? ut ?? u : u), y: Hex.encode(y),
            expires: now.adding(seconds: limits.pass1Seconds), registersDevice: registersDevice)
        let isKnown = try await identities.isKnown(id, at: now)
        try await challenges.add(challenge, for: id, isKnown: isKnown, at: now)
        return challenge.y
    }

    /// What pass 2 gives the client, right PIN or wrong.
    package struct IssuedToken: Sendable {
        /// 16 bytes in hex.
        package let token: String
        /// Six, only where they were asked for.
        package let digits: String?
    }

    /// Pass 2: judges the proof, keeps the verdict under a new one-time token, and gives that token to the client. Right,
    /// wrong, blocked and unknown get the same answer after the same work.
    ///
    /// Whatever comes out, the steps are the same: claim the challenges, reserve an attempt, compute, settle, use the
    /// challenges up, keep the token.
    package func judge(_ proof: Proof, _ logger: Logger) async throws -> IssuedToken {
        try permitWatch?.requireRight()
        guard proof.wid.utf8.count <= 64 else { throw ServiceError.badBrowserName }
        let v = try point(proof.v, "V")
        let now = now
        let (isKnown, claimed) = try await challenges.claim(proof.id, proof: Hex.encode(v), at: now)
        guard !claimed.isEmpty else { throw ServiceError.noChallenge }
        let (reservation, identity) = try await reserve(proof.id, isKnown: isKnown)
        let login = Login(
            id: proof.id, v: v, isKnown: isKnown, isLost: try await lost.contains(proof.id, at: now),
            identity: identity, claimed: claimed, reservation: reservation, now: now)
        let (verdict, block, answered) = try await judge(login, logger)
        observer(.login(proof.id, user: identity.userID, verdict))
        if isKnown { tell(block, proof.id, identity) }
        return try await issueToken(proof, login, verdict, registersDevice: answered?.registersDevice == true)
    }

    /// Waits for attempts in progress where they are all that the policy leaves: logins of one user at the same time do
    /// not refuse each other.
    private func reserve(_ id: MPinID, isKnown: Bool) async throws -> (Reservation, IdentityRecord) {
        for _ in 0..<limits.busyTries {
            let (reservation, identity, block) = try await identities.reserve(id, isKnown: isKnown, at: now)
            if isKnown { tell(block, id, identity) }
            if reservation != .refused(.busy) { return (reservation, identity) }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw ServiceError.unjudged(.busy)
    }

    private struct Login {
        let id: MPinID
        let v: [UInt8]
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
        if let block { observer(.blocked(id, user: identity.userID, until: block.until)) }
    }

    private func judge(_ login: Login, _ logger: Logger) async throws -> (Verdict, BegunBlock?, Challenge?) {
        let (id, isKnown, now) = (login.id, login.isKnown, login.now)
        let isServed: Bool
        let answered: Challenge?
        do { (isServed, answered) = try await compute(login, logger) } catch {
            if login.reservation == .granted { try await identities.refund(id, isKnown: isKnown, at: now) }
            throw error
        }
        try await challenges.use(answered.map { [$0] } ?? login.claimed, for: id, isKnown: isKnown, at: now)
        if case .refused(let verdict) = login.reservation {
            try await identities.refuse(id, isKnown: isKnown, at: now)
            return (!isKnown && login.isLost ? .retired : verdict, nil, nil)
        }
        guard isServed, isKnown || !login.isLost else {
            try await identities.refund(id, isKnown: isKnown, at: now)
            return (.retired, nil, nil)
        }
        let (verdict, block) = try await identities.settle(
            id, isKnown: isKnown, isRight: answered != nil, at: now)
        return (verdict, block, answered)
    }

    /// Whether the master secret of the identity is still served, and the challenge that the proof answers.
    private func compute(_ login: Login, _ logger: Logger) async throws -> (isServed: Bool, Challenge?) {
        let keys = keys
        let context = try await keyRing.context(login.isKnown ? login.identity.keyID : keys.currentID)
        guard let usable = try context ?? keys.context(keys.currentID) else { throw ServiceError.rotatedMeanwhile }
        let judge = Judge(context: usable, id: login.id, dates: rules.usesPermits ? login.now.permitDates : [0])
        let isJudged = login.reservation == .granted && login.isKnown && context != nil
        if isJudged { logger.debug("proof judged") }
        let start = ContinuousClock.now
        defer { observer(.judged(since: start)) }
        return (context != nil, try judge.answered(login.claimed, by: isJudged ? login.v : nil))
    }

    private func issueToken(
        _ proof: Proof, _ login: Login, _ verdict: Verdict, registersDevice: Bool
    ) async throws -> IssuedToken {
        let text = Hex.encode(try randomBytes(16))
        let digits = proof.wantsDigits ? try randomDigits(6) : nil
        let token = AuthToken(
            key: AuthToken.key(text), id: proof.id.key, mpinID: login.isKnown ? login.identity.mpinID : "",
            userID: login.identity.userID, verdict: verdict, wid: proof.wid,
            // The digits that a wrong PIN gets are good for nothing.
            otp: verdict == .right ? digits ?? "" : "", expires: login.now.adding(seconds: limits.tokenSeconds),
            registersDevice: registersDevice)
        // One for a browser is known as long as that may wait, so that a late phone hears what is wrong.
        let seconds = limits.accessNumberSeconds + limits.accessNumberGraceSeconds
        let end = proof.wid == "0" ? token.expires : max(token.expires, login.now.adding(seconds: seconds))
        try await tokens.save(token, until: end, at: login.now)
        return IssuedToken(token: text, digits: digits)
    }

    /// The octets of a point of G1: 65 bytes, `04`, both coordinates below p, on the curve.
    private func point(_ hex: String, _ name: String) throws(ServiceError) -> [UInt8] {
        guard let octets = Hex.decode(hex), Server.isPoint(octets.span) else { throw .notAPoint(name) }
        return octets
    }
}

extension AuthenticationService {
    /// What the relying party learns about a login.
    package struct LoginReport: Sendable {
        package let verdict: Verdict
        package let userID: String
        /// Hex of the M-Pin ID; empty for one that was never registered.
        package let mpinID: String
        /// Six digits, or nothing.
        package let digits: String
        /// When it was asked.
        package let now: Moment
    }

    /// The relying party redeems a one-time token, in hex. It is told what pass 2 found; nothing is counted or judged here.
    ///
    /// `isOwnPage`: false where no page of the relying party's own asks. A login that was made for a browser is refused
    /// then. `outcome`: what a phone hears of a right PIN.
    package func redeem(
        _ authOTT: String, isOwnPage: Bool, outcome: WaitingBrowser.Outcome
    ) async throws -> LoginReport {
        let now = now
        if !isOwnPage, try await refuses(authOTT, at: now) { throw ServiceError.foreignPage }
        guard let token = try await tokens.take(authOTT, at: now) else { throw ServiceError.expiredLogin }
        if token.verdict != .right {
            try await identities.sync(token, at: now)
        } else if try await !redeem(token, authOTT, outcome, at: now) {
            throw ServiceError.expiredLogin
        } else if token.registersDevice, !token.otp.isEmpty {
            try await issueCode(token, at: now)
        }
        return LoginReport(
            verdict: token.verdict, userID: token.userID, mpinID: token.mpinID, digits: token.otp, now: now)
    }

    /// The digits of that login register another device of its user, unless the relying party refuses the user: who is on
    /// its list must not come back under a new M-Pin ID.
    private func issueCode(_ token: AuthToken, at now: Moment) async throws {
        guard let id = MPinID(hex: token.mpinID), try await permission?(id) == nil else { return }
        try await activationCodes.issue(
            token.otp, user: token.userID, until: now.adding(seconds: limits.tokenSeconds), at: now)
    }
}

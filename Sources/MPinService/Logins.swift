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
            id: id.key, u: rules.usesPermits ? ut ?? u : u, y: y, expires: now.adding(seconds: limits.pass1Seconds),
            registersDevice: registersDevice)
        try await challenges.add(challenge, for: id, at: now)
        return Hex.encode(y)
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
    /// challenges up and keep the token. The first two and the last two are one trip each where the stores are far.
    package func judge(_ proof: Proof, _ logger: Logger) async throws -> IssuedToken {
        try permitWatch?.requireRight()
        guard proof.wid.utf8.count <= 64 else { throw ServiceError.badBrowserName }
        let v = try point(proof.v, "V")
        let now = now
        let (claimed, attempt) = try await begin(proof.id, v, at: now)
        let login = Login(
            proof: proof, v: v, isLost: lost.contains(proof.id), claimed: claimed, attempt: attempt, now: now)
        let judgement: Judgement
        do { judgement = try await compute(login, logger) } catch {
            try await giveBack(attempt, of: proof.id, at: now)
            throw error
        }
        return try await end(login, judgement)
    }

    private struct Login: Sendable {
        let proof: Proof
        let v: [UInt8]
        /// Whether it may have been registered before a restore.
        let isLost: Bool
        let claimed: [Challenge]
        let attempt: Attempt
        let now: Moment

        var id: MPinID { proof.id }
        var identity: IdentityRecord { attempt.record }
    }

    private struct Judgement: Sendable {
        let settlement: Settlement
        /// Nil: what settling comes to.
        var verdict: Verdict?
        var answered: Challenge?
    }

    /// Where both stores are far, both are asked at once. Else the challenges come first: who has none costs nothing more.
    private func begin(_ id: MPinID, _ v: [UInt8], at now: Moment) async throws -> ([Challenge], Attempt) {
        guard areFar else {
            let claimed = try await challenges.claim(id, proof: v, at: now)
            guard !claimed.isEmpty else { throw ServiceError.noChallenge }
            return (claimed, try await reserve(id))
        }
        async let reserving = reserve(id)
        let claimed: [Challenge]
        do {
            claimed = try await challenges.claim(id, proof: v, at: now)
            guard !claimed.isEmpty else { throw ServiceError.noChallenge }
        } catch {
            try await giveBack(reserving, of: id, at: now)
            throw error
        }
        return (claimed, try await reserving)
    }

    private var areFar: Bool { !challenges.isNear && !identities.isNear }

    /// Waits for attempts in progress where they are all that the policy leaves: logins of one user at the same time do
    /// not refuse each other.
    private func reserve(_ id: MPinID) async throws -> Attempt {
        var waited = 0
        while waited < limits.busyMilliseconds {
            let attempt = try await identities.reserve(id, at: now)
            if attempt.isKnown { tell(attempt.block, id, attempt.record) }
            if attempt.reservation != .refused(.busy) { return attempt }
            // A database has others to serve, and nodes that ask in step would go on doing so.
            let pause = identities.isNear ? 5 : Int.random(in: 20...100)
            try await Task.sleep(for: .milliseconds(pause))
            waited += pause
        }
        throw ServiceError.unjudged(.busy)
    }

    private func giveBack(_ attempt: Attempt, of id: MPinID, at now: Moment) async throws {
        guard attempt.reservation == .granted else { return }
        _ = try await identities.settle(attempt, of: id, .notJudged, at: now)
    }

    /// Each block is heard of once, whoever comes upon it.
    private func tell(_ block: BegunBlock?, _ id: MPinID, _ identity: IdentityRecord) {
        if let block { observer(.blocked(id, user: identity.userID, until: block.until)) }
    }

    /// Looks which challenge the proof answers, or does the same work.
    private func compute(_ login: Login, _ logger: Logger) async throws -> Judgement {
        let (keys, isKnown) = (keys, login.attempt.isKnown)
        let context = try await keyRing.context(isKnown ? login.identity.keyID : keys.currentID)
        guard let usable = try context ?? keys.context(keys.currentID) else { throw ServiceError.rotatedMeanwhile }
        let judge = Judge(context: usable, id: login.id, dates: rules.usesPermits ? login.now.permitDates : [0])
        let isJudged = login.attempt.reservation == .granted && isKnown && context != nil
        if isJudged { logger.debug("proof judged") }
        let start = ContinuousClock.now
        let answered = try judge.answered(login.claimed, by: isJudged ? login.v : nil)
        observer(.judged(since: start))
        if case .refused(let verdict) = login.attempt.reservation {
            return Judgement(settlement: .refused, verdict: !isKnown && login.isLost ? .retired : verdict)
        }
        guard context != nil, isKnown || !login.isLost else {
            return Judgement(settlement: .notJudged, verdict: .retired)
        }
        return Judgement(settlement: answered == nil ? .wrong : .right, answered: answered)
    }

    /// Settles the attempt and keeps the token: at once where both stores are far and nobody else's attempt can change the
    /// verdict. A revocation in that time counts as one that came later.
    private func end(_ login: Login, _ judgement: Judgement) async throws -> IssuedToken {
        let (id, attempt) = (login.id, login.attempt)
        guard areFar, judgement.verdict != nil || attempt.record.open == [attempt.id] else {
            let settled = try await identities.settle(attempt, of: id, judgement.settlement, at: login.now)
            let verdict = judgement.verdict ?? settled.0
            tell(login, verdict, settled.1)
            return try await issueToken(login, judgement, verdict)
        }
        let verdict = judgement.verdict ?? identities.foreseen(attempt, judgement.settlement, at: login.now)
        async let settling = identities.settle(attempt, of: id, judgement.settlement, at: login.now)
        let token = try await issueToken(login, judgement, verdict)
        tell(login, verdict, try await settling.1)
        return token
    }

    private func tell(_ login: Login, _ verdict: Verdict, _ block: BegunBlock?) {
        observer(.login(login.id, user: login.identity.userID, verdict))
        if login.attempt.isKnown { tell(block, login.id, login.identity) }
    }

    private func issueToken(_ login: Login, _ judgement: Judgement, _ verdict: Verdict) async throws -> IssuedToken {
        let (proof, isKnown) = (login.proof, login.attempt.isKnown)
        let text = Hex.encode(try randomBytes(16))
        let digits = proof.wantsDigits ? try randomDigits(6) : nil
        let token = AuthToken(
            key: AuthToken.key(text), id: proof.id.key, mpinID: isKnown ? login.identity.mpinID : "",
            userID: login.identity.userID, verdict: verdict, wid: proof.wid,
            // The digits that a wrong PIN gets are good for nothing.
            otp: verdict == .right ? digits ?? "" : "", expires: login.now.adding(seconds: limits.tokenSeconds),
            registersDevice: judgement.answered?.registersDevice == true)
        // One for a browser is known as long as that may wait, so that a late phone hears what is wrong.
        let seconds = limits.accessNumberSeconds + limits.accessNumberGraceSeconds
        let end = proof.wid == "0" ? token.expires : max(token.expires, login.now.adding(seconds: seconds))
        let used = judgement.answered.map { [$0] } ?? login.claimed
        try await tokens.save(token, until: end, using: used, at: login.now)
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
        guard outcome.isStorable else { throw ServiceError.deepLogoutData }
        let now = now
        guard let (token, isLeft) = try await tokens.take(authOTT, leavingBrowsers: !isOwnPage, at: now) else {
            throw ServiceError.expiredLogin
        }
        if isLeft {
            try await noteRefusal(of: token, authOTT, at: now)
            throw ServiceError.foreignPage
        }
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

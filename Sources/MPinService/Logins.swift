package import Logging
import MPinCrypto
import MPinSecrets
package import MPinStore
import Synchronization

/// Ends a reservation's wait for attempts in progress when its result is no longer needed.
final class ReservationWait: Sendable {
    private let ended = Mutex(false)

    var hasEnded: Bool { ended.withLock { $0 } }

    func end() { ended.withLock { $0 = true } }
}

/// The two passes of a login, and the redemption of its one-time token.
extension AuthenticationService {
    /// What a client sends in pass 2.
    package struct Proof: Sendable {
        package let id: MPinID
        /// The proof V in hex: a G1 point, 65 bytes.
        package let v: String
        /// "0" for a login on the same device, else the access number or the id in a QR code.
        package let wid: String
        /// Whether the client asks for one-time digits, which its user types at another place.
        package let wantsDigits: Bool
        /// Whether the login has a scope, as all logins of MIRACL Trust. These need no time permit.
        package let isScoped: Bool

        package init(id: MPinID, v: String, wid: String, wantsDigits: Bool, isScoped: Bool = false) {
            self.id = id
            self.v = v
            self.wid = wid
            self.wantsDigits = wantsDigits
            self.isScoped = isScoped
        }
    }

    /// Pass 1: stores the client's commitment and returns a challenge, 32 bytes in hex, for known and unknown IDs
    /// alike. `u` and `ut` are points of G1 in hex; `ut` is nil if the client has no time permit. `registersDevice`
    /// tells whether the login asks for one-time digits that register another device.
    package func challenge(_ id: MPinID, u: String, ut: String?, registersDevice: Bool) async throws -> String {
        try permitWatch?.requireRight()
        let u = try point(u, "U")
        let ut = ut == nil && !rules.usesPermits ? nil : try point(ut ?? "", "UT")
        return try await keep(
            Challenge(
                id: id.key, u: rules.usesPermits ? ut ?? u : u, y: try newChallenge(), expires: endOfPass1,
                registersDevice: registersDevice), for: id)
    }

    /// Pass 1 of a login with a scope, which tells what the login is for and needs no time permit. `publicKey` is 128
    /// bytes in hex, or empty for an identity without a key pair; it is compared with the registered one when the proof
    /// is judged. `ut` is a point like `u`, or empty; it has no effect.
    package func challenge(
        _ id: MPinID, u: String, ut: String = "", publicKey: String, scope: String, registersDevice: Bool = false
    ) async throws -> String {
        guard let key = Hex.decode(publicKey), key.isEmpty || key.count == MPinSize.g2 else {
            throw ServiceError.badPublicKey
        }
        if !ut.isEmpty { _ = try point(ut, "UT") }
        return try await keep(
            Challenge(
                id: id.key, u: try point(u, "U"), y: try newChallenge(), expires: endOfPass1,
                registersDevice: registersDevice, publicKey: key, scope: scope), for: id)
    }

    private var endOfPass1: Moment { now.adding(seconds: limits.pass1Seconds) }

    /// A random challenge y, 32 bytes.
    private func newChallenge() throws -> [UInt8] {
        var y = [UInt8](repeating: 0, count: MPinSize.scalar)
        var span = y.mutableSpan
        try RandomScalar.generateChallenge(into: &span, random: systemRandom)
        return y
    }

    /// Stores the challenge and returns its y in hex.
    private func keep(_ challenge: Challenge, for id: MPinID) async throws -> String {
        try await challenges.add(challenge, for: id, at: now)
        return Hex.encode(challenge.y)
    }

    /// The answer that a client gets to pass 2, whether the PIN is right or wrong.
    package struct IssuedToken: Sendable {
        /// The one-time token, 16 bytes in hex.
        package let token: String
        /// Six digits if the client asked for them, otherwise nil.
        package let digits: String?
    }

    /// Pass 2: judges the proof, stores the verdict under a new one-time token, and returns that token. A right PIN, a
    /// wrong PIN, a blocked identity and an unknown ID get the same answer after the same work.
    ///
    /// The steps are always the same: claim the challenges, reserve an attempt, compute, settle the attempt, and store
    /// the token while the used challenges are deleted. If both stores are on other machines, the first two steps run
    /// at the same time, and so do the last two.
    package func judge(_ proof: Proof, _ logger: Logger) async throws -> IssuedToken {
        if !proof.isScoped { try permitWatch?.requireRight() }
        guard proof.wid.utf8.count <= 64 else { throw ServiceError.badBrowserName }
        let v = try point(proof.v, "V")
        let now = now
        let (claimed, attempt) = try await begin(proof, v, at: now)
        let login = Login(
            proof: proof, v: v, isLost: lost.contains(proof.id), claimed: claimed, attempt: attempt, now: now)
        let judgement: Judgement
        do { judgement = try await compute(login, logger) } catch {
            try await giveBack(attempt, at: now)
            throw error
        }
        return try await end(login, judgement)
    }

    private struct Login: Sendable {
        let proof: Proof
        let v: [UInt8]
        /// Whether a restore of the database may have lost the registration of this ID.
        let isLost: Bool
        let claimed: [Challenge]
        let attempt: Attempt
        let now: Moment

        var id: MPinID { proof.id }
        var identity: IdentityRecord { attempt.record }
    }

    private struct Judgement: Sendable {
        let settlement: Settlement
        /// The verdict of the login; nil if it is the one that the settlement returns.
        var verdict: Verdict?
        var answered: Challenge?
    }

    /// Claims the challenges and reserves an attempt: at the same time if both stores are on other machines, and
    /// otherwise one after the other, so that a proof without a challenge reserves nothing.
    private func begin(_ proof: Proof, _ v: [UInt8], at now: Moment) async throws -> ([Challenge], Attempt) {
        let id = proof.id
        guard areFar else {
            let claimed = try await challenges.claim(id, proof: v, isScoped: proof.isScoped, at: now)
            guard !claimed.isEmpty else { throw ServiceError.noChallenge }
            return (claimed, try await reserve(id))
        }
        let wait = ReservationWait()
        async let reserving = reserve(id, wait)
        let claimed: [Challenge]
        do {
            claimed = try await challenges.claim(id, proof: v, isScoped: proof.isScoped, at: now)
            guard !claimed.isEmpty else { throw ServiceError.noChallenge }
        } catch {
            wait.end()
            if let attempt = try? await reserving { try await giveBack(attempt, at: now) }
            throw error
        }
        return (claimed, try await reserving)
    }

    private var areFar: Bool { !challenges.isNear && !identities.isNear }

    /// Reserves an attempt. If the attempts in progress are all that the policy allows, it waits until one has ended,
    /// so that simultaneous logins of one user do not refuse each other.
    func reserve(_ id: MPinID, _ wait: ReservationWait = ReservationWait()) async throws -> Attempt {
        var waited = 0
        while waited < limits.busyMilliseconds, !wait.hasEnded {
            let attempt = try await identities.reserve(id, at: now)
            if attempt.isKnown { reportBlock(attempt.block, id, attempt.record) }
            if attempt.reservation != .refused(.busy) { return attempt }
            // A store on another machine also serves others, so it is asked less often. The pause is random, so that
            // several servers do not all ask at the same moments.
            let pause = identities.isNear ? 5 : Int.random(in: 20...100)
            try await StorePatience.counting { try await Task.sleep(for: .milliseconds(pause)) }
            waited += pause
        }
        throw ServiceError.unjudged(.busy)
    }

    /// Gives an attempt back for which nothing was judged. If that fails, for example because the request has no time left,
    /// it is done once more, for which the client does not wait: otherwise the attempt would count as a wrong PIN.
    func giveBack(_ attempt: Attempt, at now: Moment) async throws {
        guard attempt.reservation == .granted else { return }
        do { _ = try await identities.settle(attempt, .notJudged, at: now) } catch {
            Task { [identities] in
                try? await StorePatience.limit { _ = try await identities.settle(attempt, .notJudged, at: now) }
            }
            throw error
        }
    }

    /// Reports a block that has begun. Each block is reported once.
    func reportBlock(_ block: NewBlock?, _ id: MPinID, _ identity: IdentityRecord) {
        if let block { observer(.blocked(id, user: identity.user.text, until: block.until)) }
    }

    /// Finds the challenge that the proof answers. If nothing may be judged, it does the same work and ignores the
    /// result.
    private func compute(_ login: Login, _ logger: Logger) async throws -> Judgement {
        let (keys, isKnown) = (keys, login.attempt.isKnown)
        let context = try await keyRing.context(isKnown ? login.identity.keyID : keys.currentID)
        guard let usable = try context ?? keys.context(keys.currentID) else { throw ServiceError.rotatedMeanwhile }
        let hasPermit = rules.usesPermits && !login.proof.isScoped
        var judge = Judge(
            context: usable, checks: checks, id: login.id, dates: hasPermit ? login.now.permitDates : [0],
            publicKeyHash: login.identity.publicKeyHash)
        let renewal = login.identity.renewal
        if renewal != .none, let context = try await keyRing.context(renewal.keyID) {
            judge.renewal = (renewal.publicKeyHash, context)
        }
        let isServed = context != nil || login.claimed.contains(where: judge.isOfRenewal)
        let isJudged = login.attempt.reservation == .granted && isKnown && isServed
        if isJudged { logger.debug("proof judged") }
        let start = ContinuousClock.now
        let answered = try await judge.answered(login.claimed, by: isJudged ? login.v : nil)
        observer(.judged(since: start))
        if case .refused(let verdict) = login.attempt.reservation {
            return Judgement(settlement: .refused, verdict: !isKnown && login.isLost ? .retired : verdict)
        }
        guard isServed, isKnown || !login.isLost else {
            return Judgement(settlement: .notJudged, verdict: .retired)
        }
        guard let answered else { return Judgement(settlement: .wrong) }
        let settlement: Settlement = judge.isOfRenewal(answered) ? .renewed(renewal.publicKeyHash) : .right
        return Judgement(settlement: settlement, answered: answered)
    }

    /// Settles the attempt and stores the token. Both run at the same time if both stores are on other machines and no
    /// other attempt is in progress: then the verdict is known before the attempt is settled. If another verdict
    /// results nevertheless, the token is stored again, before anybody has it.
    private func end(_ login: Login, _ judgement: Judgement) async throws -> IssuedToken {
        let attempt = login.attempt
        let issued = try newToken(login)
        guard areFar, judgement.verdict != nil || attempt.record.open == [attempt.id] else {
            let settled = try await settle(login, judgement)
            let verdict = judgement.verdict ?? settled.0
            reportLogin(login, verdict, settled.1)
            try await store(issued, login, judgement, verdict)
            return issued
        }
        let expected = judgement.verdict ?? identities.expectedVerdict(attempt, judgement.settlement, at: login.now)
        async let settling = settle(login, judgement)
        var failure: (any Error)?
        do { try await store(issued, login, judgement, expected) } catch { failure = error }
        // The verdict counts and is reported, even if nobody gets the token.
        let (settled, block) = try await settling
        let verdict = judgement.verdict ?? settled
        reportLogin(login, verdict, block)
        if let failure { throw failure }
        if verdict != expected { try await store(issued, login, judgement, verdict) }
        return issued
    }

    private func settle(_ login: Login, _ judgement: Judgement) async throws -> (Verdict, NewBlock?) {
        do { return try await identities.settle(login.attempt, judgement.settlement, at: login.now) } catch {
            observer(.loginLost(login.id, user: login.identity.user.text))
            throw error
        }
    }

    private func reportLogin(_ login: Login, _ verdict: Verdict, _ block: NewBlock?) {
        observer(.login(login.id, user: login.identity.user.text, verdict))
        if login.attempt.isKnown { reportBlock(block, login.id, login.identity) }
    }

    private func newToken(_ login: Login) throws -> IssuedToken {
        let digits = login.proof.wantsDigits ? try randomDigits(6) : nil
        return IssuedToken(token: Hex.encode(try randomBytes(16)), digits: digits)
    }

    /// Stores the verdict under the token, and deletes the used challenges.
    private func store(
        _ issued: IssuedToken, _ login: Login, _ judgement: Judgement, _ verdict: Verdict
    ) async throws {
        let (proof, isKnown) = (login.proof, login.attempt.isKnown)
        let token = AuthToken(
            key: AuthToken.key(issued.token), id: proof.id.key, mpinID: isKnown ? login.identity.mpinID : "",
            userID: login.identity.userID, verdict: verdict, wid: proof.wid,
            // With a wrong PIN the client also gets digits, but they are not stored and have no effect.
            otp: verdict == .right ? issued.digits ?? "" : "", expires: login.now.adding(seconds: limits.tokenSeconds),
            registersDevice: judgement.answered?.registersDevice == true,
            scope: (judgement.answered ?? login.claimed.first)?.scope)
        // The token of a login for a browser is kept as long as that browser may wait, so that a phone that presents it
        // late is told that it has expired, and not that it is unknown.
        let seconds = limits.accessNumberSeconds + limits.accessNumberGraceSeconds
        let end = proof.wid == "0" ? token.expires : max(token.expires, login.now.adding(seconds: seconds))
        let used = judgement.answered.map { [$0] } ?? login.claimed
        try await tokens.save(token, until: end, using: used, at: login.now)
    }

    /// Decodes a G1 point from hex: 65 bytes, of which the first is `04`, with both coordinates below the field's
    /// prime, on the curve. Throws for any other text.
    private func point(_ hex: String, _ name: String) throws(ServiceError) -> [UInt8] {
        guard let octets = Hex.decode(hex), Server.isPoint(octets.span) else { throw .notAPoint(name) }
        return octets
    }
}

extension AuthenticationService {
    /// The answer that the relying party gets about a login.
    package struct LoginReport: Sendable {
        package let verdict: Verdict
        package let user: UserKey
        /// Hex of the M-Pin ID; empty if it was never registered.
        package let mpinID: String
        /// The six one-time digits; empty if there are none.
        package let digits: String
        /// Whether the phone has found the browser by an access number.
        package let isByNumber: Bool
        /// When the relying party asked.
        package let now: Moment
    }

    /// Redeems a one-time token, given in hex, for the relying party, and reports the login with the verdict of pass 2.
    /// The proof was judged and the attempt was counted in pass 2 already.
    ///
    /// `isOwnPage` tells whether a page of the relying party itself asks. If not, the token of a login for a browser is
    /// refused, and stays valid for such a page. `takesProjects`: whether it knows users whom a project's back end has
    /// verified. If not, they are revoked to it. `outcome` is the answer that the phone gets if the PIN is right.
    package func redeem(
        _ authOTT: String, isOwnPage: Bool, takesProjects: Bool = false, outcome: WaitingBrowser.Outcome
    ) async throws -> LoginReport {
        guard outcome.isStorable else { throw ServiceError.deepLogoutData }
        let now = now
        guard let (taken, isLeft) = try await tokens.take(authOTT, leavingBrowsers: !isOwnPage, at: now),
            taken.isForRelyingParty
        else { throw ServiceError.expiredLogin }
        var token = taken
        if token.verdict == .right, !takesProjects, token.user.project != nil { token.verdict = .revoked }
        if isLeft {
            try await noteRefusal(of: token, authOTT, at: now)
            throw ServiceError.foreignPage
        }
        if token.verdict != .right {
            try await identities.sync(token, at: now)
        } else if try await !redeem(token, authOTT, outcome, at: now) {
            throw ServiceError.expiredLogin
        } else if !token.otp.isEmpty {
            try await keepDigits(token, at: now)
        }
        return LoginReport(
            verdict: token.verdict, user: token.user, mpinID: token.mpinID, digits: token.otp,
            isByNumber: AccessNumber.isNumber(token.wid), now: now)
    }

    /// Stores the one-time digits of a login: as a one-time password, or as an activation code, with which the user can
    /// register another device.
    private func keepDigits(_ token: AuthToken, at now: Moment) async throws {
        guard token.registersDevice else {
            return try await passwords.issue(
                token.otp, of: token, until: now.adding(seconds: limits.tokenSeconds), at: now)
        }
        try await issueCode(token, at: now)
    }

    /// Stores nothing if the relying party refuses the user, who must not come back under a new M-Pin ID.
    private func issueCode(_ token: AuthToken, at now: Moment) async throws {
        guard let id = MPinID(hex: token.mpinID), try await permission?(id) == nil else { return }
        try await activationCodes.issue(
            token.otp, user: token.user, until: now.adding(seconds: limits.tokenSeconds), at: now)
    }
}

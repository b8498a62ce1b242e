package import MPinStore

/// An identity that this server registered, and its wrong PINs. No secret of it is here.
package struct IdentityRecord: Codable, Sendable, Equatable {
    /// Hex of the M-Pin ID.
    package var mpinID: String
    package var userID: String
    /// The master secret that its client secret comes from.
    package var keyID: String
    package var registered: Moment
    /// Wrong PINs since the last right one, or since the end of the last temporary block.
    package var attempts = 0
    /// Attempts that are being judged.
    package var inProgress = 0
    /// Wrong PINs since the last right one.
    package var failuresSinceSuccess = 0
    /// Logins that were refused without being judged.
    package var refused = 0
    /// When a login was last begun.
    package var lastAttempt: Moment?
    package var blockedUntil: Moment?
    /// For good, by wrong PINs.
    package var blocked = false
    /// For good, by the operator.
    package var revoked = false
    /// Whether its PIN was right at least once: its shares are handed out no more.
    package var isProven = false

    package init(mpinID: String, userID: String, keyID: String, registered: Moment) {
        self.mpinID = mpinID
        self.userID = userID
        self.keyID = keyID
        self.registered = registered
    }

    private enum CodingKeys: String, CodingKey {
        case mpinID, userID, keyID, registered, attempts, inProgress, failuresSinceSuccess, refused, lastAttempt
        case blockedUntil, blocked, revoked, isProven
    }

    /// Members that came later, or are at rest, may be missing.
    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        mpinID = try members.decode(String.self, forKey: .mpinID)
        userID = UserID.normal(try members.decode(String.self, forKey: .userID))
        keyID = try members.decode(String.self, forKey: .keyID)
        registered = Moment(microseconds: try members.decode(Int64.self, forKey: .registered))
        attempts = try members.decodeIfPresent(Int.self, forKey: .attempts) ?? 0
        inProgress = try members.decodeIfPresent(Int.self, forKey: .inProgress) ?? 0
        failuresSinceSuccess = try members.decodeIfPresent(Int.self, forKey: .failuresSinceSuccess) ?? 0
        refused = try members.decodeIfPresent(Int.self, forKey: .refused) ?? 0
        lastAttempt = try members.decodeIfPresent(Int64.self, forKey: .lastAttempt).map(Moment.init)
        blockedUntil = try members.decodeIfPresent(Int64.self, forKey: .blockedUntil).map(Moment.init)
        blocked = try members.decodeIfPresent(Bool.self, forKey: .blocked) ?? false
        revoked = try members.decodeIfPresent(Bool.self, forKey: .revoked) ?? false
        isProven = try members.decodeIfPresent(Bool.self, forKey: .isProven) ?? false
    }
}

extension IdentityRecord {
    /// With every count and mark, also those at rest: each login reads and writes a record twice, and the time must not tell
    /// what became of the logins before it.
    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(mpinID, forKey: .mpinID)
        try members.encode(userID, forKey: .userID)
        try members.encode(keyID, forKey: .keyID)
        try members.encode(registered.microseconds, forKey: .registered)
        let counts = [
            (attempts, CodingKeys.attempts), (inProgress, .inProgress), (failuresSinceSuccess, .failuresSinceSuccess),
            (refused, .refused),
        ]
        for (count, key) in counts { try members.encode(count, forKey: key) }
        try members.encodeIfPresent(lastAttempt?.microseconds, forKey: .lastAttempt)
        try members.encodeIfPresent(blockedUntil?.microseconds, forKey: .blockedUntil)
        try members.encode(blocked, forKey: .blocked)
        try members.encode(revoked, forKey: .revoked)
        try members.encode(isProven, forKey: .isProven)
    }

    /// Takes one attempt before anything is judged: however many proofs come at once, no more of them are judged than
    /// the policy allows wrong ones.
    package mutating func reserve(_ policy: AttemptPolicy, at now: Moment) -> Reservation {
        countLost(policy, at: now)
        endBlock(at: now)
        let refusal = refusal(policy, at: now)
        guard refusal != nil || attempts + inProgress < policy.maxAttempts else { return .refused(.busy) }
        lastAttempt = now
        if let refusal { return .refused(refusal) }
        inProgress += 1
        return .granted
    }

    /// Settles a reserved attempt with a right PIN.
    package mutating func succeed() -> Verdict {
        inProgress = max(0, inProgress - 1)
        isProven = true
        // Blocked or revoked since then, it stays so.
        if !blocked, blockedUntil == nil { (attempts, failuresSinceSuccess, refused) = (0, 0, 0) }
        return revoked ? .revoked : .right
    }

    /// Settles a reserved attempt with a wrong PIN. The one that reaches the limit is told so.
    package mutating func fail(_ policy: AttemptPolicy, at now: Moment) -> Verdict {
        inProgress = max(0, inProgress - 1)
        count(1)
        return refusal(policy, at: now) ?? .wrong(left: attemptsLeft(policy))
    }

    private func attemptsLeft(_ policy: AttemptPolicy) -> Int {
        let left = policy.maxAttempts - attempts
        return max(0, policy.block == .permanent ? left : min(left, policy.maxFailures - failuresSinceSuccess))
    }

    /// The block that has begun since the record was that `earlier` one; nil: none has.
    package func block(since earlier: IdentityRecord) -> BegunBlock? {
        if blocked { return earlier.blocked ? nil : BegunBlock(until: nil) }
        return blockedUntil == earlier.blockedUntil ? nil : blockedUntil.map { BegunBlock(until: $0) }
    }

    /// Gives an attempt back that was not judged.
    package mutating func refund() { inProgress = max(0, inProgress - 1) }

    package mutating func unblock() {
        (attempts, inProgress, failuresSinceSuccess, refused) = (0, 0, 0, 0)
        (blocked, blockedUntil) = (false, nil)
    }

    /// What every login comes to now; nil where proofs are judged. Blocks where the limit is reached.
    private mutating func refusal(_ policy: AttemptPolicy, at now: Moment) -> Verdict? {
        if attempts >= policy.maxAttempts, !blocked, blockedUntil == nil {
            switch policy.block {
            case .permanent: blocked = true
            case .temporary(let seconds): blockedUntil = now.adding(seconds: seconds)
            }
        }
        if policy.block != .permanent, failuresSinceSuccess >= policy.maxFailures { blocked = true }
        if revoked { return .revoked }
        if blocked { return .blocked(until: nil) }
        return blockedUntil.map { .blocked(until: $0) }
    }

    /// What was in progress when the process ended may have been judged.
    private mutating func countLost(_ policy: AttemptPolicy, at now: Moment) {
        guard inProgress > 0, let lastAttempt, lastAttempt.adding(seconds: policy.lostSeconds) < now else { return }
        count(inProgress)
        inProgress = 0
    }

    private mutating func endBlock(at now: Moment) {
        guard let blockedUntil, blockedUntil <= now else { return }
        self.blockedUntil = nil
        attempts = 0
    }

    private mutating func count(_ wrong: Int) {
        attempts += wrong
        failuresSinceSuccess += wrong
    }
}

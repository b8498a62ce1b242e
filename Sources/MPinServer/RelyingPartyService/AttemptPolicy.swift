package import MPinStore

/// How many wrong PINs an identity has before it is blocked, and how.
package struct AttemptPolicy: Sendable, Equatable {
    package enum Block: Sendable, Equatable {
        /// For good, until the operator unblocks it: clients are told 410 and erase their token.
        case permanent
        /// For so many seconds: clients are told 429.
        case temporary(seconds: Int)
    }

    /// Wrong PINs in a row that block an identity.
    package var maxAttempts = 3
    package var block = Block.permanent
    /// Wrong PINs without a right one in between that block for good, however many temporary blocks lie between them.
    package var maxFailures = 20
    /// Seconds after which an attempt in progress has ended with the process that judged it.
    package var lostSeconds = 10

    package init() {}
}

/// What a login came to, for who presents its one-time token.
package struct Verdict: Codable, Sendable, Equatable {
    /// 200 right PIN, 401 wrong PIN, 409 retired key, 410 blocked or revoked, 429 blocked until ``retryAt``.
    package var status: Int
    package var retryAt: Moment?
    /// Of a wrong PIN: how many more may be wrong before the block.
    package var attemptsLeft: Int?

    package init(status: Int, retryAt: Moment? = nil, attemptsLeft: Int? = nil) {
        self.status = status
        self.retryAt = retryAt
        self.attemptsLeft = attemptsLeft
    }
}

/// A block by wrong PINs, at its beginning.
package struct BegunBlock: Sendable, Equatable {
    /// nil: for good.
    package let until: Moment?

    package init(until: Moment?) { self.until = until }
}

/// Whether a proof may be judged.
package enum Reservation: Sendable, Equatable {
    /// One attempt is taken; what is judged must be settled.
    case granted
    /// Nothing may be judged; this is what the login comes to.
    case refused(Verdict)
    /// All attempts that are left are in progress: whether there is one more is seen when they have ended.
    case busy
}

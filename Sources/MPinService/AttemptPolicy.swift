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

/// A block by wrong PINs, at its beginning.
package struct BegunBlock: Sendable, Equatable {
    /// nil: for good.
    package let until: Moment?

    package init(until: Moment?) { self.until = until }
}

/// How an attempt ended that was reserved, or refused.
package enum Settlement: Sendable, Equatable {
    case right
    case wrong
    /// It was refused without being judged; counting that is as much work as the others.
    case refused
    /// It is given back.
    case notJudged
}

/// Whether a proof may be judged.
package enum Reservation: Sendable, Equatable {
    /// One attempt is taken; what is judged must be settled.
    case granted
    /// Nothing may be judged; this is what the login comes to, unless it is `busy` and waits.
    case refused(Verdict)
}

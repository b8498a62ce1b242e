package import MPinStore

/// How many wrong PINs block an identity, and for how long.
package struct AttemptPolicy: Sendable, Equatable {
    package enum Block: Sendable, Equatable {
        /// The block lasts until the operator ends it. Clients get the HTTP status 410; old clients then erase their
        /// token.
        case permanent
        /// The block lasts for this many seconds. Clients get the HTTP status 429.
        case temporary(seconds: Int)
    }

    /// The number of wrong PINs in a row that blocks an identity.
    package var maxAttempts = 3
    package var block = Block.permanent
    /// The number of wrong PINs since the last right one that blocks an identity permanently, even if temporary blocks
    /// have ended in between.
    package var maxFailures = 20
    /// Seconds after which an attempt in progress counts as wrong, because the process that judged it must have ended.
    package var lostSeconds = 10

    package init() {}
}

/// A block that has just begun because of wrong PINs.
package struct NewBlock: Sendable, Equatable {
    /// When the block ends; nil if only the operator can end it.
    package let until: Moment?

    package init(until: Moment?) { self.until = until }
}

/// How an attempt has ended.
package enum Settlement: Sendable, Equatable {
    case right
    /// Right, with the key with which the device renews its secret, whose SHA-256 this is.
    case renewed([UInt8])
    case wrong
    /// The login was refused without being judged. The refusal is counted, so that it costs as much work as the other
    /// cases.
    case refused
    /// Nothing was judged, because of an error, so the attempt does not count.
    case notJudged
}

/// The answer to a reservation: whether a proof may be judged.
package enum Reservation: Sendable, Equatable {
    /// One attempt is reserved. The caller must end the attempt with ``Identities/settle(_:_:at:)``.
    case granted
    /// Nothing may be judged. The login gets this verdict, but with `busy` the caller waits and asks for a reservation
    /// again.
    case refused(Verdict)
}

package import MPinStore

/// What the operator decides about registrations and logins.
package struct ServiceRules: Sendable {
    /// When wrong PINs block an identity, and for how long.
    package var attempts = AttemptPolicy()
    /// Whether logins need a time permit of the day.
    package var usesPermits = true
    /// Whether the last D-TA's permit shares are kept and handed out.
    package var keepsPermits = false
    /// Whether access numbers have a seventh digit that finds a mistyped one.
    package var checksNumbers = true
    /// Whether a phone waits until the relying party has said what it made of the login, not only until it has asked about
    /// it.
    package var waitsForResult = false
    package var limits = ServiceLimits()
    package var clock: Clock = Moment.now

    package init() {}
}

/// How long things live and how many there may be.
package struct ServiceLimits: Sendable {
    /// Longest user id in bytes of UTF-8: the longest mail address (RFC 5321 section 4.5.3.1).
    package var userIDBytes = 254
    /// Seconds that a registration waits for its confirmation.
    package var registrationSeconds = 3600
    /// Seconds in which a finished registration hands its shares out again to the holder of the same token.
    package var refetchSeconds = 300
    /// Seconds from pass 1 to pass 2.
    package var pass1Seconds = 15
    /// Pass 1 records of one identity that live at the same time; the oldest goes first.
    package var pass1Records = 4
    /// Milliseconds that a login waits, at the most, while others of the same identity take up all attempts that are left.
    package var busyMilliseconds = 2_000
    /// There are 2 to this power places for the logins on IDs that were never registered.
    package var strangerBits = 13
    /// Seconds from pass 2 to authenticate.
    package var tokenSeconds = 60
    /// Seconds that an access number or a QR code is shown.
    package var accessNumberSeconds = 300
    /// Seconds that it is good for after that.
    package var accessNumberGraceSeconds = 5
    /// Numbers that are drawn, at most, to find one that no browser has.
    package var accessNumberTries = 100
    /// Seconds that a phone waits for its page.
    package var waitSeconds = 10
    /// Seconds that a page waits for its phone, at most: the longer, the less its asking costs; proxies cut off what takes
    /// a minute.
    package var pageWaitSeconds = 30
    /// Seconds between two looks at what the D-TAs serve: too few for three wrong PINs where one of them has lost its
    /// share.
    package var keyWatchSeconds = 10
    /// Seconds between two looks at the D-TAs' time permits.
    package var permitCheckSeconds = 30
    /// Tries, one a second, to get the server secret shares at start.
    package var gatherTries = 30

    package init() {}
}

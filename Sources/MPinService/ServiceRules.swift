package import MPinStore

/// The operator's decisions about registrations and logins.
package struct ServiceRules: Sendable {
    /// When wrong PINs block an identity, and for how long.
    package var attempts = AttemptPolicy()
    /// Whether logins need a time permit of the day.
    package var usesPermits = true
    /// Whether the last D-TA's permit shares are stored and handed out to clients.
    package var keepsPermits = false
    /// Whether access numbers have a seventh digit, which reveals most typing mistakes.
    package var checksNumbers = true
    /// Whether a phone waits until the relying party has confirmed or refused the login. Otherwise it waits only until
    /// the relying party has redeemed the token.
    package var waitsForResult = false
    package var limits = ServiceLimits()
    package var clock: Clock = Moment.now
    /// Lets other tasks run before proofs are checked (`JointChecks`).
    package var pause: @Sendable () async -> Void = { await Task.yield() }

    package init() {}
}

/// Lifetimes and largest numbers of things. Times are in seconds unless the name tells another unit.
package struct ServiceLimits: Sendable {
    /// Longest user id in bytes of UTF-8: the longest mail address (RFC 5321 section 4.5.3.1).
    package var userIDBytes = 254
    /// Seconds that a registration waits for its confirmation.
    package var registrationSeconds = 3600
    /// Seconds for which a finished registration hands out its shares again to the holder of the same token.
    package var refetchSeconds = 300
    /// How many wrong codes of six digits there may be for one mailbox in a day. Then no code is looked at any more, and
    /// mails have only links.
    package var wrongCodesPerDay = 20
    /// Seconds for which a challenge of pass 1 waits for its pass 2.
    package var pass1Seconds = 15
    /// The number of challenges of one identity that are valid at the same time. A new one replaces the oldest.
    package var pass1Records = 4
    /// Milliseconds for which a login waits at most while all remaining attempts of its identity are in progress.
    package var busyMilliseconds = 2_000
    /// The number of slots for logins with IDs that were never registered is 2 to this power.
    package var strangerBits = 13
    /// Seconds from pass 2 until the relying party must have redeemed the token.
    package var tokenSeconds = 60
    /// Seconds for which an access number or a QR code is shown.
    package var accessNumberSeconds = 300
    /// Seconds for which a login by an access number or a QR code is still accepted after the page has stopped showing
    /// it.
    package var accessNumberGraceSeconds = 5
    /// How many access numbers are tried to find one that is free.
    package var accessNumberTries = 100
    /// Seconds for which a phone waits until the relying party has decided about its login for a browser.
    package var waitSeconds = 10
    /// The most seconds for which a page's request waits for news from the phone. A longer time needs fewer requests,
    /// but proxies break off requests that take a minute.
    package var pageWaitSeconds = 30
    /// Seconds between two checks of the D-TAs' master secrets. The time is so short that a share that a D-TA has lost
    /// is noticed before a user can enter three PINs, which would all be judged wrong.
    package var keyWatchSeconds = 10
    /// Seconds between two checks of the D-TAs' time permits.
    package var permitCheckSeconds = 30
    /// How many times the server tries at the start to get the server secret shares, with a try each second.
    package var gatherTries = 30

    package init() {}
}

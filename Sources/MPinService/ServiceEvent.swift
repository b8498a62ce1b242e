package import MPinStore

/// Something that the service has done or refused, for logs and counters.
package enum ServiceEvent: Sendable {
    /// A registration waits for its confirmation.
    case registrationStarted(MPinID, user: String, isRestart: Bool)
    /// The user may not register, or the question failed.
    case registrationRefused(MPinID, user: String, any Error)
    case registrationConfirmed(MPinID, user: String)
    /// Somebody brought a wrong activation key.
    case confirmationRefused(MPinID, user: String)
    /// Whoever has the mail's link has deleted it.
    case registrationDeleted(MPinID, user: String)
    /// The client secret shares were handed out.
    case registered(MPinID, user: String, keyID: String)
    /// A proof was looked at, right or wrong, since that instant.
    case judged(since: ContinuousClock.Instant)
    /// What a login came to. The user is empty for an ID that was never registered.
    case login(MPinID, user: String, Verdict)
    /// The wrong PIN that reached the limit. Nil: for good.
    case blocked(MPinID, user: String, until: Moment?)
    /// A time permit was given, or refused with that error. The user is nil for a stranger.
    case permit(MPinID, user: String?, refusal: (any Error)?)
    /// A new master secret is in use.
    case keyInUse(String)
    /// The time permits of that D-TA open nothing, or do so again.
    case permits(of: String, areRight: Bool)
}

/// Hears of all events, in the task in which they happen. It must not hold the task up.
package typealias ServiceObserver = @Sendable (ServiceEvent) -> Void

package import MPinStore

/// Something that the service has done or refused, for logs and counters.
///
/// `user` is ``UserKey/text``.
package enum ServiceEvent: Sendable {
    /// A registration waits for its confirmation.
    case registrationStarted(MPinID, user: String, isRestart: Bool)
    /// The relying party refused the user, or could not be asked.
    case registrationRefused(MPinID, user: String, any Error)
    case registrationConfirmed(MPinID, user: String)
    /// Somebody presented a wrong activation key.
    case confirmationRefused(MPinID, user: String)
    /// The owner of the link in the mail has deleted the registration.
    case registrationDeleted(MPinID, user: String)
    /// The client secret shares were handed out. `secretHash` is ``MPinID/secretHash(publicKey:)``.
    case registered(MPinID, user: String, keyID: String, secretHash: [UInt8])
    /// A device has made a code with which its user can register another device.
    case quickCodeMade(MPinID, user: String)
    /// The identity was renewed: the second one has logged in, so the first one never can again.
    case renewed(MPinID, user: String, by: MPinID)
    /// The identity was found to be of a user of a project (`UserSeparation`). `isGuess`: whether nothing tells where it
    /// comes from.
    case separated(MPinID, user: String, isGuess: Bool)
    /// A proof was judged, or the same work was done without judging one. It began at the instant `since` and has just
    /// ended.
    case judged(since: ContinuousClock.Instant)
    /// The verdict of a login. The user is empty if the ID was never registered.
    case login(MPinID, user: String, Verdict)
    /// The verdict of a login could not be kept, because a store failed, so nobody is told. If an attempt was reserved, it
    /// counts as a wrong PIN, unless the store has kept the verdict without saying so. The user is empty if the ID was
    /// never registered.
    case loginLost(MPinID, user: String)
    /// The verdict about a signature. The user is empty if the ID was never registered.
    case signature(MPinID, user: String, Verdict)
    /// Wrong PINs have blocked an identity. `until` is nil if only the operator can end the block.
    case blocked(MPinID, user: String, until: Moment?)
    /// A time permit was given, or refused with that error. The user is nil if the ID was never registered.
    case permit(MPinID, user: String?, refusal: (any Error)?)
    /// A new master secret is in use.
    case keyInUse(String)
    /// The time permits of the named D-TA are wrong, or are right again.
    case permits(of: String, areRight: Bool)
}

/// A function that is called with each event, in the task in which the event happens. It must return at once.
package typealias ServiceObserver = @Sendable (ServiceEvent) -> Void

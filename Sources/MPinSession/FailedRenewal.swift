import MPinHTTP
package import MPinSDK
package import MPinWire

/// What a caller needs of the tokens.
package struct Need: Sendable {
    /// The scopes, in any order; nil: those of the session.
    var scope: String?
    /// How long the access token must still be valid, in seconds.
    var minTTL: Int64 = 60
    /// An access token that an API has refused, or that is to be replaced.
    var rejected: SecretText?

    package init(scope: String? = nil, minTTL: Int64 = 60, rejected: SecretText? = nil) {
        self.scope = scope
        self.minTTL = minTTL
        self.rejected = rejected
    }

    func isMet(by session: SessionRecord, now: Int64) -> Bool {
        session.isValid(for: minTTL, now: now) && session.hasScope(scope) && session.accessToken != rejected
    }
}

/// A renewal that has failed. Those who have waited for it get its error, and so does everybody else until the time at
/// which the provider wants to be asked again (RFC 9110 section 10.2.3).
package struct FailedRenewal: Sendable {
    /// When it failed, in nanoseconds of the monotonic clock.
    let moment: UInt64
    let error: SDKError
    let need: Need
    /// The id of the session that was to be renewed; nil if nobody was logged in.
    let session: String?
    /// What a provider can ask for at most, in seconds.
    private static let maxPause: Int64 = 300

    package init(moment: UInt64, error: SDKError, need: Need, session: String?) {
        self.moment = moment
        self.error = error
        self.need = need
        self.session = session
    }

    /// Whether a caller with this need, who has come at the time `asked`, gets the error.
    package func answers(_ need: Need, _ session: String?, asked: UInt64) -> Bool {
        guard session == self.session else { return false }
        return moment > asked && isDue(to: need) || pause.remainingMilliseconds() > 0
    }

    /// Others may get what one cannot: other scopes, or a shorter time.
    private func isDue(to need: Need) -> Bool {
        guard error.status == .largeMinTTL || error.status == .renewFailed else { return true }
        return need.scope == self.need.scope && need.minTTL == self.need.minTTL
    }

    /// Until when the provider wants not to be asked again.
    private var pause: Deadline {
        let isWanted = error.status == .tooManyRequests || error.status == .httpServerError
        let seconds = isWanted ? max(0, min(error.server.retryAfter ?? 0, Self.maxPause)) : 0
        return .after(milliseconds: UInt32(clamping: seconds * 1000), now: moment)
    }
}

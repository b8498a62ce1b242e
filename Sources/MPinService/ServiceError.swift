/// Why the service does not do what it is asked. Each face of the server spells it in the words of its wire.
package enum ServiceError: Error, Sendable, Equatable {
    /// Nothing was judged: the verdict is `busy` or `unavailable`.
    case unjudged(Verdict)

    // Registrations
    /// The token of the registration is missing or wrong.
    case wrongRegistrationToken
    case registrationOfAnotherUser
    case wrongActivationCode
    /// There is none, or it has expired, or its shares were handed out.
    case noPendingRegistration
    case wrongActivationKey
    /// There is none that hands out shares to who holds that token.
    case noShares
    case notConfirmed
    /// A user id that nobody may have, and why: "must have 1 to 254 bytes".
    case badUserID(String)

    // Trust authorities
    case noShareFromAuthority
    /// The master secret was replaced between two steps of a registration. Asking again mends it.
    case rotatedMeanwhile

    // Logins
    /// That is no point of the curve: the name of the value.
    case notAPoint(String)
    /// The name of the browser is longer than any.
    case badBrowserName
    /// No live challenge for that proof.
    case noChallenge
    /// The one-time token is unknown or used, or its time is over.
    case expiredLogin
    /// No page of the site itself has presented the login for a browser.
    case foreignPage
    /// The relying party's data for the logout have more levels than can be stored.
    case deepLogoutData
    /// By the operator.
    case revoked

    // Browsers that wait for a phone
    /// No such browser waits, or another phone was first.
    case noWaitingBrowser
    /// A right PIN that was brought when its token had expired.
    case lateProof
    /// The phone has waited in vain for what becomes of its login.
    case noOutcome
    /// All numbers that were drawn are in use.
    case noFreeNumber
    /// No status that a phone may report.
    case badReport
}

/// Why the server does not start, in one line for a person.
package struct StartError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

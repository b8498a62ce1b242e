/// Why the service refuses a request. Each HTTP interface of the server turns the error into an answer of its wire
/// protocol.
package enum ServiceError: Error, Sendable, Equatable {
    /// Nothing was judged: the verdict is `busy` or `unavailable`.
    case unjudged(Verdict)

    // Registrations
    /// The token of the registration is missing or wrong.
    case wrongRegistrationToken
    case registrationOfAnotherUser
    case wrongActivationCode
    /// There is no registration, or it has expired, or its shares were handed out.
    case noPendingRegistration
    case wrongActivationKey
    /// The registration does not exist, has another token, or does not hand out its shares any more.
    case noShares
    case notConfirmed
    /// The operator has suspended the user.
    case suspended
    /// The user id is not allowed. The text tells why: "must have 1 to 254 bytes".
    case badUserID(String)

    // Trust authorities
    case noShareFromAuthority
    /// The master secret was replaced between two steps. The client can repeat the request.
    case rotatedMeanwhile

    // Logins
    /// The value with this name, such as "V", is not a point of the curve.
    case notAPoint(String)
    /// The public key is not a point of G2 of order r.
    case badPublicKey
    /// The name of the browser is too long.
    case badBrowserName
    /// There is no valid challenge that the proof could answer.
    case noChallenge
    /// The one-time token is unknown, used or expired.
    case expiredLogin
    /// The token of a login for a browser was not presented by a page of the relying party.
    case foreignPage
    /// The relying party's data for the logout have more levels than can be stored.
    case deepLogoutData
    /// The operator has revoked the identity.
    case revoked

    // Browsers that wait for a phone
    /// No browser waits under that name, or another phone has logged it in.
    case noWaitingBrowser
    /// The PIN was right, but its token was presented too late.
    case lateProof
    /// The phone has waited, but the relying party has not decided about its login.
    case noOutcome
    /// All access numbers that were tried are in use.
    case noFreeNumber
    /// A phone may not report that status.
    case badReport
}

/// Why the server does not start, in one line for the operator.
package struct StartError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

import HTTPTypes
import MPinService
package import MPinStore

/// The answers of the Milagro protocol for each verdict (wire section 7), which are defined only here.
extension Verdict {
    /// The HTTP status.
    package var status: Int {
        switch self {
        case .right: 200
        case .wrong: 401
        case .retired: 409
        case .blocked(until: nil), .revoked: 410
        case .blocked: 429
        case .busy, .unavailable: 503
        }
    }

    /// The text that the RPA may show.
    package var message: String {
        switch self {
        case .right: "Authentication successful"
        case .wrong, .blocked(until: nil), .revoked: "Wrong PIN."
        case .retired: "Client secret expired: register again"
        case .blocked: "Too many wrong PINs"
        case .busy: "Too many logins of one identity"
        case .unavailable(.masterSecret): "The trust authorities do not have the master secret of this identity"
        case .unavailable(.permits): "A trust authority gives wrong time permits"
        }
    }

    /// Seconds after which another try makes sense; nil if this is unknown, or no try ever will.
    package func retryAfter(at now: Moment) -> Int? {
        switch self {
        case .blocked(let until): until?.secondsFrom(now)
        case .busy: 1
        case .unavailable(.masterSecret): 60
        case .unavailable(.permits): 30
        case .right, .wrong, .revoked, .retired: nil
        }
    }

    /// How many more PINs may be wrong before the block; nil unless the PIN was wrong.
    var attemptsLeft: Int? { if case .wrong(let left) = self { left } else { nil } }
}

extension APIError {
    /// The verdict as an answer. `tellsLeft`: whether the answer to a wrong PIN contains the number of attempts left.
    init(_ verdict: Verdict, at now: Moment, tellsLeft: Bool = false) {
        self.init(
            .init(code: verdict.status), verdict.message, retryAfter: verdict.retryAfter(at: now),
            attemptsLeft: tellsLeft ? verdict.attemptsLeft : nil)
    }
}

extension ServiceError {
    /// The answer of the Milagro protocol to this error (wire sections 6 and 7).
    var spelled: APIError {
        switch self {
        case .unjudged(let verdict): APIError(verdict, at: .now())
        case .wrongRegistrationToken: APIError(.badRequest, "Missing or wrong regOTT")
        case .registrationOfAnotherUser: APIError(.forbidden, "The registration belongs to another userId")
        case .wrongActivationCode: APIError(.forbidden, "Wrong or expired activation code")
        case .noPendingRegistration: APIError(.unauthorized, "Unknown or expired registration")
        case .wrongActivationKey: APIError(.forbidden, "Wrong activation key")
        case .noShares: APIError(.badRequest, "No such registration")
        case .notConfirmed: APIError(.unauthorized, "The identity is not verified yet")
        case .suspended: APIError(.forbidden, "The user is suspended")
        case .badUserID(let why): APIError(.badRequest, "userId \(why)")
        case .noShareFromAuthority: APIError(.internalServerError, "The trust authority gave no share")
        case .rotatedMeanwhile: APIError(.internalServerError, "The master secret was rotated in between")
        case .notAPoint(let name): APIError(.forbidden, "\(name) is not a point of the curve")
        case .badPublicKey: APIError(.badRequest, "publicKey is not a point of the curve")
        case .badBrowserName: APIError(.forbidden, "WID is too long")
        case .noChallenge: APIError(.forbidden, "Invalid pass one data")
        case .expiredLogin: APIError(.requestTimeout, "Expired authentication request")
        case .foreignPage: APIError.foreignPage
        case .deepLogoutData: APIError(.badRequest, "logoutData has too many levels")
        case .revoked: APIError(.gone, "The M-Pin ID is revoked")
        case .noWaitingBrowser: APIError(.preconditionFailed, "Invalid or expired access number")
        // A late token gets the same answer as a wrong PIN (wire section 6.8).
        case .lateProof: APIError(.unauthorized, "Wrong PIN.")
        case .noOutcome: APIError(.requestTimeout, "Authentication timed out")
        case .noFreeNumber: APIError(.serviceUnavailable, "No access number is free", retryAfter: 1)
        case .badReport: APIError(.badRequest, "Not a status that a phone may report")
        }
    }
}

extension APIError {
    static let foreignPage = APIError(.forbidden, "The login did not come from a page of this site")
}

package import MPinStore

/// How the Milagro wire spells a verdict (wire section 7), here and nowhere else.
extension Verdict {
    /// HTTP status.
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

    /// What the RPA may show.
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

    /// Seconds after which another try makes sense; nil where nobody can tell, or none ever does.
    package func retryAfter(at now: Moment) -> Int? {
        switch self {
        case .blocked(let until): until?.secondsFrom(now)
        case .busy: 1
        case .unavailable(.masterSecret): 60
        case .unavailable(.permits): 30
        case .right, .wrong, .revoked, .retired: nil
        }
    }

    /// Of a wrong PIN: how many more may be wrong before the block.
    var attemptsLeft: Int? { if case .wrong(let left) = self { left } else { nil } }
}

extension APIError {
    /// The verdict as an answer. `tellsLeft`: whether a wrong PIN hears how many tries are left.
    init(_ verdict: Verdict, at now: Moment, tellsLeft: Bool = false) {
        self.init(
            .init(code: verdict.status), verdict.message, retryAfter: verdict.retryAfter(at: now),
            attemptsLeft: tellsLeft ? verdict.attemptsLeft : nil)
    }
}

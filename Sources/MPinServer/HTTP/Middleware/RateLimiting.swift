import Hummingbird

/// Counts requests by address. Requests for one identity are counted by the handlers that read the M-Pin ID or its
/// hash, so that all notations of an ID count as one. A D-TA's handlers count only requests that the RPS has signed.
struct RateLimiting: Sendable {
    let limiter: RateLimiter

    func count(_ request: Request, _ context: RequestContext) throws(APIError) {
        guard case .counted(let group) = Self.rule(request.pathEnd) else { return }
        try limiter.admit(group, address: context.remoteAddress)
    }

    /// Counts a request that a D-TA has refused because of its signature, by address. Requests with a right signature
    /// always pass, because the RPS sends them for all its clients.
    func count(_ refusal: APIError, _ request: Request, _ context: RequestContext) throws(APIError) {
        guard refusal.status == .unauthorized, case .authority = Self.rule(request.pathEnd) else { return }
        try limiter.admit(.authority, address: context.remoteAddress)
    }

    private enum Rule {
        case none
        case counted(RateLimiter.Group)
        case authority
    }

    /// The rule for a path. The RPS's prefix is ignored, because no path needs another rule with the prefix than
    /// without it.
    private static func rule(_ path: PathEnd) -> Rule {
        switch (path.secondLast, path.last) {
        case ("timePermit", _): return .counted(.login)
        // A back end sends them for all its users; those that are refused are counted where that is known.
        case ("activate", _): return .none
        case ("user", _), (_, "user"), ("signature", _), (_, "mpinActivate"), ("signup", "mail"),
            ("verification", _), (_, "verification"), (nil, "registration"), (_, "dvsregister"):
            return .counted(.register)
        case (_, "pass1"), (_, "pass2"), (_, "authenticate"), (_, "mpinAuthenticate"): return .counted(.login)
        // For each of these pages the RPS gives out a new access number or a new id for a QR code.
        case (nil, "login"), ("login", "number"), (_, "authorize"), ("authorize", _), ("auth", "start"),
            ("account", _), (nil, "account"):
            return .counted(.access)
        case (_, "access"): return .counted(.poll)
        case (_, "login"), ("login", _), (_, "getAccessNumber"), (_, "getQrUrl"), (_, "codeStatus"),
            ("v2", "session"), ("dvs", "session"), ("session", "details"), (nil, "pushauth"):
            return .counted(.access)
        case (_, "clientSecret"), (_, "dvsClientSecret"), (_, "timePermit"), (_, "timePermits"), (_, "serverSecret"):
            return .authority
        default: return .none
        }
    }
}

import Hummingbird

/// Counts requests by address. Requests for one identity are counted by the handlers that read the M-Pin ID or its
/// hash, so that all notations of an ID count as one. At a D-TA they count only requests that the RPS has signed.
struct RateLimiting: Sendable {
    let limiter: RateLimiter

    func count(_ request: Request, _ context: RequestContext) throws(APIError) {
        guard case .counted(let group) = Self.rule(request.uri.path) else { return }
        try limiter.admit(group, address: context.remoteAddress)
    }

    /// At a D-TA only requests with a wrong signature are counted by address. Requests with a right one always pass,
    /// because the RPS sends them for all its clients.
    func count(_ refusal: APIError, _ request: Request, _ context: RequestContext) throws(APIError) {
        guard refusal.status == .unauthorized, case .authority = Self.rule(request.uri.path) else { return }
        try limiter.admit(.authority, address: context.remoteAddress)
    }

    private enum Rule {
        case none
        case counted(RateLimiter.Group)
        case authority
    }

    /// The rule for a path. The RPS's prefix is ignored, because no name has two meanings.
    private static func rule(_ path: String) -> Rule {
        let parts = path.split(separator: "/").suffix(2)
        switch (parts.first, parts.last) {
        case ("timePermit", _) where parts.count == 2: return .counted(.login)
        case ("user", _), (_, "user"), ("signature", _), (_, "mpinActivate"), ("signup", "mail"):
            return .counted(.register)
        case (_, "pass1"), (_, "pass2"), (_, "authenticate"), (_, "mpinAuthenticate"): return .counted(.login)
        // Each login page takes an access number or a code.
        case (nil, "login"), ("login", "number"): return .counted(.access)
        case (_, "access"): return .counted(.poll)
        case (_, "login"), ("login", _), (_, "getAccessNumber"), (_, "getQrUrl"), (_, "codeStatus"):
            return .counted(.access)
        case (_, "clientSecret"), (_, "timePermit"), (_, "timePermits"), (_, "serverSecret"): return .authority
        default: return .none
        }
    }
}

import Hummingbird

/// Counts requests by address. Who reads an M-Pin ID or its hash counts its requests, so that every spelling of one ID
/// counts as one, and, at an authority, only those that the RPS has signed.
struct RateLimiting: Sendable {
    let limiter: RateLimiter

    func count(_ request: Request, _ context: RequestContext) throws(APIError) {
        guard case .counted(let group) = Self.rule(request.uri.path) else { return }
        try limiter.admit(group, address: context.remoteAddress)
    }

    /// Of an address that asks an authority only what the signature check refuses is counted, and a good signature always
    /// passes: the RPS asks for all its clients.
    func count(_ refusal: APIError, _ request: Request, _ context: RequestContext) throws(APIError) {
        guard refusal.status == .unauthorized, case .authority = Self.rule(request.uri.path) else { return }
        try limiter.admit(.authority, address: context.remoteAddress)
    }

    private enum Rule {
        case none
        case counted(RateLimiter.Group)
        case authority
    }

    /// The prefix of the RPS does not matter: no name stands for two things.
    private static func rule(_ path: String) -> Rule {
        let parts = path.split(separator: "/").suffix(2)
        switch (parts.first, parts.last) {
        case ("timePermit", _) where parts.count == 2: return .counted(.login)
        case ("user", _), (_, "user"), ("signature", _), (_, "mpinActivate"), ("signup", "mail"):
            return .counted(.register)
        case (_, "pass1"), (_, "pass2"), (_, "authenticate"), (_, "mpinAuthenticate"): return .counted(.login)
        // Each login page takes a number or a code.
        case (nil, "login"), ("login", "number"), (_, "authorize"), ("authorize", _): return .counted(.access)
        case (_, "access"): return .counted(.poll)
        case (_, "login"), ("login", _), (_, "getAccessNumber"), (_, "getQrUrl"), (_, "codeStatus"):
            return .counted(.access)
        case (_, "clientSecret"), (_, "timePermit"), (_, "timePermits"), (_, "serverSecret"): return .authority
        default: return .none
        }
    }
}

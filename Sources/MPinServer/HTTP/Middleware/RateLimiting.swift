import HTTPTypes
import Hummingbird

/// Counts requests by address. Requests for one identity are counted by the handlers that read the M-Pin ID or its
/// hash, so that all notations of an ID count as one. A D-TA's handlers count only requests that the RPS has signed.
struct RateLimiting: Sendable {
    let limiter: RateLimiter

    func count(_ request: Request, _ context: RequestContext) throws(APIError) {
        guard case .counted(let group) = Self.rule(request.pathEnd, request.method) else { return }
        try limiter.admit(group, address: context.remoteAddress)
    }

    /// Counts a request that was refused, at a path where right ones always pass.
    func count(refusal status: HTTPResponse.Status, _ request: Request, _ context: RequestContext) throws(APIError) {
        guard let group = Self.rule(request.pathEnd, request.method).group(ofRefusal: status) else { return }
        try limiter.admit(group, address: context.remoteAddress)
    }

    /// Which requests of an address are counted, and in which group.
    enum Rule: Equatable {
        case counted(RateLimiter.Group)
        /// Those that a D-TA refuses: because of their signatures, or as malformed. The RPS sends the others for all its
        /// clients.
        case authority
        /// Those that are refused. A back end sends the others for all its users, with credentials.
        case backEnd
        /// Those that do not come through a trusted proxy, which asks for each request of a protected host.
        case proxy

        fileprivate func group(ofRefusal status: HTTPResponse.Status) -> RateLimiter.Group? {
            switch self {
            case .counted: nil
            case .authority where status == .unauthorized: .authority
            case .authority, .backEnd: status.kind == .clientError && status != .tooManyRequests ? .other : nil
            case .proxy: status == .forbidden ? .other : nil
            }
        }
    }

    /// The rule for a path. The RPS's prefix and the issuer's path are ignored, because no path needs another rule with
    /// them than without them.
    static func rule(_ path: PathEnd, _ method: HTTPRequest.Method) -> Rule {
        switch (path.secondLast, path.last) {
        case ("timePermit", _): .counted(.login)
        case ("activate", "initiate"), ("activate", "user"), (_, "revocation"), (_, "audit"), ("dvs", "verify"),
            (_, "project-configuration"), ("oidc", "token"), ("oidc", "userinfo"), ("oidc", "revoke"),
            ("oidc", "introspect"):
            .backEnd
        case ("auth", "verify"): .proxy
        case ("user", _), (_, "user"), ("signature", _), (_, "mpinActivate"), ("signup", "mail"),
            ("verification", _), (_, "verification"), (nil, "registration"), (_, "dvsregister"):
            .counted(.register)
        case (_, "pass1"), (_, "pass2"), (_, "authenticate"), (_, "mpinAuthenticate"): .counted(.login)
        case (_, "access"): .counted(.poll)
        // For most of these requests the server keeps something for some minutes, signs, or draws a QR code.
        case (nil, "login"), ("login", _), (_, "login"), (_, "authorize"), ("authorize", _), ("auth", "start"),
            ("auth", "callback"), ("account", _), (_, "account"), ("oidc", "device"), ("oidc", "logout"),
            ("logout", _), (_, "getAccessNumber"), (_, "getQrUrl"), (_, "codeStatus"), ("v2", "session"),
            ("dvs", "session"), ("session", "details"), (nil, "pushauth"), ("client", "code"):
            .counted(.access)
        case (_, "device") where method == .post: .counted(.device)
        case (_, "clientSecret"), (_, "dvsClientSecret"), (_, "timePermit"), (_, "timePermits"), (_, "serverSecret"),
            (nil, "keys"):
            .authority
        default: .counted(.other)
        }
    }
}

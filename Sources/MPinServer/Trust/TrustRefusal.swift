import HTTPTypes
import Hummingbird
import MPinService
import MPinStore
import MPinWire

/// An error in the form of MIRACL Trust (TRUST wire section 3). Clients look at the code, never at the status. All values
/// of the context are texts, because the native clients read nothing else.
struct TrustRefusal: Error {
    let status: HTTPResponse.Status
    let code: String
    let info: String
    var context: [String: String] = [:]
    /// Seconds after which the client should try again.
    var retryAfter: Int?

    init(
        _ status: HTTPResponse.Status, _ code: String, _ info: String, context: [String: String] = [:],
        retryAfter: Int? = nil
    ) {
        self.status = status
        self.code = code
        self.info = info
        self.context = context
        self.retryAfter = retryAfter
    }

    func response(_ request: RequestContext) -> Response {
        var response = Response.json(
            TrustErrorResponse(requestID: request.requestID, error: code, info: info, context: context), status: status)
        if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
        return response
    }

    static let noPushToken = TrustRefusal(.badRequest, "NO_PUSH_TOKEN", "this user has no device that takes pushes")

    /// The value of a parameter is not one that the server takes.
    static func parameter(_ name: String, _ info: String) -> TrustRefusal {
        TrustRefusal(.badRequest, "INVALID_REQUEST_PARAMETERS", info, context: ["params": name])
    }
}

/// The only place that says how the service's errors are spelled for clients of MIRACL Trust.
extension TrustRefusal {
    /// Throws errors that are none of the caller's fault, and which all faces answer alike.
    init(_ error: any Error, at now: Moment) throws {
        switch error {
        case let refusal as TrustRefusal: self = refusal
        case let fault as ProjectFault: self.init(fault, at: now)
        case let error as ServiceError: self.init(error, at: now)
        case let error as APIError where error.status == .badRequest:
            let context = error.member.map { ["params": $0] } ?? [:]
            self.init(.badRequest, "INVALID_REQUEST_BODY", error.message, context: context)
        case let error as APIError where error.status == .tooManyRequests:
            self.init(of: error)
        default: throw error
        }
    }

    /// An error that all faces have: too many requests or too large ones, unknown paths, failures of the server.
    init(of error: APIError) {
        let code =
            switch error.status {
            case .tooManyRequests: "TOO_MANY_REQUESTS"
            case .serviceUnavailable: "SERVICE_UNAVAILABLE"
            case .notFound: "NOT_FOUND"
            case .methodNotAllowed: "METHOD_NOT_ALLOWED"
            case let status where status.code >= 500: "INTERNAL_SERVER_ERROR"
            default: "INVALID_REQUEST_PAYLOAD"
            }
        self.init(error.status, code, error.message, retryAfter: error.retryAfter)
    }

    private init(_ fault: ProjectFault, at now: Moment) {
        switch fault {
        case .unknownProject: self = .parameter("projectId", "there is no such project")
        case .mailTooEarly(let again): self.init(backoff: again, at: now)
        case .wrongCode(let accessID):
            let context = accessID.map { ["accessId": $0] } ?? [:]
            self.init(.badRequest, "UNSUCCESSFUL_VERIFICATION", "wrong, used or expired code", context: context)
        case .wrongActivationToken:
            self.init(.badRequest, "INVALID_ACTIVATION_TOKEN", "unknown, used or expired activation token")
        case .wrongLoginToken:
            self.init(.unauthorized, "UNAUTHORIZED", "the jwt is none of a reg-code login of the last minute")
        case .badMember(let name): self = .parameter(name, "\(name) has no value that is allowed")
        case .wrongSignature:
            self.init(.unauthorized, Self.unsuccessful, "the signature is of another project, session or time")
        case .quickCodeForbidden:
            self.init(.forbidden, "LIMITED_QUICKCODE_GENERATION", "the project lets this identity make no QuickCodes")
        case .wrongScope: self = .parameter("scope", "no scope that this server has")
        }
    }

    /// A fault with another status than in generation 4.
    init(_ status: HTTPResponse.Status, _ fault: ProjectFault, at now: Moment) {
        let refusal = TrustRefusal(fault, at: now)
        self.init(status, refusal.code, refusal.info, context: refusal.context, retryAfter: refusal.retryAfter)
    }

    /// A mail was asked for too early; `again` is when the next one may be sent.
    init(backoff again: Moment, at now: Moment) {
        self.init(
            .tooManyRequests, "REQUEST_BACKOFF", "a mail was sent just now",
            context: ["backoff": String(again.seconds)], retryAfter: max(1, Int(again.seconds - now.seconds)))
    }

    private init(_ error: ServiceError, at now: Moment) {
        switch error {
        case .unjudged(let verdict): self.init(verdict, at: now)
        case .suspended: self.init(.forbidden, "FORBIDDEN", "the user is suspended")
        case .badUserID(let why): self = .parameter("userId", "userId \(why)")
        case .badPublicKey: self = .parameter("publicKey", "publicKey is not a point of order r")
        case .notAPoint(let name): self = .parameter(name, "\(name) is not a point of the curve")
        case .badBrowserName: self = .parameter("WID", "WID is too long")
        case .badReport: self = .parameter("status", "not a status that a phone may report")
        case .revoked: self.init(.gone, "EXPIRED_MPINID", "the identity is blocked or revoked")
        case .expiredLogin: self.init(.unauthorized, Self.unsuccessful, "the login is unknown, used or too old")
        case .noWaitingBrowser, .lateProof:
            self.init(.badRequest, "INVALID_AUTHENTICATION_SESSION", "the session is unknown or has ended")
        default: self.init(error.spelled.status, "INVALID_REQUEST_PAYLOAD", error.spelled.message)
        }
    }

    private static let unsuccessful = "UNSUCCESSFUL_AUTHENTICATION"

    /// The answer to a login that was not right. A block that ends is no reason for the client to forget its user, so
    /// only a permanent one, and a revocation, are `REVOKED_MPINID`.
    init(_ verdict: Verdict, at now: Moment) {
        switch verdict {
        case .blocked(let until?):
            self.init(
                .unauthorized, Self.unsuccessful, "too many wrong PINs",
                context: ["blockedUntil": String(until.seconds)],
                retryAfter: verdict.retryAfter(at: now))
        case .blocked(until: nil), .revoked: self.init(.gone, "REVOKED_MPINID", "the identity is blocked or revoked")
        case .retired: self.init(.gone, "EXPIRED_MPINID", "register again")
        case .busy, .unavailable:
            self.init(
                .serviceUnavailable, "SERVICE_UNAVAILABLE", verdict.message, retryAfter: verdict.retryAfter(at: now))
        case .right, .wrong: self.init(.unauthorized, Self.unsuccessful, "wrong PIN")
        }
    }
}

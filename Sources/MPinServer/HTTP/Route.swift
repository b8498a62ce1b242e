import HTTPTypes
import Hummingbird

/// Answers a request: parses, checks, acts, and makes the answer.
typealias Handler = @Sendable (Request, RequestContext) async throws -> Response

/// An operation of a listener: which requests it answers, and what holds for them before and after the answer.
package struct Route: Sendable {
    let method: HTTPRequest.Method
    /// The path, in which `{name}` stands for a word.
    let path: String
    let limit: Limit
    let kind: Kind
    /// Which pages of other sites may read the answers. Nil: none.
    let cors: CORSPolicy?
    /// The form of errors. Nil: JSON (``APIError/response``).
    let errors: ErrorForm?
    let answer: Handler
    /// Whether it stands for all paths below its own that nobody has (``rest(below:limit:cors:errors:)``).
    private(set) var isRest = false

    init(
        _ method: HTTPRequest.Method, _ path: String, limit: Limit, kind: Kind = .other, cors: CORSPolicy? = nil,
        errors: ErrorForm? = nil, _ answer: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.limit = limit
        self.kind = kind
        self.cors = cors
        self.errors = errors
        self.answer = answer
    }

    /// What holds for the paths below `path` that nobody has: 404, whatever the method.
    static func rest(
        below path: String, limit: Limit, cors: CORSPolicy? = nil, errors: ErrorForm? = nil
    ) -> Route {
        var route = Route(.get, path + "/**", limit: limit, cors: cors, errors: errors) { _, _ in
            throw APIError.notFound
        }
        route.isRest = true
        return route
    }

    /// The same operation with another answer.
    func answering(_ answer: @escaping Handler) -> Route {
        Route(method, path, limit: limit, kind: kind, cors: cors, errors: errors, answer)
    }

    /// Which requests of one address are counted, and in which group. Requests for one identity are counted by the
    /// handlers that read the M-Pin ID or its hash, so that all notations of an ID count as one.
    enum Limit: Sendable, Equatable {
        case counted(RateLimiter.Group)
        /// Those that a D-TA refuses: because of their signatures, or as malformed. The RPS sends the others for all its
        /// clients.
        case authority
        /// Those that are refused. A back end sends the others for all its users, with credentials.
        case backEnd
        /// Those that do not come through a trusted proxy, which asks for each request of a protected host.
        case proxy
        /// Those without a good token. The admin API itself counts them, because it tells them from other refusals.
        case admin
        /// None, on a listener that only parts of this system and the operator's programs reach.
        case inside

        static let register = Limit.counted(.register)
        static let login = Limit.counted(.login)
        /// For most of these requests the server keeps something for some minutes, signs, or draws a QR code.
        static let access = Limit.counted(.access)
        static let poll = Limit.counted(.poll)
        static let device = Limit.counted(.device)
        static let other = Limit.counted(.other)
    }

    enum Kind: String, Sendable {
        /// A page that waits for a phone. It uses a connection, but no processor time.
        case page
        /// A phone that waits for its page. It uses a connection, but no processor time.
        case phone
        /// A step of a login after its first one.
        case endOfLogin
        case other

        /// Whether the answer waits until a person has done something.
        var waits: Bool { self == .page || self == .phone }
    }
}

extension Route.Limit {
    /// The group of a request that is counted before it is answered.
    var group: RateLimiter.Group? { if case .counted(let group) = self { group } else { nil } }

    /// The group of a request that is counted because it was refused with `status`, at a path where right ones always
    /// pass.
    func group(ofRefusal status: HTTPResponse.Status) -> RateLimiter.Group? {
        switch self {
        case .counted, .admin, .inside: nil
        case .authority where status == .unauthorized: .authority
        case .authority, .backEnd: status.kind == .clientError && status != .tooManyRequests ? .other : nil
        case .proxy: status == .forbidden ? .other : nil
        }
    }
}

/// How documents and openapi.yaml name what a route says.
extension Route {
    package var operation: String { "\(method.rawValue) \(path)" }

    /// The group in which requests are counted; "refused" if only refused ones are; nil if none are.
    package var limitName: String? {
        switch limit {
        case .counted(let group): group.rawValue
        case .authority, .backEnd, .proxy, .admin: "refused"
        case .inside: nil
        }
    }

    package var kindName: String { kind.rawValue }
}

/// The HTTP interface of the service for one wire protocol. It reads requests and writes answers. It decides nothing:
/// the service decides whether a PIN is right and what follows.
protocol Face: Sendable {
    /// The operations for everybody.
    var publicRoutes: [Route] { get }

    /// The operations for the other parts of this system, on a listener of their own.
    var privateRoutes: [Route] { get }
}

extension Face {
    /// There are none: other parts of this system do not use this wire.
    var privateRoutes: [Route] { [] }
}

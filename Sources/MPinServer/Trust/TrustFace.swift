import HTTPTypes
import Hummingbird
import MPinOpenID
import MPinService
import MPinWire

/// The service's interface for clients of MIRACL Trust (TRUST wire section 4). Its paths, parameters and errors are
/// theirs; what they mean is decided by `ProjectService`.
struct TrustFace: Face {
    let config: TrustConfig
    let rules: ProjectService
    /// The provider that signs tokens, and whose clients' browsers phones log in.
    let openID: OpenIDFace
    /// The keys that certify signatures.
    let certificates: SigningKeys
    let users: UserAdministration
    /// The service tokens of the projects' back ends.
    let tokens: ProjectTokens
    /// Opens the hashes of their secrets.
    let secretHashes: HashSeal
    let authorities: [TrustAuthorityLink]
    /// The way of clients to D-TA 1; nil if they ask it themselves.
    let gate: AuthorityGate?
    /// Nil if the operator has no receiver of pushes.
    let pushes: PushSender?
    let appID: String
    let rates: RateLimiter
    let metrics: Metrics

    init(
        _ config: TrustConfig, _ rules: ProjectService, _ openID: OpenIDFace, certificates: SigningKeys,
        tokens: ProjectTokens, secretHashes: HashSeal, users: UserAdministration, _ authorities: [TrustAuthorityLink],
        first: Peer?,
        pushes: PushSender?, appID: String, rates: RateLimiter, metrics: Metrics
    ) {
        self.config = config
        self.rules = rules
        self.openID = openID
        self.certificates = certificates
        self.tokens = tokens
        self.secretHashes = secretHashes
        self.users = users
        self.authorities = authorities
        gate = authorities.first?.publicURL == nil ? first.map(AuthorityGate.first) : nil
        self.pushes = pushes
        self.appID = appID
        self.rates = rates
        self.metrics = metrics
    }

    var limits: Limits { config.limits }
    var service: AuthenticationService { rules.service }

    var publicRoutes: [Route] {
        let pages = config.site.browserClient.map { BrowserClientRoutes(client: $0, site: config.site, limits: limits) }
        let routes = [
            route(.post, "/verification/email", .register) { try await verify($0, $1) },
            route(.post, "/verification/confirmation", .register) { try await confirm($0, $1) },
            route(.post, "/verification/quickcode", .register) { request, _ in try await makeQuickCode(request) },
            route(.post, "/registration", .register) { try await enrol($0, $1) },
            v2(.trustPass1) { request, _ in try await pass1(request) },
            v2(.trustPass2) { try await pass2($0, $1) },
            v2(.trustAuthenticate) { try await authenticate($0, $1) },
            v2(.trustSession) { try await openSession($0, $1) },
            v2(.trustAccess) { request, _ in try await access(request) },
            v2(.trustCodeStatus) { request, _ in try await codeStatus(request) },
            route(.post, "/pushauth", .access) { try await pushAuth($0, $1) },
            Route(.get, "/.well-known/jwks", limit: .other, cors: .open) { _, _ in openID.certificates() },
        ]
        return (pages?.routes ?? []) + routes + generation3Routes + signingRoutes + backEndRoutes
            + (gate?.routes ?? []) + rests
    }

    /// Who asks at other paths below those of this wire reads errors in its form, too.
    private var rests: [Route] {
        func rest(_ path: String, _ cors: CORSPolicy?) -> Route {
            .rest(below: path, limit: .other, cors: cors, errors: errorForm)
        }
        return ["/rps/v2", "/verification", "/registration", "/dvs/session"].map { rest($0, ofProjects) }
            + ["/dvs", "/activate", "/api/v1/projects/{project}"].map { rest($0, nil) }
    }

    /// An operation that pages of a project's own origins may ask.
    func route(
        _ method: HTTPRequest.Method, _ path: String, _ limit: Route.Limit, _ answer: @escaping Handler
    ) -> Route {
        Route(method, path, limit: limit, cors: ofProjects, errors: errorForm, answering(answer))
    }

    /// An operation below `/rps/v2`, which these clients know as a fixed path.
    func v2(_ operation: RPSOperation, _ answer: @escaping Handler) -> Route {
        Route(operation, prefix: "rps", cors: ofProjects, errors: errorForm, answering(answer))
    }

    /// An operation of the projects' back ends. They are no pages, so no origin may read the answers, unless `cors` says so.
    func backEnd(
        _ method: HTTPRequest.Method, _ path: String, cors: CORSPolicy? = nil, _ answer: @escaping Handler
    ) -> Route {
        Route(method, path, limit: .backEnd, cors: cors, errors: errorForm, answering(answer))
    }

    /// A handler whose errors are spelled in the form of MIRACL Trust.
    func answering(_ handler: @escaping Handler) -> Handler {
        { request, context in
            do { return try await handler(request, context) } catch {
                return try TrustRefusal(error, at: rules.now).response(context)
            }
        }
    }

    /// The form of errors at the paths of this wire that other parts of the server find.
    var errorForm: ErrorForm {
        { error, _, context in TrustRefusal(of: error).response(context) }
    }

    /// Only pages of a project's own origins may read the answers to its requests.
    private var ofProjects: CORSPolicy {
        let projects = rules.projects
        let clock = service.rules.clock
        return .trust(methods: "GET, POST, PUT, DELETE, OPTIONS") { origin, request in
            guard let id = request.projectID, let project = try? await projects.find(id, at: clock()) else {
                return false
            }
            return project.origins.contains(origin)
        }
    }

    /// Returns the project that a request names: `id` from its body, or else the one in its header or query. One that names
    /// none means the only one that there is.
    func project(_ id: String?, _ request: Request) async throws -> Project {
        if let id = id ?? request.projectID { return try await rules.project(id) }
        guard let meant = try await rules.impliedProject() else { throw ProjectFault.unknownProject }
        return meant
    }
}

extension Request {
    /// The project in the query, which browsers send also when they ask for permission, or in the header (TRUST wire
    /// section 3).
    var projectID: String? { query("project_id") ?? headers.value(.miraclCID) }
}

extension HTTPField.Name {
    static let miraclCID = constant("X-MIRACL-CID")
}

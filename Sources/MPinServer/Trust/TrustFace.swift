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

    func addPublicRoutes(to router: Router<RequestContext>) {
        let handlers: [String: Handler] = [
            "/verification/email": { request, context in try await verify(request, context) },
            "/verification/confirmation": { request, context in try await confirm(request, context) },
            "/registration": { request, context in try await enrol(request, context) },
            "/rps/v2/pass1": { request, _ in try await pass1(request) },
            "/rps/v2/pass2": { request, context in try await pass2(request, context) },
            "/rps/v2/authenticate": { request, context in try await authenticate(request, context) },
            "/rps/v2/session": { request, context in try await openSession(request, context) },
            "/rps/v2/access": { request, _ in try await access(request) },
            "/rps/v2/codeStatus": { request, _ in try await codeStatus(request) },
            "/pushauth": { request, context in try await pushAuth(request, context) },
        ]
        let pages = config.site.browserClient.map { BrowserClientRoutes(client: $0, site: config.site, limits: limits) }
        pages?.add(to: router)
        for (path, handler) in handlers.merging(quickCodeHandlers, uniquingKeysWith: { $1 }) {
            var methods: [HTTPRequest.Method: Handler] = [.post: answering(handler)]
            if let pages, path == BrowserClientRoutes.mailPath {
                methods[.get] = { request, _ in pages.confirmation(request) }
            }
            router.serve(path, methods)
        }
        addGeneration3Routes(to: router)
        addSigningRoutes(to: router)
        addBackEndRoutes(to: router)
        router.serve("/.well-known/jwks", [.get: { _, _ in openID.certificates() }])
        gate?.addRoutes(to: router)
    }

    /// A handler whose errors are spelled in the form of MIRACL Trust.
    func answering(_ handler: @escaping Handler) -> Handler {
        { request, context in
            do { return try await handler(request, context) } catch {
                return try TrustRefusal(error, at: rules.now).response(context)
            }
        }
    }

    /// The form of errors at the paths of this wire, whichever part of the server finds them.
    var errorForm: ErrorForm {
        { error, request, context in
            guard Self.places.contains(where: request.uri.path.hasPrefix) else { return nil }
            return TrustRefusal(of: error).response(context)
        }
    }

    /// How the paths of this wire begin.
    private static let places = [
        "/rps/v2/", "/verification", "/registration", "/pushauth", "/dvs/", "/activate/", "/api/v1/projects/",
        "/.well-known/project-configuration",
    ]

    /// There are none: other parts of this system do not use this wire.
    func addPrivateRoutes(to router: Router<RequestContext>) {}

    /// Only pages of a project's own origins may read the answers to its requests.
    var cors: [CORSPolicy] {
        let projects = rules.projects
        let clock = service.rules.clock
        let asks: @Sendable (String, Request) async -> Bool = { origin, request in
            guard let id = request.projectID, let project = try? await projects.find(id, at: clock()) else {
                return false
            }
            return project.origins.contains(origin)
        }
        let prefixes = ["/rps/v2/", "/verification", "/registration", "/pushauth", "/dvs/session"]
        let shares = [AuthorityGate.firstPath, AuthorityGate.path].map { $0 + TrustAuthorityServer.keyedSecretPath }
        return prefixes.map { .trust($0, methods: "GET, POST, PUT, DELETE, OPTIONS", asks) }
            + shares.map { .trustShares($0) }
            + [.open("/.well-known/jwks"), .open("/dvs/jwks")]
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

import HTTPTypes
import Hummingbird
import Logging
import MPinOpenID
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// The service as an OpenID provider. Any relying party with an OpenID Connect library can send browsers here, where
/// users log in with their phones.
struct OpenIDFace: Face {
    let config: OpenIDConfig
    let provider: OpenIDProvider
    let forwardAuth: ForwardAuthRoutes
    let service: AuthenticationService
    let backChannel: BackChannel
    /// The key that signs what phones end sessions with.
    let logoutKey: SecretBytes
    let origins: ClientOrigins
    /// The operator's list of users who may not log in.
    let revoked: RevokedUsers
    let rates: RateLimiter
    let metrics: Metrics

    /// Opens the provider's data in the stores, and makes the signing keys at the first start.
    init(
        _ config: OpenIDConfig, service: AuthenticationService, durable: any Store, shortLived: any Store,
        key: SecretBytes, rates: RateLimiter, metrics: Metrics
    ) async throws {
        self.config = config
        self.service = service
        logoutKey = key
        self.rates = rates
        self.metrics = metrics
        let (clock, registry) = (config.clock, ClientRegistry(in: durable, file: config.clients))
        try await registry.requireSingleIDs(at: clock())
        origins = ClientOrigins(registry, clock: clock)
        let keys = SigningKeys(
            in: durable, sealKey: OpenIDConfig.sealKey(from: key),
            observer: metrics.observeSignature)
        try await keys.refresh(at: clock())
        let revoked = RevokedUsers(file: config.site.revokedUsersFile)
        self.revoked = revoked
        provider = try await OpenIDProvider(
            issuer: config.issuer, languages: Language.all.map(\.code), durable: durable, shortLived: shortLived,
            keys: keys,
            client: { try await registry.find($0, at: clock()) },
            permission: { login in
                guard let id = MPinID(hex: login.mpinID), try !revoked.contains(id.hex, user: login.user) else {
                    return false
                }
                return try await !service.isRevoked(id, as: login.user)
            },
            owners: { try await Projects(in: durable).owners(ofClient: $0, at: clock()) }, kept: service.keptNames,
            observer: OpenIDAudit(audit: config.audit, metrics: metrics).note, clock: clock)
        forwardAuth = ForwardAuthRoutes(
            config: config, rules: ForwardAuth(provider, registry, durable: durable, shortLived: shortLived))
        backChannel = BackChannel(provider, within: config.targets)
    }

    var limits: Limits { config.limits }
    var cookies: ProviderCookies { ProviderCookies(isSecure: config.isSecure) }

    /// Returns `path` behind the issuer's path.
    func path(_ path: String) -> String { config.path + path }

    var publicRoutes: [Route] {
        metadataRoutes + endpointRoutes + loginRoutes + deviceRoutes + accountRoutes + forwardAuth.routes
            + [.rest(below: path("/oidc"), limit: .other)]
    }

    /// All pages may read the discovery document and the keys.
    private var metadataRoutes: [Route] {
        typealias Path = OpenIDProvider.Path
        func open(_ path: String, _ answer: @escaping @Sendable () -> Response) -> Route {
            Route(.get, path, limit: .other, cors: .open) { _, _ in answer() }
        }
        // If the issuer has a path, RFC 8414 puts the document under the third of these places.
        let places = Set([path(Path.configuration), path(Path.serverMetadata), Path.serverMetadata + config.path])
        return places.map { open($0) { metadata() } } + [open(path(Path.certs)) { certificates() }]
    }

    /// The endpoints that applications ask. Only pages of registered origins may call those that a script needs after a
    /// login.
    private var endpointRoutes: [Route] {
        typealias Path = OpenIDProvider.Path
        let cors = ofClients(methods: "GET, POST, OPTIONS")
        let userinfo: Handler = { request, _ in try await self.userinfo(request) }
        return [
            Route(.post, path(Path.token), limit: .backEnd, cors: cors) { try await token($0, $1) },
            Route(.post, path(Path.revoke), limit: .backEnd, cors: cors) { try await revoke($0, $1) },
            Route(.post, path(Path.introspect), limit: .backEnd) { try await introspect($0, $1) },
            Route(.get, path(Path.userinfo), limit: .backEnd, cors: cors, userinfo),
            Route(.post, path(Path.userinfo), limit: .backEnd, cors: cors, userinfo),
        ]
    }

    /// Logins and logouts. Pages of registered origins may post JSON to `/authorize`, as the clients before client-js 8.1
    /// do. No page may read what GET /authorize or /oidc/logout answers, because that tells whether the user is logged in.
    private var loginRoutes: [Route] {
        typealias Path = OpenIDProvider.Path
        let logout: Handler = { request, context in try await self.logout(request, context.logger) }
        return [
            page(.get, Path.authorize, .access) { try await authorize($0, $1) },
            Route(
                .post, path(Path.authorize), limit: .access,
                cors: ofClients(methods: "POST, OPTIONS", headers: CORSPolicy.trustHeaders),
                errors: config.site.errorPage
            ) { try await authorize($0, $1) },
            page(.get, LoginPaths.login, .access) { try await offerAgain($0, $1) },
            page(.post, LoginPaths.login, .access) { try await proceed($0, $1) },
            page(.post, LoginPaths.confirm, .access) { try await confirm($0, $1) },
            page(.post, LoginPaths.access, .poll) { request, _ in try await follow(request) },
            Route(.get, path(Path.logout), limit: .access, logout),
            Route(.post, path(Path.logout), limit: .access, logout),
            Route(.post, path(Self.confirmLogoutPath), limit: .access) { request, context in
                try await confirmLogout(request, context.logger)
            },
            Route(.logout, prefix: config.prefix, cors: .rps(config.allowOrigin)) { try await logoutByPhone($0, $1) },
        ]
    }

    /// A page for people, behind the issuer's path.
    func page(
        _ method: HTTPRequest.Method, _ path: String, _ limit: Route.Limit, _ answer: @escaping Handler
    ) -> Route {
        config.site.page(method, self.path(path), limit, answer)
    }

    /// Pages of the clients' registered origins may read the answers.
    private func ofClients(methods: String, headers: String = CORSPolicy.scriptHeaders) -> CORSPolicy {
        let origins = origins
        return .asking(methods: methods, headers: headers) { await origins.contains($0) }
    }

    /// The files of the pages, and a start page, for a server that has no website at this address.
    var siteRoutes: [Route] {
        let account = path(AccountPaths.page)
        return config.site.files + [
            config.site.page(.get, "/", .other) { _, _ in Response(status: .seeOther, headers: [.location: account]) }
        ]
    }
}

/// The registered origins of all clients that are not disabled. They are read again after 10 seconds.
actor ClientOrigins {
    private static let seconds = 10

    private let registry: ClientRegistry
    private let clock: Clock
    private var known: Set<String> = []
    private var ends: Moment?

    init(_ registry: ClientRegistry, clock: @escaping Clock) {
        self.registry = registry
        self.clock = clock
    }

    /// Returns whether a client has registered `origin`. If the clients cannot be read, it answers from the last list.
    func contains(_ origin: String) async -> Bool {
        let now = clock()
        if ends.map({ $0 <= now }) ?? true, let clients = try? await registry.list(at: now) {
            known = Set(clients.filter { !$0.isDisabled }.flatMap(\.origins).map(\.text))
            ends = now.adding(seconds: Self.seconds)
        }
        return known.contains(origin)
    }
}

/// Records what the provider does in the audit log and the counters.
struct OpenIDAudit: Sendable {
    let audit: Audit
    let metrics: Metrics

    func note(_ event: OpenIDEvent) {
        switch event {
        case .granted(let client, let grant, let login):
            metrics.count(.tokens, [grant.rawValue, "granted"])
            audit.record(.tokens("tokens-granted", client: client, grant: grant.rawValue, login))
        case .reused(let client, let grant, let login):
            metrics.count(.tokens, [grant.rawValue, "reused"])
            audit.record(.tokens("tokens-revoked", client: client, grant: grant.rawValue, login))
        case .revoked(let client, let login):
            metrics.count(.tokens, ["", "revoked"])
            audit.record(.tokensRevoked(by: client, login))
        // The audit log gets its line from the route, which knows whether there were too many of them.
        case .refused(_, let code): metrics.count(.tokens, ["", code.rawValue])
        case .noAccess(let client, let login):
            metrics.count(.tokens, ["", TokenFault.Code.accessDenied.rawValue])
            audit.record(.noAccess(to: client, login))
        case .loggedOut(let notice, let cause):
            metrics.count(.logouts, [cause.rawValue])
            audit.record(.loggedOut(notice, by: cause))
        case .clientTold(let client, let notice, let isTold):
            metrics.count(.logoutTokens, [isTold ? "accepted" : "given-up"])
            if !isTold { audit.record(.clientNotTold(client, notice)) }
        }
    }
}

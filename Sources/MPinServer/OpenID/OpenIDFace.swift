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

    func addPublicRoutes(to router: Router<RequestContext>) {
        typealias Path = OpenIDProvider.Path
        // If the issuer has a path, RFC 8414 puts the document under the third of these places.
        for place in Set([path(Path.configuration), path(Path.serverMetadata), Path.serverMetadata + config.path]) {
            router.serve(place, [.get: { _, _ in metadata() }])
        }
        router.serve(path(Path.certs), [.get: { _, _ in certificates() }])
        router.serve(path(Path.token), [.post: { request, context in try await token(request, context) }])
        router.serve(path(Path.revoke), [.post: { request, context in try await revoke(request, context) }])
        router.serve(path(Path.introspect), [.post: { request, context in try await introspect(request, context) }])
        addDeviceRoutes(to: router)
        addAccountRoutes(to: router)
        let userinfo: Handler = { request, _ in try await self.userinfo(request) }
        router.serve(path(Path.userinfo), [.get: userinfo, .post: userinfo])
        let authorize: Handler = { request, context in try await self.authorize(request, context) }
        router.serve(path(Path.authorize), [.get: authorize, .post: authorize])
        router.serve(
            path(LoginPaths.login),
            [
                .get: { request, context in try await offerAgain(request, context) },
                .post: { request, context in try await proceed(request, context) },
            ])
        router.serve(path(LoginPaths.confirm), [.post: { request, context in try await confirm(request, context) }])
        router.serve(path(LoginPaths.access), [.post: { request, _ in try await follow(request) }])
        forwardAuth.add(to: router)
        let logout: Handler = { request, context in try await self.logout(request, context.logger) }
        router.serve(path(Path.logout), [.get: logout, .post: logout])
        router.serve(
            path(Self.confirmLogoutPath),
            [.post: { request, context in try await confirmLogout(request, context.logger) }])
        router.serve(
            phoneLogoutPath, [.post: { request, context in try await logoutByPhone(request, context) }])
    }

    var errorPage: ErrorForm { config.site.errorPage(prefix: config.prefix) }

    /// Adds the files of the pages, and a start page, for a server that has no website at this address.
    func addSiteRoutes(to router: Router<RequestContext>) {
        config.site.addFiles(to: router)
        let account = path(AccountPaths.page)
        router.serve("/", [.get: { _, _ in Response(status: .seeOther, headers: [.location: account]) }])
    }

    /// There are none: the RPA and other parts of this system ask the provider nothing.
    func addPrivateRoutes(to router: Router<RequestContext>) {}

    /// Which pages of other sites may read an answer. All pages may read the discovery document and the keys. Only
    /// pages of registered origins may call the endpoints that a script needs after a login, or post JSON to
    /// `/authorize`. No page may read what GET /authorize or /oidc/logout answers, because that tells whether the user is
    /// logged in.
    var cors: [CORSPolicy] {
        typealias Path = OpenIDProvider.Path
        let origins = origins
        let asks: @Sendable (String) async -> Bool = { await origins.contains($0) }
        return [
            .open(path("/.well-known/")), .open(Path.serverMetadata), .open(path(Path.certs)),
            // The clients before client-js 8.1 open their sessions there.
            .asking(path(Path.authorize), methods: "POST, OPTIONS", headers: CORSPolicy.trustHeaders, asks),
        ]
            + [Path.token, Path.userinfo, Path.revoke].map {
                .asking(path($0), methods: "GET, POST, OPTIONS", asks)
            }
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

import HTTPTypes
import Hummingbird
import MPinService
import MPinStore
import MPinWire

/// The service's interface for the Milagro protocol: the RPS's public endpoints (wire section 6) and its private ones
/// (wire section 7).
struct MilagroFace: Face {
    let config: RelyingPartyServiceConfig
    let service: AuthenticationService
    let appID: String
    let rpa: Peer
    let rates: RateLimiter
    let metrics: Metrics
    /// Redeems a phone's one-time token (first argument) for the authorization code of the OpenID client that has
    /// opened the session (second argument: its access id). The result is nil if no client waits for a code. Nil if
    /// there is no OpenID provider.
    var authorizationCode: (@Sendable (_ authOTT: String, _ wid: String) async throws -> String?)?
    /// Notes that a user's mailbox is proven to be theirs. Nil if there is no OpenID provider, which alone asks for it.
    var proveUserID: (@Sendable (_ userID: String) async throws -> Void)?
    /// Chooses between the answer of this wire to an operation and that of another wire that shares it, by the headers of
    /// each request.
    var choosing: @Sendable (RPSOperation, @escaping Handler) -> Handler = { $1 }

    init(
        _ config: RelyingPartyServiceConfig, service: AuthenticationService, appID: String, rates: RateLimiter,
        metrics: Metrics
    ) {
        self.config = config
        self.service = service
        self.appID = appID
        self.rates = rates
        self.metrics = metrics
        rpa = Peer(url: config.verifyURL, seconds: config.limits.callSeconds, isMailing: true)
    }

    var limits: Limits { config.limits }

    /// The operations below `/<prefix>`, and /service.
    var publicRoutes: [Route] {
        [
            route(.clientSettings) { _, _ in try clientSettings() },
            route(.register) { request, context in try await register(request, id: nil, context) },
            route(.registerAgain) { request, context in
                try await register(request, id: request.mpinID(context), context)
            },
            route(.signature) { request, context in try await signature(request, request.mpinID(context)) },
            route(.setupDone) { request, context in try await setupDone(request, request.mpinID(context)) },
            route(.timePermit) { request, context in try await timePermit(request.mpinID(context)) },
            route(.permitStorage) { _, context in try await storedPermit(context) },
            route(.mobileConfig) { _, _ in try mobileConfig() },
            route(.service, .service(config.allowOrigin)) { request, _ in try service(request) },
            route(.pass1) { request, _ in try await pass1(request) },
            route(.pass2) { request, context in try await pass2(request, context.logger) },
            route(.accessNumber) { _, _ in try await getAccessNumber() },
            route(.qrCode) { request, context in try await getQRCode(at: .init(asking: request, context)) },
            route(.access) { request, _ in try await access(request) },
            route(.codeStatus) { request, _ in try await codeStatus(request) },
            route(.authenticate) { request, _ in try await authenticateMobile(request) },
            .rest(below: "/" + config.prefix, limit: .other, cors: .rps(config.allowOrigin)),
        ]
    }

    private func route(
        _ operation: RPSOperation, _ cors: CORSPolicy? = nil, _ answer: @escaping Handler
    ) -> Route {
        Route(
            operation, prefix: config.prefix, cors: cors ?? .rps(config.allowOrigin), choosing(operation, answer))
    }

    /// The operations for the RPA, on a listener of their own.
    var privateRoutes: [Route] {
        // Requests that would change options at run time are refused, because the options would then differ from the
        // configuration. Milagro's RPS also answers 403, unless a source of such options is configured.
        let fixed: Handler = { _, _ in throw APIError(.forbidden, "Options come from the configuration only") }
        return [
            ofRPA(.get, "/user/{id}") { request, context in try await revocationStatus(request.mpinID(context)) },
            ofRPA(.post, "/user/{id}") { request, context in try await activate(request, request.mpinID(context)) },
            ofRPA(.get, "/registration/{id}") { request, context in
                try await registrationState(request.mpinID(context))
            },
            ofRPA(.post, "/registration/{id}") { request, context in
                try await deleteRegistration(request, request.mpinID(context))
            },
            ofRPA(.post, "/authenticate", .endOfLogin) { request, _ in try await authenticate(request) },
            ofRPA(.post, "/loginResult") { request, _ in try await loginResult(request) },
            // RPAs that make the login pages themselves ask these.
            ofRPA(.post, "/getAccessNumber") { _, _ in try await getAccessNumber() },
            ofRPA(.post, "/getQrUrl") { request, _ in
                try await getQRCode(at: .init(try? await request.json(WaitingBrowserRequest.self, limits)))
            },
            ofRPA(.post, "/access", .page) { request, _ in try await access(request) },
            Route(.get, "/dynamicOptions", limit: .inside, fixed),
            Route(.post, "/dynamicOptions", limit: .inside, fixed),
            Route(.get, "/status", limit: .inside) { _, _ in .json(ErrorResponse(message: "active")) },
        ]
    }

    private func ofRPA(
        _ method: HTTPRequest.Method, _ path: String, _ kind: Route.Kind = .other, _ answer: @escaping Handler
    ) -> Route {
        Route(method, path, limit: .inside, kind: kind) { request, context in
            try requireRPA(request)
            return try await answer(request, context)
        }
    }

    private func requireRPA(_ request: Request) throws {
        guard config.privateNeedsToken else { return }
        guard let key = config.rpaKey else { throw APIError.internalError }
        try request.requireBearer(.fromRPA, key: key)
    }
}

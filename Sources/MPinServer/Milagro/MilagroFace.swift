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
    /// Chooses between the handlers of this wire for a path and those of another wire that shares the path, by the
    /// headers of each request.
    var choosing: @Sendable (_ path: String, [HTTPRequest.Method: Handler]) -> [HTTPRequest.Method: Handler] = { $1 }

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

    var cors: [CORSPolicy] {
        [.rps(prefix: config.prefix, origins: config.allowOrigin), .service(config.allowOrigin)]
    }

    /// Adds the routes below `/<prefix>`, and /service.
    func addPublicRoutes(to router: Router<RequestContext>) {
        let base = "/" + config.prefix
        for (path, handlers) in publicHandlers(base) { router.serve(path, choosing(path, handlers)) }
    }

    private func publicHandlers(_ base: String) -> [String: [HTTPRequest.Method: Handler]] {
        [
            base + "/clientSettings": [.get: { _, _ in try clientSettings() }],
            base + "/user": [.put: { request, context in try await register(request, id: nil, context) }],
            base + "/user/{id}": [
                .put: { request, context in try await register(request, id: request.mpinID(context), context) }
            ],
            base + "/signature/{id}": [
                .get: { request, context in try await signature(request, request.mpinID(context)) }
            ],
            base + "/setupDone/{id}": [
                .post: { request, context in try await setupDone(request, request.mpinID(context)) }
            ],
            base + "/timePermit/{id}": [
                .get: { request, context in try await timePermit(request.mpinID(context)) }
            ],
            base + "/permitStorage/{app}/{date}/{hash}": [
                .get: { _, context in try await storedPermit(context) }
            ],
            base + "/mobileConfig": [.get: { _, _ in try mobileConfig() }],
            "/service": [.get: { request, _ in try service(request) }],
            base + "/pass1": [.post: { request, _ in try await pass1(request) }],
            base + "/pass2": [.post: { request, context in try await pass2(request, context.logger) }],
            base + "/getAccessNumber": [.post: { _, _ in try await getAccessNumber() }],
            base + "/getQrUrl": [
                .post: { request, context in try await getQRCode(at: .init(asking: request, context)) }
            ],
            base + "/access": [.post: { request, _ in try await access(request) }],
            base + "/codeStatus": [.post: { request, _ in try await codeStatus(request) }],
            base + "/authenticate": [.post: { request, _ in try await authenticateMobile(request) }],
        ]
    }

    /// Adds the routes for the RPA, on a listener of their own.
    func addPrivateRoutes(to router: Router<RequestContext>) {
        router.serve(
            "/user/{id}",
            [
                .get: { request, context in
                    try requireRPA(request)
                    return try await revocationStatus(request.mpinID(context))
                },
                .post: { request, context in
                    try requireRPA(request)
                    return try await activate(request, request.mpinID(context))
                },
            ])
        router.serve(
            "/registration/{id}",
            [
                .get: { request, context in
                    try requireRPA(request)
                    return try await registrationState(request.mpinID(context))
                },
                .post: { request, context in
                    try requireRPA(request)
                    return try await deleteRegistration(request, request.mpinID(context))
                },
            ])
        router.serve(
            "/authenticate",
            [
                .post: { request, _ in
                    try requireRPA(request)
                    return try await authenticate(request)
                }
            ])
        router.serve(
            "/loginResult",
            [
                .post: { request, _ in
                    try requireRPA(request)
                    return try await loginResult(request)
                }
            ])
        // Requests that would change options at run time are refused, because the options would then differ from the
        // configuration. Milagro's RPS also answers 403, unless a source of such options is configured.
        let fixed: Handler = { _, _ in throw APIError(.forbidden, "Options come from the configuration only") }
        router.serve("/dynamicOptions", [.get: fixed, .post: fixed])
        addBrowserRoutes(to: router)
        router.serve("/status", [.get: { _, _ in .json(ErrorResponse(message: "active")) }])
    }

    /// Adds the private routes for RPAs that make the login pages themselves.
    private func addBrowserRoutes(to router: Router<RequestContext>) {
        let handlers: [String: @Sendable (Request) async throws -> Response] = [
            "/getAccessNumber": { _ in try await getAccessNumber() },
            "/getQrUrl": { request in
                try await getQRCode(at: .init(try? await request.json(WaitingBrowserRequest.self, limits)))
            },
            "/access": { request in try await access(request) },
        ]
        for (path, handler) in handlers {
            router.serve(
                path,
                [
                    .post: { request, _ in
                        try requireRPA(request)
                        return try await handler(request)
                    }
                ])
        }
    }

    private func requireRPA(_ request: Request) throws {
        guard config.privateNeedsToken else { return }
        guard let key = config.rpaKey else { throw APIError.internalError }
        try request.requireBearer(.fromRPA, key: key)
    }
}

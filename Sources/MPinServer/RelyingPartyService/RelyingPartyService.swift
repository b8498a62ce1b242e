import HTTPTypes
import Hummingbird
import MPinCrypto
import MPinSecrets
import MPinStore
import MPinWire

/// The RPS: its public endpoints (wire section 6) and its private ones (wire section 7).
struct RelyingPartyService: Sendable {
    let config: RelyingPartyServiceConfig
    let appID: String
    let store: any Store
    let sessions: any Store
    /// The places of those who never registered.
    let slots: Slots
    let keyRing: ServerKeyRing
    /// Nil: logins need no permits.
    let permitWatch: PermitWatch?
    let registrations: Registrations
    let identities: Identities
    let lost: LostRegistrations
    let activationCodes: ActivationCodes
    let challenges: Challenges
    let tokens: Tokens
    let browsers: BrowserSessions
    let pendingLogins: PendingLogins
    /// D-TA 2's permit shares in hex by day and hash of the M-Pin ID.
    let storedPermits: Table<String>
    let dta1: TrustAuthorityClient
    let dta2: TrustAuthorityClient
    let rpa: Peer
    /// The RPA's permit check, where it has one.
    let permitCheck: Peer?
    let permitAudit: PermitAudit
    let rates: RateLimiter
    let metrics: Metrics

    /// `store` keeps what must last, `sessions` what is good for a few minutes: in memory, so that nothing which was
    /// used before a restart can be used after it.
    init(
        config: RelyingPartyServiceConfig, appID: String, store: any Store, sessions: any Store, keyRing: ServerKeyRing,
        permitWatch: PermitWatch?, lost: LostRegistrations, dta1: TrustAuthorityClient, dta2: TrustAuthorityClient,
        rpa: Peer, rates: RateLimiter, metrics: Metrics
    ) {
        let slots = Slots(bits: config.limits.strangerBits, key: config.activationKey)
        self.config = config
        self.appID = appID
        self.store = store
        self.sessions = sessions
        self.slots = slots
        self.keyRing = keyRing
        self.permitWatch = permitWatch
        self.lost = lost
        self.dta1 = dta1
        self.dta2 = dta2
        self.rpa = rpa
        self.rates = rates
        self.metrics = metrics
        registrations = Registrations(in: store)
        identities = Identities(in: store, slots: slots, policy: config.attempts)
        activationCodes = ActivationCodes(in: store)
        challenges = Challenges(in: sessions, slots: slots, limit: config.limits.pass1Records)
        tokens = Tokens(in: sessions, slots: slots)
        browsers = BrowserSessions(in: sessions)
        pendingLogins = PendingLogins(in: sessions, seconds: config.limits.tokenSeconds)
        storedPermits = Table("permit", in: sessions)
        permitAudit = PermitAudit(config)
        permitCheck = config.permitURL.map { Peer(url: $0, seconds: config.limits.callSeconds) }
    }

    var limits: Limits { config.limits }
    var keys: ServerKeys { keyRing.keys }

    /// Everything below `/<prefix>`.
    func addPublicRoutes(to router: Router<RequestContext>) {
        let base = "/" + config.prefix
        router.serve(base + "/clientSettings", [.get: { _, _ in try clientSettings() }])
        router.serve(base + "/user", [.put: { request, _ in try await register(request, id: nil) }])
        router.serve(
            base + "/user/{id}",
            [.put: { request, context in try await register(request, id: request.mpinID(context)) }])
        router.serve(
            base + "/signature/{id}",
            [.get: { request, context in try await signature(request, request.mpinID(context)) }])
        router.serve(
            base + "/setupDone/{id}",
            [
                .post: { request, context in try await setupDone(request, request.mpinID(context)) }
            ])
        router.serve(
            base + "/timePermit/{id}", [.get: { request, context in try await timePermit(request.mpinID(context)) }])
        router.serve(
            base + "/permitStorage/{app}/{date}/{hash}", [.get: { _, context in try await storedPermit(context) }])
        router.serve(base + "/mobileConfig", [.get: { _, _ in try mobileConfig() }])
        router.serve("/service", [.get: { request, _ in try service(request) }])
        router.serve(base + "/pass1", [.post: { request, _ in try await pass1(request) }])
        router.serve(base + "/pass2", [.post: { request, context in try await pass2(request, context.logger) }])
        addBrowserRoutes(to: router, base: base)
    }

    private func addBrowserRoutes(to router: Router<RequestContext>, base: String) {
        router.serve(base + "/getAccessNumber", [.post: { _, _ in try await getAccessNumber() }])
        router.serve(base + "/getQrUrl", [.post: { _, _ in try await getQRCode() }])
        router.serve(base + "/access", [.post: { request, _ in try await access(request) }])
        router.serve(base + "/codeStatus", [.post: { request, _ in try await codeStatus(request) }])
        router.serve(base + "/authenticate", [.post: { request, _ in try await authenticateMobile(request) }])
    }

    /// For the RPA, on a listener of their own.
    func addPrivateRoutes(to router: Router<RequestContext>) {
        router.serve(
            "/user/{id}",
            [
                .get: { request, context in
                    try requireRPA(request)
                    return try await standing(request.mpinID(context))
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
        // What may change at run time would be a second configuration; the old server, too, says 403 unless told where it
        // is.
        let fixed: Handler = { _, _ in throw APIError(.forbidden, "Options come from the configuration only") }
        router.serve("/dynamicOptions", [.get: fixed, .post: fixed])
        addBrowserRoutes(to: router)
        router.serve("/status", [.get: { _, _ in .json(ErrorResponse(message: "active")) }])
    }

    /// For RPAs that make the pages themselves.
    private func addBrowserRoutes(to router: Router<RequestContext>) {
        let handlers: [String: @Sendable (Request) async throws -> Response] = [
            "/getAccessNumber": { _ in try await getAccessNumber() }, "/getQrUrl": { _ in try await getQRCode() },
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

    /// Now plus the life of a signed request, as D-TAs want it.
    func expires() -> String { config.clock().adding(seconds: limits.signedSeconds).iso }
}

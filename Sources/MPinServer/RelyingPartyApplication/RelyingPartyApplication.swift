import HTTPTypes
import Hummingbird
import Logging
import MPinSecrets
import MPinWire

/// The RPA (wire section 8): it verifies identities by mail, asks the RPS whether a login was right, and is the website
/// that people log in to.
struct RelyingPartyApplication: Sendable {
    let config: RelyingPartyApplicationConfig
    let rps: RelyingPartyServiceClient
    let mailer: Mailer
    let store: any Store
    let website: Website

    /// `service`: the RPS, where it runs in this process.
    init(_ config: RelyingPartyApplicationConfig, service: RelyingPartyService?) {
        self.config = config
        rps = RelyingPartyServiceClient(config, local: service)
        mailer = Mailer(delivery: config.delivery, seconds: config.limits.callSeconds)
        store = MemoryStore()
        let sessions = WebSessions(
            in: store, key: config.linkKey, isSecure: config.publicURL.hasPrefix("https://"), limits: config.limits,
            audit: config.audit)
        website = Website(config: config, sessions: sessions, rps: rps)
    }

    func addPublicRoutes(to router: Router<RequestContext>) {
        website.addRoutes(to: router)
        if let url = config.rpsURL {
            Forwarding(url: url, prefix: config.prefix, limits: config.limits).addRoutes(to: router)
        }
        router.serve("/mpinAuthenticate", [.post: { request, _ in try await authenticate(request) }])
        router.serve("/mpinLogout", [.post: { request, _ in try await logout(request) }])
        router.serve(
            "/mpinActivate",
            [.get: { request, _ in showLink(request) }, .post: { request, _ in await openLink(request) }])
    }

    /// For the RPS, on the private listener.
    func addPrivateRoutes(to router: Router<RequestContext>) {
        router.serve("/mpinVerify", [.post: { request, context in try await verify(request, context.logger) }])
        router.serve("/mpinPermitUser", [.get: { request, _ in try permit(request) }])
    }

    /// POST /mpinVerify (wire section 8.1). The link starts with the configured URL: nothing that a request carries can
    /// lead the user elsewhere.
    private func verify(_ request: Request, _ logger: Logger) async throws -> Response {
        try requireRPS(request)
        let wish = try await request.json(VerifyUserRequest.self, config.limits)
        guard config.delivery != .forceActivate else { return .json(VerifyUserResponse(forceActivate: true)) }
        let link = ActivationLink(id: wish.mpinId, expires: wish.expireTime, activateKey: wish.activateKey)
        do {
            try await mailer.send(
                link: link.url(base: config.publicURL, key: config.linkKey), to: wish.userId, expires: wish.expireTime)
        } catch is Mailer.NoAddress {
            throw APIError(.forbidden, "No mail can be sent to that userId")
        } catch {
            logger.error("mail was not sent", metadata: ["error": "\(error)"])
            throw APIError(.badGateway, "The mail could not be sent")
        }
        return .json(VerifyUserResponse(forceActivate: false, message: config.mailNotice))
    }

    private func requireRPS(_ request: Request) throws {
        guard let key = config.rpsKey else { return }
        try request.requireBearer(.fromRPS, key: key)
    }

    /// GET /mpinPermitUser (wire section 8.2): 410 for a user whom the operator has put on the list.
    private func permit(_ request: Request) throws -> Response {
        try requireRPS(request)
        guard let id = request.query("mpin_id").flatMap(MPinID.init(hex:)), let user = id.userID else {
            throw APIError.invalidID
        }
        guard try !RevokedUsers(file: config.revokedUsersFile).contains(id.hex, user: user) else {
            throw APIError(.gone, "The user is revoked")
        }
        return Response(status: .ok)
    }

    /// POST /mpinAuthenticate (wire section 8.3): a client brings what pass 2 gave it, or a browser what /access did. A
    /// browser is then logged in, if the page that asked is one of ours: else another site could log its visitors in as
    /// somebody whose account it watches. What another site's page brings is refused, unless the operator lists that site;
    /// what a program brings, which says of no page, is good for a login on its own device. In both cases the token is not
    /// used up.
    private func authenticate(_ request: Request) async throws -> Response {
        let body = try await request.json(AuthenticateRequest.self, config.limits)
        guard case .string(let authOTT)? = body.mpinResponse["authOTT"] else {
            throw APIError(.badRequest, "Missing authOTT")
        }
        guard !request.isFromAnotherSite(than: config.allowOrigin) else { throw APIError.foreignPage }
        let login = try await rps.login(authOTT: authOTT, ownPage: request.isFromThisSite, website.sessions)
        guard login.verdict.status == 200 else {
            throw APIError(
                .init(code: login.verdict.status), login.verdict.message, retryAfter: login.retryAfter,
                attemptsLeft: login.verdict.attemptsLeft)
        }
        var response = Response.json(answer(login.verdict))
        if request.isFromThisSite { try await website.begin(login, request, in: &response) }
        return response
    }

    private func answer(_ verdict: RPAAuthenticateResponse) -> LoginResponse {
        var answer = LoginResponse(userId: verdict.userId, message: verdict.message)
        guard verdict.OTP != nil else { return answer }
        let now = config.clock().microseconds / 1000
        let seconds = config.limits.tokenSeconds
        answer.nowTime = now
        answer.ttlSeconds = seconds
        answer.expireTime = now + Int64(seconds) * 1000
        return answer
    }

    /// POST /mpinLogout (wire section 8.5): the phone ends the browser's session with the data that it got for that.
    private func logout(_ request: Request) async throws -> Response {
        let body = try await request.json(LogoutRequest.self, config.limits)
        guard
            try await website.sessions.end(
                logoutToken: body.sessionToken, userID: body.userId, at: config.clock())
        else { throw APIError(.badRequest, "No such session") }
        return .json(["message": "logged out"])
    }
}

/// Activation (wire section 8.4).
extension RelyingPartyApplication {
    private enum LinkState {
        case good(ActivationLink)
        case bad(Response)
    }

    /// GET of an activation link: shows what is to be confirmed.
    private func showLink(_ request: Request) -> Response {
        switch link(in: request) {
        case .bad(let response): return response
        case .good(let link):
            guard let user = MPinID(hex: link.id)?.userID else { return Pages.invalid.response(.forbidden) }
            return Pages.confirm(user: user).response()
        }
    }

    /// POST on the same URL: hands the activation key to the RPS and shows its verdict. The signed link is more than a
    /// token against forged forms: who has it may use it.
    private func openLink(_ request: Request) async -> Response {
        switch link(in: request) {
        case .bad(let response): return response
        case .good(let link):
            do {
                switch try await rps.activate(id: link.id, activateKey: link.activateKey) {
                case 200: return Pages.activated.response()
                case 401: return Pages.used.response(.gone)
                case 400, 403, 404: return Pages.invalid.response(.forbidden)
                default: return Pages.failed.response(.badGateway)
                }
            } catch { return Pages.failed(error) }
        }
    }

    /// The signature first: the expiry of a forged link is nobody's.
    private func link(in request: Request) -> LinkState {
        guard let i = request.query("i"), let e = request.query("e"), let s = request.query("s"),
            let link = ActivationLink(i: i, e: e, s: s, key: config.linkKey), let expires = Moment(link.expires)
        else { return .bad(Pages.invalid.response(.forbidden)) }
        guard config.clock() < expires else { return .bad(Pages.expired.response(.gone)) }
        return .good(link)
    }
}

/// The answer of /mpinAuthenticate. With one-time digits it says how long they are good for (wire section 8.3).
private struct LoginResponse: Encodable {
    var userId: String
    var message: String
    /// Milliseconds since 1970.
    var expireTime: Int64?
    var nowTime: Int64?
    var ttlSeconds: Int?
}

/// What the phone posts to the logout URL.
private struct LogoutRequest: Decodable {
    var sessionToken: String
    var userId: String?
}

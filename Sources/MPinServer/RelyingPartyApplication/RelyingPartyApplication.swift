import HTTPTypes
import Hummingbird
import Logging
import MPinOpenID
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// The RPA (wire section 8). It confirms identities by mail, asks the RPS whether a login was right, and is the website
/// to which people log in.
struct RelyingPartyApplication: Sendable {
    let config: RelyingPartyApplicationConfig
    let rps: RelyingPartyServiceClient
    let mailer: Mailer
    let store: any Store
    let mails: PendingMails
    let website: Website

    /// `local`: the RPS if it runs in this process.
    init(_ config: RelyingPartyApplicationConfig, store: any Store, local: MilagroFace?) {
        self.config = config
        self.store = store
        rps = RelyingPartyServiceClient(config, local: local)
        mailer = config.site.mailer(seconds: config.limits.callSeconds)
        let sessions = WebSessions(
            in: store, key: config.linkKey, isSecure: config.site.publicURL.hasPrefix("https://"),
            limits: config.limits, audit: config.audit)
        mails = PendingMails(in: store)
        website = Website(config: config, sessions: sessions, rps: rps, mails: mails, mailer: mailer)
    }

    var publicRoutes: [Route] {
        let (site, cors) = (config.site, CORSPolicy.rpa(config.allowOrigin))
        return website.routes + (config.rpsURL.map { Forwarding(url: $0, config).routes } ?? []) + [
            Route(.post, "/mpinAuthenticate", limit: .login, kind: .endOfLogin, cors: cors) { request, _ in
                try await authenticate(request)
            },
            Route(.post, "/mpinLogout", limit: .other, cors: cors) { request, _ in try await logout(request) },
            site.page(.get, "/mpinActivate", .register, cors: cors) { request, _ in await showLink(request) },
            site.page(.post, "/mpinActivate", .register, cors: cors) { request, _ in try await answerLink(request) },
        ]
    }

    /// The operations for the RPS, on the private listener.
    var privateRoutes: [Route] {
        [
            Route(.post, "/mpinVerify", limit: .inside) { request, context in
                try await verify(request, context.logger)
            },
            Route(.get, "/mpinPermitUser", limit: .inside) { request, _ in try permit(request) },
        ]
    }

    /// POST /mpinVerify (wire section 8.1): sends the mail with the activation link. The link begins with the
    /// configured URL, so that nothing in a request can lead the user elsewhere.
    private func verify(_ request: Request, _ logger: Logger) async throws -> Response {
        try requireRPS(request)
        let body = try await request.json(VerifyUserRequest.self, config.limits)
        guard config.site.delivery != .forceActivate else { return .json(VerifyUserResponse(forceActivate: true)) }
        let link = ActivationLink(id: body.mpinId, expires: body.expireTime, activateKey: body.activateKey)
        let language = config.site.language(request)
        let content = MailContent(
            link: link.url(base: config.site.publicURL, key: config.linkKey), user: body.userId,
            expires: body.expireTime)
        do {
            try await mailer.send(content, in: language)
            try await mails.add(link, user: body.userId, in: language, at: config.clock())
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

    /// GET /mpinPermitUser (wire section 8.2): answers 410 for a user on the operator's list of revoked users, and
    /// otherwise 200.
    private func permit(_ request: Request) throws -> Response {
        try requireRPS(request)
        guard let id = request.query("mpin_id").flatMap(MPinID.init(hex:)), let user = id.userID else {
            throw APIError.invalidID
        }
        let key = UserKey(user, of: id.verifyingProject)
        guard try !RevokedUsers(file: config.site.revokedUsersFile).contains(id.hex, user: key) else {
            throw APIError(.gone, "The user is revoked")
        }
        return Response(status: .ok)
    }

    /// POST /mpinAuthenticate (wire section 8.3): redeems the one-time token that a client got from pass 2, or a
    /// browser from /access.
    ///
    /// A browser is then logged in, but only if a page of this site has sent the request: otherwise another site could
    /// log in its visitors to an account that it can watch. Requests from another site's page are refused, unless the
    /// operator allows that site. A request from a program, which names no page, is accepted for a login on its own
    /// device. A refusal does not use up the token.
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
        if request.isFromThisSite {
            // The pages of old clients know no question after the login.
            try await website.begin(login, isByNumber: false, request, in: &response)
        }
        return response
    }

    private func answer(_ verdict: RPAAuthenticateResponse) -> LoginResponse {
        var answer = LoginResponse(userId: verdict.userId, message: verdict.message)
        guard verdict.OTP != nil else { return answer }
        let now = config.clock().microseconds / 1000
        let seconds = config.limits.service.tokenSeconds
        answer.nowTime = now
        answer.ttlSeconds = seconds
        answer.expireTime = now + Int64(seconds) * 1000
        return answer
    }

    /// POST /mpinLogout (wire section 8.5): the phone ends the browser's session with the data that it got for this.
    private func logout(_ request: Request) async throws -> Response {
        let body = try await request.json(LogoutRequest.self, config.limits)
        guard
            try await website.sessions.end(
                logoutToken: body.sessionToken, userID: body.userId, at: config.clock())
        else { throw APIError(.badRequest, "No such session") }
        return .json(["message": "logged out"])
    }
}

/// The activation of identities (wire section 8.4).
extension RelyingPartyApplication {
    private enum LinkState {
        case good(ActivationLink, user: String, until: Moment)
        case bad(Response)
    }

    /// GET of an activation link: shows a page with the registration to confirm, or with the reason why there is none.
    private func showLink(_ request: Request) async -> Response {
        let pages = website.pages(request)
        switch link(in: request, pages) {
        case .bad(let response): return response
        case .good(let link, let user, let expires):
            do {
                let found = try await rps.registration(link.id)
                return ended(found?.state, pages)
                    ?? pages.confirm(user: user, until: expires, found).response()
            } catch { return pages.failed(error) }
        }
    }

    /// The page for a link that was used or is not valid any more. Nil if the registration is pending, or the RPS is
    /// Milagro's, which cannot tell.
    private func ended(_ state: RegistrationState?, _ pages: Pages) -> Response? {
        switch state {
        case .pending, nil: nil
        case .confirmed: pages.confirmedBefore.response()
        case .finished: pages.used.response(.gone)
        case .some(.none): pages.expired.response(.gone)
        }
    }

    /// POST to an activation link: sends the activation key to the RPS, to confirm the registration or to delete it,
    /// and shows the result. The form needs no token against forgery, because the signed link itself is secret.
    private func answerLink(_ request: Request) async throws -> Response {
        let pages = website.pages(request)
        switch link(in: request, pages) {
        case .bad(let response): return response
        case .good(let link, let user, _):
            let body = String(buffer: try await request.bytes(config.limits))
            let form = try? URLEncodedFormDecoder().decode([String: String].self, from: body)
            let isDelete = form?["delete"] == "1"
            do {
                let status =
                    isDelete
                    ? try await rps.deleteRegistration(id: link.id, activateKey: link.activateKey)
                    : try await rps.activate(id: link.id, activateKey: link.activateKey)
                guard status == 200 else { return try await refused(link, status, pages) }
                try await mails.remove(id: link.id, user: user, at: config.clock())
                return (isDelete ? pages.deleted(user: user) : pages.activated).response()
            } catch { return pages.failed(error) }
        }
    }

    private func refused(_ link: ActivationLink, _ status: Int, _ pages: Pages) async throws -> Response {
        switch status {
        case 401: return ended(try await rps.registration(link.id)?.state, pages) ?? pages.expired.response(.gone)
        case 400, 403, 404: return pages.invalid.response(.forbidden)
        default: return pages.failed.response(.badGateway)
        }
    }

    /// Checks the link in the URL of a request. Its signature is checked before its expiry, because the expiry of a
    /// forged link means nothing.
    private func link(in request: Request, _ pages: Pages) -> LinkState {
        guard let i = request.query("i"), let e = request.query("e"), let s = request.query("s"),
            let link = ActivationLink(i: i, e: e, s: s, key: config.linkKey), let expires = Moment(link.expires),
            let user = MPinID(hex: link.id)?.userID
        else { return .bad(pages.invalid.response(.forbidden)) }
        guard config.clock() < expires else { return .bad(pages.expired.response(.gone)) }
        return .good(link, user: user, until: expires)
    }
}

/// The answer of /mpinAuthenticate. With one-time digits it tells how long they are valid (wire section 8.3).
private struct LoginResponse: Encodable {
    var userId: String
    var message: String
    /// When the digits expire, in milliseconds since 1970. `nowTime` is the server's time in the same form.
    var expireTime: Int64?
    var nowTime: Int64?
    var ttlSeconds: Int?
}

/// The data that the phone posts to the logout URL.
private struct LogoutRequest: Decodable {
    var sessionToken: String
    var userId: String?
}

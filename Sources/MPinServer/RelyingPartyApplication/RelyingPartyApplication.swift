import Foundation
import HTTPTypes
import Hummingbird
import Logging
import MPinSecrets
import MPinWire

/// The RPA (wire section 8): it verifies identities by mail and asks the RPS whether a login was right.
struct RelyingPartyApplication: Sendable {
    let config: RelyingPartyApplicationConfig
    let rps: Peer
    let mailer: Mailer

    init(_ config: RelyingPartyApplicationConfig) {
        self.config = config
        rps = Peer(url: config.rpsPrivateURL, seconds: config.limits.callSeconds)
        mailer = Mailer(delivery: config.delivery, seconds: config.limits.callSeconds)
    }

    func addPublicRoutes(to router: Router<BasicRequestContext>) {
        router.serve("/", [.get: { _, _ in .html(Pages.home) }])
        router.serve("/mpinAuthenticate", [.post: { request, _ in try await authenticate(request) }])
        router.serve(
            "/mpinActivate",
            [.get: { request, _ in showLink(request) }, .post: { request, _ in try await openLink(request) }])
    }

    /// For the RPS, on the private listener.
    func addPrivateRoutes(to router: Router<BasicRequestContext>) {
        router.serve("/mpinVerify", [.post: { request, context in try await verify(request, context.logger) }])
    }

    /// POST /mpinVerify (wire section 8.1). The link starts with the configured URL: nothing that a request carries can
    /// lead the user elsewhere.
    private func verify(_ request: Request, _ logger: Logger) async throws -> Response {
        try request.requireBearer(.fromRPS, key: config.rpsKey)
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
        return .json(VerifyUserResponse(forceActivate: false))
    }

    /// POST /mpinAuthenticate (wire section 8.3): the client brings what pass 2 gave it.
    private func authenticate(_ request: Request) async throws -> Response {
        let body = try await request.json(AuthenticateRequest.self, config.limits)
        guard case .string(let authOTT)? = body.mpinResponse["authOTT"] else {
            throw APIError(.badRequest, "Missing authOTT")
        }
        let answer = try await askRPS("/authenticate", RPAAuthenticateRequest(authOTT: authOTT))
        guard let verdict = answer.json(RPAAuthenticateResponse.self), verdict.status == answer.status else {
            throw APIError(.badGateway, "The relying party service failed")
        }
        guard verdict.status == 200 else { throw APIError(.init(code: verdict.status), verdict.message) }
        return .json(["userId": verdict.userId, "message": verdict.message] as [String: String])
    }

    private func askRPS(_ path: String, _ body: some Encodable & Sendable) async throws -> Peer.Answer {
        do {
            return try await rps.post(path, body, bearer: SignedMessage.fromRPA.signature(key: config.rpsKey))
        } catch {
            throw APIError(.badGateway, "The relying party service cannot be reached")
        }
    }
}

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
            let id = MPinID(hex: link.id)
            let content = id.flatMap { try? JSONDecoder().decode(MPinIDContent.self, from: Data($0.bytes)) }
            guard let content else { return .html(Pages.invalid, status: .forbidden) }
            return .html(Pages.confirm(user: content.userID))
        }
    }

    /// POST on the same URL: hands the activation key to the RPS and shows its verdict.
    private func openLink(_ request: Request) async throws -> Response {
        switch link(in: request) {
        case .bad(let response): return response
        case .good(let link):
            let answer = try? await askRPS("/user/" + link.id, ActivateRequest(activateKey: link.activateKey))
            switch answer?.status {
            case 200: return .html(Pages.activated)
            case 401: return .html(Pages.used, status: .gone)
            case 400, 403, 404: return .html(Pages.invalid, status: .forbidden)
            default: return .html(Pages.failed, status: .badGateway)
            }
        }
    }

    /// The signature first: the expiry of a forged link is nobody's.
    private func link(in request: Request) -> LinkState {
        guard let i = request.query("i"), let e = request.query("e"), let s = request.query("s"),
            let link = ActivationLink(i: i, e: e, s: s, key: config.linkKey), let expires = Moment(link.expires)
        else { return .bad(.html(Pages.invalid, status: .forbidden)) }
        guard config.clock() < expires else { return .bad(.html(Pages.expired, status: .gone)) }
        return .good(link)
    }
}

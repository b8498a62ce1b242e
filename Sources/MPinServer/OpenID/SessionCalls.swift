import HTTPTypes
import Hummingbird
import Logging
import MPinOpenID
import MPinService
import MPinWire

/// Logins without a page of ours: an app, or a page of the client, asks for a session and shows it to a phone itself.
extension OpenIDFace {
    /// POST /authorize with a JSON body, whose members say nothing that is needed here: the request is in the query. No
    /// cookie counts, and no page is shown.
    func openSession(_ request: Request, _ logger: Logger) async throws -> Response {
        guard let parameters = RequestParameters(request.uri.query ?? "") else {
            throw APIError(.badRequest, "No request")
        }
        switch try await provider.read(parameters).reading {
        case .refused(let fault):
            logger.notice("session refused", metadata: ["fault": "\(fault)"])
            throw APIError(.badRequest, "Unknown client, or redirect URI that is not registered")
        case .returned(let fault, _): throw APIError(.badRequest, "\(fault.code.rawValue): \(fault.description)")
        case .accepted(let wish):
            let browser = try await service.openBrowser(.code)
            try await provider.logins.keep(wish, webOTT: browser.webOTT, at: provider.now)
            return .json(
                OpenedSession(
                    webOTT: browser.webOTT, accessId: browser.wid, qrURL: "\(config.publicURL)#\(browser.wid)",
                    accessURL: provider.base + LoginPaths.access, ttlSeconds: browser.seconds))
        }
    }

    /// POST /authorize/access: how far the phone is; in the end the URL to go to, once.
    func follow(_ request: Request) async throws -> Response {
        let body = try await request.json(AccessRequest.self, limits)
        let webOTT = body.webOTT.lowercased()
        let view = try await service.follow(
            webOTT: webOTT, known: .init(status: body.status, refusals: body.refusals?.value),
            seconds: body.wait?.value ?? 0)
        var answer = AccessResponse(status: view.status, userId: view.userID)
        answer.refusals = view.refusals
        guard view.status == "authenticate",
            let wish = try await provider.logins.take(webOTT: webOTT, at: provider.now)
        else { return .json(answer) }
        answer.redirectURL = wish.address.location(try await members(wish, view.authOTT))
        return .json(answer)
    }

    /// What goes back to the client. Who would have to be asked for consent is not: there is no page for it.
    private func members(_ wish: AuthorizationRequest, _ authOTT: String) async throws -> [(String, String)] {
        guard let client = try await provider.client(wish.address.clientID), !client.isDisabled,
            let login = try await redeemed(authOTT)
        else {
            return wish.address.answer(
                AuthorizationFault(.accessDenied, "the login was refused"), issuer: config.issuer)
        }
        let progress = LoginProgress(fresh: login, isByNumber: false)
        switch try await provider.step(wish, of: client, progress) {
        case .answer(let login): return try await provider.answer(wish, login, sessionID: nil)
        case .refusal(let fault): return wish.address.answer(fault, issuer: config.issuer)
        default:
            let fault = AuthorizationFault(.consentRequired, "there is no page that could ask the user")
            return wish.address.answer(fault, issuer: config.issuer)
        }
    }
}

/// MIRACL's answer to whoever shows the code itself.
private struct OpenedSession: Encodable {
    let webOTT: String
    let accessId: String
    let qrURL: String
    let accessURL: String
    let ttlSeconds: Int
}

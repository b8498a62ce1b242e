import HTTPTypes
import Hummingbird
import Logging
import MPinOpenID
import MPinService
import MPinWire

/// Logins without a page of ours: an app, or a page of the client, opens a session by JSON and shows its QR code to a
/// phone itself.
extension OpenIDFace {
    /// Answers POST /authorize with a JSON body. The authorization request is in the query; the body may name the user
    /// whom the page expects (`prerollId`, TRUST wire section 7.1), as `login_hint` does. Cookies have no effect, because
    /// no page is shown that could ask their user.
    func openSession(_ request: Request, _ context: RequestContext) async throws -> Response {
        let browser = try await openSession(request, for: nil, context)
        // MIRACL's form of the answer to a client that shows the QR code itself.
        return .json(
            .object([
                "webOTT": .string(browser.webOTT), "accessId": .string(browser.wid),
                "qrURL": .string("\(config.site.publicURL)#\(browser.wid)"),
                "accessURL": .string(provider.base + LoginPaths.access), "ttlSeconds": .int(browser.seconds),
            ]))
    }

    /// Opens the session for the authorization request in the query. `user`: whom the phone proposes; nil stands for whom
    /// the request names.
    func openSession(
        _ request: Request, for user: String?, _ context: RequestContext
    ) async throws -> AuthenticationService.OpenedBrowser {
        guard let parameters = RequestParameters(request.uri.query ?? "") else {
            throw APIError(.badRequest, "No request")
        }
        let (reading, client) = try await provider.read(parameters)
        switch reading {
        case .refused(let fault):
            context.logger.notice("session refused", metadata: ["fault": "\(fault)"])
            throw APIError(.badRequest, "Unknown client, or redirect URI that is not registered")
        case .returned(let fault, _): throw APIError(.badRequest, "\(fault.code.rawValue): \(fault.description)")
        case .accepted(let wish):
            let named = (try? await request.json(TrustPreroll.self, limits))?.userID.flatMap {
                (1...limits.service.userIDBytes).contains($0.utf8.count) ? $0 : nil
            }
            let details = client.flatMap { wish.details($0, user: user ?? named) }
            let browser = try await service.openBrowser(
                .code, details: details, place: .init(asking: request, context))
            try await provider.logins.keep(wish, webOTT: browser.webOTT, wid: browser.wid, at: provider.now)
            return browser
        }
    }

    /// Answers POST /authorize/access: how far the phone's login is. When the phone has logged in, one answer contains
    /// the URL with the code.
    func follow(_ request: Request) async throws -> Response {
        let body = try await request.json(AccessRequest.self, limits)
        let webOTT = body.webOTT.lowercased()
        let view = try await service.follow(
            webOTT: webOTT, known: .init(status: body.status, refusals: body.refusals?.value),
            seconds: body.wait?.value ?? 0)
        var answer = AccessResponse(status: view.status, userId: view.userID)
        answer.refusals = view.refusals
        if view.status == "authenticate", let end = try await redirect(webOTT, view.authOTT) {
            (answer.status, answer.userId, answer.redirectURL) = ("authenticated", end.userID, end.url)
        }
        return .json(answer.json)
    }

    /// Returns the URL with the code for the client that has opened the session with `webOTT`, after a phone has logged
    /// in, and the user, who is empty if the login was refused. Nil if no client has, or its answer was already taken.
    func redirect(_ webOTT: String, _ authOTT: String) async throws -> (url: String, userID: String)? {
        guard let wish = try await provider.logins.take(webOTT: webOTT, at: provider.now) else { return nil }
        var user = ""
        let members = try await members(wish) {
            let login = try await redeemed(authOTT, forCode: true)
            user = login?.user.userID ?? ""
            return login
        }
        return (wish.address.location(members), user)
    }

    /// Lets the session of a page that sends no authorization request end at the redirect URI of the client `id`, with a
    /// code and without a state. Changes nothing if there is a choice, or something that only such a request can say: the
    /// client has several redirect URIs, is public, so that it needs a PKCE challenge, or its users are asked for consent.
    func redirect(_ browser: AuthenticationService.OpenedBrowser, to id: String) async throws {
        guard let client = try await provider.client(id), client.redirectURIs.count == 1,
            let uri = client.redirectURIs.first, client.isFirstParty
        else { return }
        let members = [
            ("client_id", id), ("redirect_uri", uri.text), ("response_type", "code"), ("scope", "openid"),
        ]
        guard let parameters = RequestParameters(RequestParameters.query(members)),
            case (.accepted(let wish), _) = try await provider.read(parameters)
        else { return }
        try await provider.logins.keep(wish, webOTT: browser.webOTT, wid: browser.wid, at: provider.now)
    }

    /// Returns the URL with the code, as ``redirect(_:_:)`` does, for a login whose token was redeemed already.
    func redirect(_ webOTT: String, _ login: UserLogin) async throws -> String? {
        guard let wish = try await provider.logins.take(webOTT: webOTT, at: provider.now) else { return nil }
        return wish.address.location(try await members(wish) { login })
    }

    /// Returns the code for an app whose user has logged in on this phone: the phone gets it, and not the session's
    /// page. Nil if the session is not that of a client, or its page already got the answer. Throws 403 if the client
    /// gets an error instead of a code.
    func code(authOTT: String, wid: String) async throws -> String? {
        guard let wish = try await provider.logins.take(wid: wid, at: provider.now) else { return nil }
        let members = try await members(wish) { try await redeemed(authOTT, forCode: true) }
        guard let code = members.first(where: { $0.0 == "code" }) else {
            let reason = members.first { $0.0 == "error_description" }?.1 ?? "the login was refused"
            throw APIError(.forbidden, reason)
        }
        return code.1
    }

    /// Returns the parameters for the client's redirect URI: a code, or an error. If the client needs the user's
    /// consent, it is an error, because there is no page that could ask for it. `redeem` returns the login; nil if it was
    /// refused.
    private func members(
        _ wish: AuthorizationRequest, _ redeem: () async throws -> UserLogin?
    ) async throws -> [(String, String)] {
        guard let client = try await provider.client(wish.address.clientID), !client.isDisabled,
            let login = try await redeem()
        else {
            return wish.address.answer(
                AuthorizationFault(.accessDenied, "the login was refused"), issuer: config.issuer)
        }
        let progress = LoginProgress(fresh: login, isByNumber: false)
        switch try await provider.step(wish, of: client, progress) {
        case .answer(let login): return try await provider.answer(wish, login, sessionID: nil)
        case .refusal(let fault): return wish.address.answer(fault, issuer: config.issuer)
        case .noAccess(let login):
            provider.reportNoAccess(login, to: client)
            return wish.address.answer(.noAccess, issuer: config.issuer)
        default:
            let fault = AuthorizationFault(.consentRequired, "there is no page that could ask the user")
            return wish.address.answer(fault, issuer: config.issuer)
        }
    }
}

import Foundation
import HTTPTypes
import Hummingbird
import MPinSecrets
import MPinService
import MPinWire

/// The website: people sign up, log in with a phone, see their account, and log out.
struct Website: Sendable {
    let config: RelyingPartyApplicationConfig
    let sessions: WebSessions
    let rps: RelyingPartyServiceClient
    let mails: PendingMails
    let mailer: Mailer

    var routes: [Route] {
        let cors = CORSPolicy.rpa(config.allowOrigin)
        func page(
            _ method: HTTPRequest.Method, _ path: String, _ limit: Route.Limit, _ answer: @escaping Handler
        ) -> Route {
            config.site.page(method, path, limit, cors: cors, answer)
        }
        return config.site.files + [
            page(.get, "/", .other) { request, _ in try await home(request) },
            page(.get, "/signup", .other) { request, _ in signUp(request) },
            page(.get, "/signup/mail", .register) { request, _ in try awaitMail(request) },
            page(.post, "/signup/mail", .register) { request, context in try await resend(request, context.logger) },
            page(.get, "/login", .access) { request, context in try await offer(request, context, .code) },
            page(.post, "/login", .access) { request, _ in try await login(request, .code) },
            page(.get, "/login/number", .access) { request, context in try await offer(request, context, .number) },
            page(.post, "/login/number", .access) { request, _ in try await login(request, .number) },
            page(.get, "/login/confirm", .access) { request, _ in try await showProposal(request) },
            page(.post, "/login/confirm", .access) { request, _ in try await answerProposal(request) },
            page(.get, "/account", .access) { request, _ in try await account(request) },
            page(.post, "/logout", .other) { request, _ in try await logout(request) },
        ]
    }

    /// The pages in this visitor's language.
    func pages(_ request: Request) -> Pages { config.site.pages(request) }

    private func signUp(_ request: Request) -> Response {
        let pages = pages(request)
        let subject = config.site.mail.subject(in: config.site.language, brand: config.site.brand)
        return pages.signUp(backend: config.site.publicURL, subject: subject).response()
    }

    private func home(_ request: Request) async throws -> Response {
        try await pages(request).home(user: session(request)?.userID).response()
    }

    /// The session of the browser; nil if it is not logged in. A session whose user was revoked is ended.
    private func session(_ request: Request) async throws -> WebSession? {
        let now = config.clock()
        guard let id = sessions.id(request), let session = try await sessions.session(id, at: now) else { return nil }
        guard try await rps.isRevoked(session) else { return session }
        try await sessions.end(id, at: now)
        return nil
    }

    /// GET /account: shows the account. A browser without a session is sent to /login.
    private func account(_ request: Request) async throws -> Response {
        guard let id = sessions.id(request), let session = try await session(request) else {
            return .seeOther("/login")
        }
        return pages(request).account(session, csrf: sessions.formToken(id), settings: config.settingsURL).response()
    }

    /// GET /login and /login/number: shows a new QR code or access number.
    private func offer(_ request: Request, _ context: RequestContext, _ way: LoginOffer.Way) async throws -> Response {
        let (pages, old) = (pages(request), sessions.id(request))
        let id = try old ?? .random()
        let browser: WaitingBrowserResponse
        do {
            let path = way == .code ? "/getQrUrl" : "/getAccessNumber"
            browser = try await rps.waitingBrowser(path, for: .init(request, context))
        } catch { return pages.failed(error) }
        let offer = LoginOffer(
            way: way, browser: browser, publicURL: config.site.publicURL, prefix: config.prefix,
            csrf: sessions.formToken(id))
        guard let page = offer.page(pages) else { return pages.failed.response(.badGateway) }
        var response = page.response()
        if old == nil { sessions.give(id, seconds: nil, to: &response) }
        return response
    }

    /// POST /login and /login/number, by the button of a login page without scripts: logs the browser in if the phone's
    /// PIN was right. After a login by access number the person at the browser must first accept the login: there are
    /// so few numbers that another user could find the one on this page by trying. The id in a QR code has 128 random
    /// bits, so only somebody who has seen the screen knows it.
    private func login(_ request: Request, _ way: LoginOffer.Way) async throws -> Response {
        let pages = pages(request)
        guard let form = try await form(request, of: sessions.id(request)), let webOTT = form["webOTT"],
            let csrf = form["csrf"]
        else { return pages.refusedForm.response(.forbidden) }
        guard let access = try? await rps.access(webOTT: webOTT), access.status != "expired" else {
            return pages.tooLate.response()
        }
        guard access.status == "authenticate" else {
            return pages.notYet(LoginState(access), way, webOTT: webOTT, csrf: csrf).response()
        }
        guard let login = try? await rps.login(authOTT: access.authOTT, ownPage: true, sessions),
            login.verdict.status == 200
        else {
            return pages.refusedLogin.response(.forbidden)
        }
        let isByNumber = login.verdict.byNumber ?? (way == .number)
        var response = Response.seeOther(isByNumber ? "/login/confirm" : "/account")
        try await begin(login, isByNumber: isByNumber, request, in: &response)
        return response
    }

    /// GET /login/confirm: shows the user as whom this browser is about to be logged in.
    private func showProposal(_ request: Request) async throws -> Response {
        guard let id = sessions.proposalID(request),
            let session = try await sessions.proposal(id, at: config.clock())
        else { return pages(request).tooLate.response() }
        return pages(request).proposal(user: session.userID, csrf: sessions.formToken(id)).response()
    }

    /// POST /login/confirm: accepts or declines the login.
    private func answerProposal(_ request: Request) async throws -> Response {
        let pages = pages(request)
        guard let id = sessions.proposalID(request), let form = try await form(request, of: id) else {
            return pages.refusedForm.response(.forbidden)
        }
        let now = config.clock()
        var response: Response
        if form["answer"] != "yes" {
            try await sessions.decline(id, at: now)
            response = pages.declined.response()
        } else if try await sessions.accept(id, at: now) {
            if let old = sessions.id(request) { try await sessions.end(old, at: now) }
            response = .seeOther("/account")
            sessions.giveSession(id, to: &response)
        } else {
            response = pages.tooLate.response()
        }
        sessions.forgetProposal(in: &response)
        return response
    }

    /// Logs in the browser that gets the response, under a new id. After a login by access number the person at the browser
    /// must accept it first.
    func begin(
        _ login: RelyingPartyServiceClient.Login, isByNumber: Bool, _ request: Request, in response: inout Response
    ) async throws {
        let now = config.clock()
        guard !isByNumber else {
            try await sessions.propose(
                login.session, userID: login.verdict.userId, mpinID: login.verdict.mpinId, at: now)
            return sessions.giveProposal(login.session, to: &response)
        }
        if let old = sessions.id(request) { try await sessions.end(old, at: now) }
        try await sessions.start(login.session, userID: login.verdict.userId, mpinID: login.verdict.mpinId, at: now)
        sessions.giveSession(login.session, to: &response)
    }

    private func logout(_ request: Request) async throws -> Response {
        guard let id = sessions.id(request), try await form(request, of: id) != nil else {
            return pages(request).refusedForm.response(.forbidden)
        }
        try await sessions.end(id, at: config.clock())
        var response = pages(request).loggedOut.response()
        sessions.forget(in: &response)
        return response
    }

    /// The members of a form, if this site has shown it to the browser with this id; nil for any other form.
    func form(_ request: Request, of id: WebSessionID?) async throws -> [String: String]? {
        guard request.isFromThisSite, let id else { return nil }
        let body = String(buffer: try await request.bytes(config.limits))
        guard let form = try? URLEncodedFormDecoder().decode([String: String].self, from: body),
            let token = form["csrf"], sessions.isFormToken(token, of: id)
        else { return nil }
        return form
    }
}

extension Request {
    /// Whether a page of this site has sent the request, as the browser reports. Browsers send `Sec-Fetch-Site` only to
    /// hosts with a secure connection or on the same machine; for other hosts the origin is compared with the host that
    /// was called.
    var isFromThisSite: Bool {
        if let name = HTTPField.Name("Sec-Fetch-Site"), let site = headers[name] { return site == "same-origin" }
        guard let origin = headers[.origin], let host = head.authority else { return false }
        return origin == "http://" + host || origin == "https://" + host
    }
}

extension Request {
    /// Whether the request comes from a page of another site that is not one of `origins`, where `*` stands for all.
    func isFromAnotherSite(than origins: [String]) -> Bool {
        guard !isFromThisSite else { return false }
        guard let origin = headers[.origin] else {
            return HTTPField.Name("Sec-Fetch-Site").map { headers.contains($0) } ?? false
        }
        return !origins.contains(origin) && !origins.contains("*")
    }
}

extension Response {
    /// Sends the browser to `path` with GET.
    fileprivate static func seeOther(_ path: String) -> Response {
        Response(status: .seeOther, headers: [.location: path])
    }
}

import HTTPTypes
import Hummingbird
import MPinOpenID
import MPinService
import MPinStore
import NIOCore

/// Paths of the login pages, relative to the issuer.
enum LoginPaths {
    static let login = "/authorize/login"
    static let confirm = "/authorize/confirm"
    /// For clients that show the QR code themselves, and ask here whether a phone has logged in.
    static let access = "/authorize/access"
}

/// A browser tab with a login transaction.
struct LoginTab {
    let id: OpaqueToken
    let browser: OpaqueToken
    let request: AuthorizationRequest
    let client: Client
    /// Where the browser is.
    let place: WaitingBrowser.Place?
}

/// The pages between a client's authorization request and the answer to it.
extension OpenIDFace {
    /// Returns the page for a step. `way` says whether a login page shows a QR code or an access number.
    func show(
        _ step: AuthorizationStep, _ tab: LoginTab, _ way: LoginOffer.Way, _ pages: Pages
    ) async throws -> Response {
        let page = ProviderPages(
            pages: pages, id: tab.id.text, client: tab.client, address: tab.request.address, config: config,
            device: tab.request.device)
        switch step {
        case .login:
            let browser = try await service.openBrowser(
                way == .code ? .code : .number, details: tab.request.details(tab.client), place: tab.place)
            let changed = try await provider.logins.change(tab.id, in: tab.browser, at: provider.now) {
                $0.webOTT = browser.webOTT
                $0.showsNumber = way == .number
            }
            guard changed != nil else { return pages.over.response(.badRequest) }
            return page.login(browser, way)
        case .confirmation(let login): return page.confirmation(login)
        case .noAccess(let login):
            provider.reportNoAccess(login, to: tab.client)
            return page.noAccess(login)
        case .account(let login): return page.account(login)
        case .consent(let login): return page.consent(login, tab.request.scopesToAllow(tab.client))
        case .answer, .refusal: return pages.failed.response(.internalServerError)
        }
    }

    /// Returns the login transaction with the name `id`. Nil if it has ended, or if it began in another browser.
    private func tab(
        _ id: String?, _ request: Request, _ context: RequestContext
    ) async throws -> (LoginTab, LoginTransaction)? {
        guard let id = id.flatMap({ OpaqueToken($0) }), let browser = cookies.browser(request),
            let found = try await provider.logins.transaction(id, in: browser, at: provider.now),
            let client = try await client(of: found.request), !client.isDisabled
        else { return nil }
        let place = WaitingBrowser.Place(request, context)
        return (LoginTab(id: id, browser: browser, request: found.request, client: client, place: place), found)
    }

    private func client(of wish: AuthorizationRequest) async throws -> Client? {
        wish.isForAccount ? accountClient : try await provider.client(wish.address.clientID)
    }

    /// Answers GET /authorize/login with a new QR code or access number for the same login.
    func offerAgain(_ request: Request, _ context: RequestContext) async throws -> Response {
        guard let (tab, transaction) = try await tab(request.query("id"), request, context) else {
            return pages(request).over.response(.badRequest)
        }
        let pages = pages(request, tab.request)
        return try await telling(tab.request.address, pages, context.logger) {
            let step = try await provider.step(tab.request, of: tab.client, transaction.progress)
            return try await StoreBudget.goingOn {
                try await show(step, tab, request.query("way") == "number" ? .number : .code, pages)
            }
        }
    }

    /// Returns the form that a login page has posted, with the login transaction that it names. Nil if the form comes
    /// from another site, or the transaction has ended or belongs to another browser.
    private func form(
        _ request: Request, _ context: RequestContext
    ) async throws -> (RequestParameters, LoginTab, LoginTransaction)? {
        guard request.isFromThisSite, request.isForm,
            let form = RequestParameters(String(buffer: try await request.bytes(limits))),
            let (tab, transaction) = try await tab(form["id"], request, context)
        else { return nil }
        return (form, tab, transaction)
    }

    /// Answers POST /authorize/login. The page's script posts it when a phone has logged in, or a person without
    /// scripts presses the button.
    func proceed(_ request: Request, _ context: RequestContext) async throws -> Response {
        guard let (_, tab, transaction) = try await form(request, context) else {
            return pages(request).over.response(.badRequest)
        }
        let pages = pages(request, tab.request)
        return try await telling(tab.request.address, pages, context.logger) {
            guard let webOTT = transaction.webOTT else { return try await goOn(tab, request, pages) }
            let view = try await service.follow(webOTT: webOTT, known: .init(status: nil, refusals: 0), seconds: 0)
            switch view.status {
            case "authenticate": return try await redeem(view.authOTT, tab, request, pages)
            case "abort":
                let fault = AuthorizationFault(.accessDenied, "declined on the phone")
                return try await refuse(fault, by: transaction.progress, tab, pages)
            case "expired": return pages.tooLate(path(LoginPaths.login) + "?id=" + tab.id.text).response()
            default:
                let page = ProviderPages(
                    pages: pages, id: tab.id.text, client: tab.client, address: tab.request.address, config: config)
                return page.notYet(view, transaction.showsNumber ? .number : .code)
            }
        }
    }

    /// Makes the user who has logged in with a phone the user of this login.
    private func redeem(
        _ authOTT: String, _ tab: LoginTab, _ request: Request, _ pages: Pages
    ) async throws -> Response {
        let phone = try PhoneLogout(key: logoutKey)
        let found: UserLogin?
        do { found = try await redeemed(authOTT, phone) } catch ServiceError.expiredLogin {
            return pages.tooLate(path(LoginPaths.login) + "?id=" + tab.id.text).response()
        }
        guard let login = found else { return pages.refusedLogin.response(.forbidden) }
        _ = try await provider.logins.change(tab.id, in: tab.browser, at: provider.now) {
            let isByNumber = $0.showsNumber
            $0.webOTT = nil
            $0.progress = LoginProgress(fresh: login, isByNumber: isByNumber, phoneKey: phone.sessionKey)
        }
        return try await goOn(tab, request, pages)
    }

    /// Redeems `authOTT` for the user who has logged in with a phone, and lets the phone know the result. Nil if the
    /// user is revoked or the login was not right. With `logout` the phone can end the session that will begin.
    /// `forCode`: whether the login is for nothing but a code. When the client redeems that, the identity is looked up
    /// again. Throws ``ServiceError/expiredLogin`` if `authOTT` is too old.
    func redeemed(
        _ authOTT: String, _ logout: PhoneLogout? = nil, forCode: Bool = false
    ) async throws -> UserLogin? {
        let outcome = WaitingBrowser.Outcome(
            logoutURL: logout == nil ? "" : phoneLogoutPath, logoutData: logout?.data)
        let report = try await service.redeem(
            authOTT, isOwnPage: true, takesProjects: true, outcome: outcome)
        metrics.count(.logins, [String(report.verdict.status)])
        let login = UserLogin(userID: report.user.text, mpinID: report.mpinID, time: report.now)
        guard report.verdict == .right else { return nil }
        // Pass 2 has refused a revoked identity. The list of revoked users is the relying party's, which decides now.
        let isAllowed =
            forCode && !service.rules.waitsForResult
            ? try !revoked.contains(login.mpinID, user: login.user) : try await provider.permission(login)
        if service.rules.waitsForResult {
            try await service.finish(authOTT) { outcome in
                var outcome = outcome
                if !isAllowed { (outcome.status, outcome.message) = (403, "The user is revoked") }
                return outcome
            }
        }
        return isAllowed ? login : nil
    }

    /// Answers POST /authorize/confirm: the button that the person at the browser has pressed on a page.
    func confirm(_ request: Request, _ context: RequestContext) async throws -> Response {
        guard let (form, tab, transaction) = try await form(request, context) else {
            return pages(request).over.response(.badRequest)
        }
        let pages = pages(request, tab.request)
        return try await telling(tab.request.address, pages, context.logger) {
            let step = try await provider.step(tab.request, of: tab.client, transaction.progress)
            guard form["step"] == step.name else { return try await goOn(tab, request, pages) }
            switch (form["answer"], step) {
            case ("yes", .consent(let login)):
                try await provider.allow(tab.request, of: tab.client, by: login)
                try await change(tab) { $0.isConsented = true }
            case ("yes", .confirmation), ("yes", .account): try await change(tab) { $0.isConfirmed = true }
            // "other": the person wants another user. "no" to a confirmation: the phone was somebody else's. In both
            // cases the login begins anew.
            case ("other", _), ("no", .confirmation): try await change(tab) { $0 = LoginProgress() }
            case (_, .noAccess): return try await refuse(.noAccess, by: transaction.progress, tab, pages)
            default:
                let fault = AuthorizationFault(.accessDenied, "the user has declined")
                return try await refuse(fault, by: transaction.progress, tab, pages)
            }
            return try await goOn(tab, request, pages)
        }
    }

    private func change(_ tab: LoginTab, _ change: @escaping @Sendable (inout LoginProgress) -> Void) async throws {
        _ = try await provider.logins.change(tab.id, in: tab.browser, at: provider.now) { change(&$0.progress) }
    }

    /// Shows the page of the next step, or sends the browser back to the client.
    private func goOn(_ tab: LoginTab, _ request: Request, _ pages: Pages) async throws -> Response {
        guard let found = try await provider.logins.transaction(tab.id, in: tab.browser, at: provider.now) else {
            return pages.over.response(.badRequest)
        }
        let step = try await provider.step(tab.request, of: tab.client, found.progress)
        switch step {
        case .answer(let login):
            // If the button is pressed twice at once, only one of the two requests gets a code.
            guard try await provider.logins.end(tab.id, at: provider.now) else {
                return pages.over.response(.badRequest)
            }
            return try await finish(tab.request, found.progress, login, request, pages)
        case .refusal(let fault): return try await refuse(fault, by: found.progress, tab, pages)
        default: return try await StoreBudget.goingOn { try await show(step, tab, .code, pages) }
        }
    }

    /// Ends the login. A device hears of it only from somebody who has logged in: whoever has seen its code could take it
    /// away from its user otherwise.
    private func refuse(
        _ fault: AuthorizationFault, by progress: LoginProgress, _ tab: LoginTab, _ pages: Pages
    ) async throws -> Response {
        _ = try await provider.logins.end(tab.id, at: provider.now)
        if progress.login != nil { try await provider.decline(tab.request) }
        return answer(fault, to: tab.request.address, pages)
    }
}

extension AuthorizationRequest {
    /// What a phone is told that reads the QR code. Nil if the login is for the account page. A hint that no user id can
    /// be, because it has characters that nobody sees, is left out. `user` replaces the hint.
    func details(_ client: Client, user: String? = nil) -> WaitingBrowser.Details? {
        guard !isForAccount else { return nil }
        let hint = (user ?? loginHint).flatMap { UserID.hiddenCharacters(in: $0) == nil ? UserID.normal($0) : nil }
        return .init(userID: hint ?? "", name: client.name, logoURL: client.logo ?? "")
    }
}

extension AuthorizationStep {
    /// The name of the step in forms. An answer from a page of another step is ignored, because the person has answered
    /// another question.
    var name: String {
        switch self {
        case .login: "login"
        case .confirmation: "confirmation"
        case .noAccess: "no-access"
        case .account: "account"
        case .consent: "consent"
        case .answer, .refusal: "end"
        }
    }
}

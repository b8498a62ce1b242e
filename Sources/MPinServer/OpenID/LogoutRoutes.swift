import HTTPTypes
import Hummingbird
import Logging
import MPinOpenID
import MPinStore
import NIOCore

/// The endpoint that clients send browsers to when their users log out (OpenID Connect RP-Initiated Logout 1.0).
extension OpenIDFace {
    /// Where the page that asks whether to log out posts the answer, relative to the issuer.
    static let confirmLogoutPath = OpenIDProvider.Path.logout + "/confirm"

    /// Answers GET and POST /oidc/logout.
    func logout(_ request: Request, _ logger: Logger) async throws -> Response {
        var query = request.uri.query ?? ""
        if request.method == .post {
            guard request.isForm else { throw APIError(.unsupportedMediaType, "The body must be a form") }
            query = String(buffer: try await request.bytes(limits))
            if cookies.session(request) == nil { return asked(again: query) }
        }
        let parameters = RequestParameters(query)
        let pages = pages(request, locales: parameters?.words("ui_locales") ?? [])
        let cookie = cookies.session(request)
        do {
            guard let parameters else { throw LogoutFault.unreadable }
            let wish = try await provider.readLogout(parameters)
            switch try await provider.step(wish, cookie) {
            case .question(let session): return question(session, cookie, wish, pages)
            case .nothing:
                let response = done(wish, pages.nobodyLoggedOut(from: wish))
                return cookie == nil ? response : forgetting(response)
            case .end(let session):
                if let notice = try await provider.endSession(session.id, by: .client) {
                    await backChannel.tell([notice], logger)
                }
                return forgetting(done(wish, pages.loggedOut(from: wish)))
            }
        } catch let fault as LogoutFault {
            log(fault, logger)
            return try await refusal(cookie, pages)
        } catch is StoreError { return pages.failed.response(.serviceUnavailable) }
    }

    /// Returns a redirect by which the browser brings the cookie of its session: a POST without it does not say whether
    /// anybody is logged in. A request that does not fit into a URL loses its parameters, so that the person is asked.
    private func asked(again query: String) -> Response {
        let endpoint = OpenIDProvider.Path.logout
        return asGET(endpoint, query) ?? Response(status: .seeOther, headers: [.location: path(endpoint)])
    }

    /// Answers the page that asks whether to log out: ends the session of this browser, or all logins of its user.
    func confirmLogout(_ request: Request, _ logger: Logger) async throws -> Response {
        guard request.isFromThisSite, request.isForm, let cookie = cookies.session(request),
            let form = RequestParameters(String(buffer: try await request.bytes(limits))),
            let token = form["csrf"], cookie.isFormToken(token)
        else { return pages(request).refusedForm.response(.forbidden) }
        let pages = pages(request, locales: form.words("ui_locales") ?? [])
        do {
            let wish = try? await provider.readLogout(form)
            guard let session = try await provider.sessions.remembered(cookie, at: provider.now) else {
                return forgetting(pages.nobodyLoggedOut(from: wish).response())
            }
            let notices =
                form["answer"] == "everywhere"
                ? try await provider.endEverything(of: session.login.userID, by: .user)
                : [try await provider.endSession(session.id, by: .user)].compactMap(\.self)
            await backChannel.tell(notices, logger)
            return forgetting(pages.loggedOut(from: wish).response())
        } catch is StoreError { return pages.failed.response(.serviceUnavailable) }
    }

    /// Sends the browser back to a client that has sent an ID token. Otherwise anybody can have sent the browser here,
    /// so it shows the page, from which the person can go back.
    private func done(_ wish: LogoutRequest, _ page: Page) -> Response {
        guard wish.hasHint, let location = wish.location else { return page.response() }
        return Response(status: .seeOther, headers: [.location: location])
    }

    /// Returns the response, with which the browser forgets the cookie of its session.
    func forgetting(_ response: Response) -> Response {
        var response = response
        cookies.forgetSession(in: &response)
        return response
    }

    private func question(
        _ session: BrowserSession, _ cookie: SessionCookie?, _ wish: LogoutRequest, _ pages: Pages
    ) -> Response {
        guard let cookie else { return pages.nobodyLoggedOut(from: wish).response() }
        return pages.logout(session, form(cookie, wish)).response()
    }

    private func form(_ cookie: SessionCookie, _ wish: LogoutRequest?) -> LogoutForm {
        LogoutForm(path: path(Self.confirmLogoutPath), csrf: cookie.formToken, wish: wish)
    }

    /// Returns the page for a request that is refused. A person who is logged in can log out on it all the same.
    private func refusal(_ cookie: SessionCookie?, _ pages: Pages) async throws -> Response {
        guard let cookie, let session = try await provider.session(cookie) else {
            return pages.refusedLogout.response(.badRequest)
        }
        return pages.logout(session, form(cookie, nil), isRefused: true).response(.badRequest)
    }

    private func log(_ fault: LogoutFault, _ logger: Logger) {
        var details: Logger.Metadata = [:]
        let reason: Logger.MetadataValue
        switch fault {
        case .unreadable: reason = "unreadable"
        case .unknownClient: reason = "unknown client"
        case .foreignHint: reason = "id_token_hint is not an ID token for this client"
        case .foreignURI(let requested):
            reason = "post-logout URI is not registered"
            details["requested"] = "\(requested)"
        }
        details["reason"] = reason
        logger.notice("logout request refused", metadata: details)
    }
}

import HTTPTypes
import Hummingbird
import Logging
import MPinOpenID
import MPinService
import MPinStore
import NIOCore

/// The endpoint that clients send browsers to (OpenID Connect Core section 3.1.2).
extension OpenIDFace {
    /// Answers GET and POST /authorize.
    func authorize(_ request: Request, _ context: RequestContext) async throws -> Response {
        var query = request.uri.query ?? ""
        if request.method == .post {
            // The body is read once: an empty one is not in memory.
            let body = try await request.bytes(limits)
            var request = request
            request.body = RequestBody(buffer: body)
            if opensSession(request, body) { return try await openSession(request, context) }
            guard request.isForm else { throw APIError(.unsupportedMediaType, "The body must be a form, or JSON") }
            query = String(buffer: body)
            if !cookies.areIn(request), let again = asGET(OpenIDProvider.Path.authorize, query) { return again }
        }
        let pages = pages(request)
        guard let parameters = RequestParameters(query) else { return pages.fault(.unreadable).response(.badRequest) }
        let (reading, client): (AuthorizationRequest.Reading, Client?)
        do { (reading, client) = try await provider.read(parameters) } catch is StoreError {
            return pages.failed.response(.serviceUnavailable)
        }
        switch reading {
        case .refused(let fault):
            log(fault, client, context.logger)
            return pages.fault(fault).response(.badRequest)
        case .returned(let fault, let address): return self.answer(fault, to: address, pages)
        case .accepted(let wish):
            guard let client else { return pages.fault(.unknownClient).response(.badRequest) }
            let pages = self.pages(request, wish)
            return try await telling(wish.address, pages, context.logger) {
                try await begin(wish, client, request, context, pages)
            }
        }
    }

    /// Whether a POST opens a session for a phone: its body is JSON. MIRACL's MFA clients of 2017 and its back ends say of
    /// no body what it is, and the HTTP library of some then calls it a form, which a JSON object never is.
    private func opensSession(_ request: Request, _ body: ByteBuffer) -> Bool {
        request.isJSON || request.headers[.contentType] == nil
            || request.isForm && body.readableBytesView.first == UInt8(ascii: "{")
    }

    /// Returns a redirect to the same request as GET, for a POST that lacks our cookies. A browser leaves them out when a
    /// page of the client's site posts, though not those that somebody else has set at this host, such as a load
    /// balancer; it sends ours when it follows the redirect. Nil if the request does not fit into a URL.
    func asGET(_ endpoint: String, _ query: String) -> Response? {
        let target = path(endpoint) + "?" + query
        guard target.utf8.count <= limits.targetBytes,
            query.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") })
        else { return nil }
        return Response(status: .seeOther, headers: [.location: target])
    }

    private func log(_ fault: PageFault, _ client: Client?, _ logger: Logger) {
        guard case .foreignRedirectURI(let requested) = fault, let client else { return }
        logger.notice(
            "redirect URI is not registered",
            metadata: [
                "client": "\(client.id)", "requested": "\(requested)",
                "registered": "\(client.redirectURIs.map(\.text).joined(separator: " "))",
            ])
    }

    /// Runs `work`, and if that fails, sends the browser back to the client with the error, because the client can
    /// offer the user something better than an error page. If there is no room for a new login, the browser stays: the
    /// client would only send it back.
    func telling(
        _ address: ReturnAddress, _ pages: Pages, _ logger: Logger, _ work: () async throws -> Response
    ) async throws -> Response {
        do { return try await work() } catch ServiceError.noFreeNumber {
            return answer(AuthorizationFault(.temporarilyUnavailable, "too many log in"), to: address, pages)
        } catch let error as NoRoom { throw error } catch {
            logger.error("request failed", metadata: ["error": "\(error)"])
            return answer(AuthorizationFault(.serverError, "the server has failed"), to: address, pages)
        }
    }

    /// Begins a login: shows its first page, or sends the browser back to the client at once.
    func begin(
        _ wish: AuthorizationRequest, _ client: Client, _ request: Request, _ context: RequestContext, _ pages: Pages
    ) async throws -> Response {
        let progress = LoginProgress(try await provider.session(cookies.session(request)))
        let step = try await provider.step(wish, of: client, progress)
        switch step {
        case .answer(let login): return try await finish(wish, progress, login, request, pages)
        case .refusal(let fault):
            if fault == .noAccess, let login = progress.login { provider.reportNoAccess(login, to: client) }
            return answer(fault, to: wish.address, pages)
        default:
            let old = cookies.browser(request)
            let browser = try old ?? .random()
            let id = try await provider.logins.begin(wish, progress, in: browser, at: provider.now)
            let place = WaitingBrowser.Place(request, context)
            let tab = LoginTab(id: id, browser: browser, request: wish, client: client, place: place)
            var response = try await show(step, tab, .code, pages)
            if old == nil { cookies.giveBrowser(browser, to: &response) }
            return response
        }
    }

    func answer(_ fault: AuthorizationFault, to address: ReturnAddress, _ pages: Pages) -> Response {
        answer(address.answer(fault, issuer: provider.issuer), to: address, pages)
    }

    /// Sends the browser back to the client with the parameters `members`.
    func answer(_ members: [(String, String)], to address: ReturnAddress, _ pages: Pages) -> Response {
        switch address.mode {
        case .query: Response(status: .seeOther, headers: [.location: address.location(members)])
        case .formPost: pages.formPost(members, to: address.redirectURI)
        }
    }

    /// The error for a client whose user has logged out in the midst of the login, in another tab or with the phone.
    private static let ended = AuthorizationFault(.loginRequired, "the user has logged out")

    /// Ends the login: sends the browser back with a code. If the user entered a PIN for this login, it also begins a
    /// session with a new cookie, because somebody else may have put the old cookie into the browser.
    func finish(
        _ wish: AuthorizationRequest, _ progress: LoginProgress, _ login: UserLogin, _ request: Request,
        _ pages: Pages
    ) async throws -> Response {
        let clientID = wish.isForAccount ? nil : wish.address.clientID
        guard progress.isFresh else {
            guard let id = progress.sessionID,
                try await provider.sessions.open(clientID, with: id, at: provider.now)
            else { return answer(Self.ended, to: wish.address, pages) }
            let members = try await provider.answer(wish, login, sessionID: id)
            return answer(members, to: wish.address, pages)
        }
        guard
            let (cookie, session) = try await provider.beginSession(
                progress, login, for: clientID, replacing: cookies.session(request))
        else { return answer(Self.ended, to: wish.address, pages) }
        let members = try await provider.answer(wish, login, sessionID: session.id)
        var response = answer(members, to: wish.address, pages)
        cookies.giveSession(cookie, to: &response)
        return response
    }

    func pages(_ request: Request, _ wish: AuthorizationRequest? = nil) -> Pages {
        pages(request, locales: wish?.locales ?? [])
    }

    /// Returns the pages in the language that the client asks for (`ui_locales`); otherwise in that of the browser, or
    /// in the configured one.
    func pages(_ request: Request, locales: [String]) -> Pages {
        let wished = Language.preferred(locales.joined(separator: ","))
        return config.site.pages(request, in: wished ?? config.site.language(request))
    }
}

extension Request {
    /// Whether the header `Content-Type` says that the body is a form.
    var isForm: Bool { mediaType == "application/x-www-form-urlencoded" }

    /// Whether the header `Content-Type` says that the body is JSON. Browsers let a page of another site post that only
    /// if our CORS rules allow it.
    var isJSON: Bool { mediaType == "application/json" }

    private var mediaType: String {
        let type = (headers.value(.contentType) ?? "").utf8.prefix { $0 != UInt8(ascii: ";") }
        return String(decoding: type.filter { $0 != UInt8(ascii: " ") }, as: UTF8.self).lowercased()
    }
}

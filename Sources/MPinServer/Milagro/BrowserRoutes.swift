import Hummingbird
import MPinService
import MPinStore
import MPinWire

/// The requests of browsers and phones about a login for a browser (wire sections 6.8 to 6.12).
extension MilagroFace {
    /// POST /getAccessNumber (wire section 6.9): lets a browser wait for a phone under a new access number.
    func getAccessNumber() async throws -> Response {
        let browser = try await service.openBrowser(.number)
        var answer = WaitingBrowserResponse(browser)
        answer.accessNumber = browser.wid
        return .json(answer)
    }

    /// POST /getQrUrl (wire section 6.11): lets a browser wait for a phone under a new id, for a QR code.
    /// `place` is who has asked for it, or where the browser is, if an RPA has told it.
    func getQRCode(at place: WaitingBrowser.Place?) async throws -> Response {
        let browser = try await service.openBrowser(.code, place: place)
        var answer = WaitingBrowserResponse(browser)
        answer.qrUrl = config.baseURL + "#" + browser.wid
        return .json(answer)
    }

    /// POST /access (wire section 6.10): tells a browser how far its phone's login is. If the browser offers to wait,
    /// the answer comes as soon as the status changes; otherwise it comes at once.
    func access(_ request: Request) async throws -> Response {
        let body = try await request.json(AccessRequest.self, limits)
        let view = try await service.follow(
            webOTT: body.webOTT.lowercased(), known: .init(status: body.status, refusals: body.refusals?.value),
            seconds: body.wait?.value ?? 0)
        return .json(AccessResponse(view).json)
    }

    /// POST /codeStatus (wire section 6.12): stores a phone's report about its login for a browser. A report about an
    /// unknown code is no error, because Milagro's clients expect this.
    func codeStatus(_ request: Request) async throws -> Response {
        let body = try await request.json(CodeStatusRequest.self, limits)
        let wid = (body.wid ?? "").lowercased()
        let isKnown = try await service.report(body.status, of: body.userId ?? "", to: wid)
        guard isKnown, body.status == "wid" else { return .json(CodeStatusResponse()) }
        let details = try await service.details(of: wid)
        let logo = details?.logoURL ?? ""
        var answer = CodeDetailsResponse(
            name: details?.name ?? config.serviceName, logoURL: logo.isEmpty ? config.serviceIconURL : logo,
            prerollID: details?.userID ?? "")
        answer.tell(try await service.place(of: wid))
        return .json(answer)
    }

    /// The public POST /authenticate (wire section 6.8): the phone sends the token of its pass 2 and waits until the
    /// RPA has decided about the login. A phone that asks for an authorization code gets it at once, if an OpenID client
    /// waits for it.
    func authenticateMobile(_ request: Request) async throws -> Response {
        let body = try await request.json(AuthenticateRequest.self, limits)
        guard case .string(let authOTT)? = body.mpinResponse["authOTT"] else {
            throw APIError(.badRequest, "Missing authOTT")
        }
        let token = authOTT.lowercased()
        let wantsCode = body.authzRequest == true
        let answer = try await service.present(token) { wid in
            wantsCode ? try await authorizationCode?(token, wid) : nil
        }
        switch answer {
        case .refused(let verdict, let now):
            // This login is counted here, because the RPA never sees its token. Other logins are counted when the RPA
            // redeems their tokens.
            metrics.count(.logins, [String(verdict.status)])
            return APIError(verdict, at: now, tellsLeft: config.tellAttemptsLeft).response
        case .code(let code):
            return .json(MobileAuthenticateResponse(logoutURL: "", logoutData: .null, code: code).json)
        case .decided(let outcome):
            guard outcome.status == 200 else { throw APIError(.init(code: outcome.status), outcome.message) }
            return .json(
                MobileAuthenticateResponse(logoutURL: outcome.logoutURL, logoutData: outcome.logoutData ?? .null).json)
        }
    }
}

extension WaitingBrowser.Place {
    /// What an RPA tells about its browser. Nil if it tells nothing.
    init?(_ wish: WaitingBrowserRequest?) {
        guard let address = wish?.address else { return nil }
        self.init(address: address, program: wish?.program ?? "")
    }
}

extension WaitingBrowserResponse {
    fileprivate init(_ browser: AuthenticationService.OpenedBrowser) {
        self.init(webOTT: browser.webOTT, ttlSeconds: browser.seconds, start: Int(browser.begun.seconds))
    }
}

extension AccessResponse {
    fileprivate init(_ view: WaitingBrowser.View) {
        self.init(status: view.status, userId: view.userID, authOTT: view.authOTT)
        refusals = view.refusals
        refusal = view.refusal?.status
    }
}

import HTTPTypes
import Hummingbird
import Logging
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// The requests of MIRACL's MFA clients of 2017 (TRUST wire section 7.2).
extension MFAFace {
    private var prefix: String { milagro.config.prefix }
    private var limits: Limits { trust.limits }
    private var rules: ProjectService { trust.rules }

    /// GET /service: the landing page of a QR code tells where the service is. Programs that must not use it are
    /// refused here, as on Milagro's wire.
    func service(_ request: Request, _ customer: Customer) throws -> Response {
        try milagro.requireServiceClient(request)
        return .json(
            ServiceResponse(
                name: customer.project.name.isEmpty ? customer.project.id : customer.project.name, url: customer.base,
                rps_prefix: prefix, logo_url: milagro.config.serviceIconURL))
    }

    func clientSettings(_ customer: Customer) throws -> Response {
        guard let authority = trust.authorities.last?.publicURL else { throw APIError.internalError }
        let url = authority.hasPrefix("/") ? trust.config.baseURL + authority : authority
        return .json(
            MFASettingsResponse(
                base: "\(customer.base)/\(prefix)", authority: url.hasSuffix("/") ? url : url + "/",
                setDeviceName: milagro.config.setDeviceName,
                seedValue: Hex.encode(try randomBytes(limits.seedBytes)))
        ).uncached()
    }

    /// PUT user and PUT user/<id>: starts or restarts a registration. The user comes from a session of a browser, whose
    /// access id the client sends, or has an activation code. A mail verifies the user, or the project's back end.
    func register(
        _ request: Request, id: MPinID?, _ customer: Customer, _ context: RequestContext
    ) async throws -> Response {
        let project = customer.project
        let form = try await RegisterForm(request, id: id, project: project, asker: context.asker, limits)
        try await trust.rates.admit(.register, user: form.application.user.text)
        if let code = form.application.activationCode { return try await register(form, code: code, customer) }
        // A relying party that confirms everybody at once would let anybody in as any user of the project.
        guard project.newUserURL != nil || trust.config.mailer.sends && !milagro.config.verifyURL.isEmpty else {
            throw APIError(.badRequest, "Nobody can register here")
        }
        // A registration that begins again may have outlived its session.
        let isOpen = try await rules.isOpen(form.wid, project: customer.project.id)
        guard isOpen || id != nil else { throw APIError(.badRequest, "Invalid access id") }
        let started = try await trust.service.register(form.application) { question in
            guard let url = project.newUserURL else { return try await milagro.verify(question, form) }
            return try await trust.announce(question, to: url, project, context.logger)
        }
        trust.metrics.count(.registrations)
        return .json(
            MFAUserResponse(
                mpinId: started.id.hex, regOTT: started.registrationToken, expireTime: started.expires.seconds,
                nowTime: started.begun.seconds, customerId: customer.project.id, active: started.isConfirmed))
    }

    private func register(_ form: RegisterForm, code: String, _ customer: Customer) async throws -> Response {
        let begun = try await rules.beginRegistration(
            user: form.application.writtenUserID, deviceName: form.deviceName, activationToken: code,
            project: customer.project.id, pushToken: form.application.pushToken, by: form.application.asker)
        trust.metrics.count(.registrations)
        return .json(
            MFAUserResponse(
                mpinId: begun.id.hex, regOTT: begun.registrationToken, expireTime: begun.expires.seconds,
                nowTime: begun.begun.seconds, customerId: begun.project.id, active: true))
    }

    /// GET signature/<id>?regOTT=: the first share, and the query with which the client gets the second one. The device
    /// takes pushes if its push token came with the request for the M-Pin ID, or comes now (`pmiToken`).
    func signature(_ request: Request, _ id: MPinID) async throws -> Response {
        let issued = try await rules.issueShares(
            id, token: (request.query("regOTT") ?? "").lowercased(), publicKey: "",
            pushToken: try request.pushToken())
        return .json(
            SignatureResponse(
                clientSecretShare: SecretHex(issued.share.octets), params: try milagro.onlyTicket(issued.tickets)))
    }

    func pass1(_ request: Request) async throws -> Response {
        let body = try await request.json(Pass1Request.self, limits)
        let id = try identity(body.mpin_id)
        try await trust.rates.admit(.login, identity: id.hash)
        var answer = Pass1Response(
            y: try await rules.unstatedChallenge(
                id, u: body.U, ut: body.UT, publicKey: body.publicKey ?? "", scope: body.scope?.first))
        answer.version = nil
        return .json(answer)
    }

    /// POST pass2: has the proof judged. A proof without a challenge gets a token of no effect, because clients expect a
    /// verdict only from the next request.
    func pass2(_ request: Request, _ logger: Logger) async throws -> Response {
        let body = try await request.json(Pass2Request.self, limits)
        let id = try identity(body.mpin_id)
        try await trust.rates.admit(.login, identity: id.hash)
        let wid = body.WID.isEmpty ? "0" : body.WID.lowercased()
        // A login for a browser has no digits: its token lives on, and the digits would be issued again with each use.
        let wantsDigits = body.OTP.value && wid == "0"
        let proof = AuthenticationService.Proof(
            id: id, v: body.V, wid: wid, wantsDigits: wantsDigits, isScoped: true)
        do {
            let issued = try await trust.service.judge(proof, logger)
            return .json(MFAPass2Response(authOTT: issued.token, OTP: issued.digits))
        } catch ServiceError.noChallenge {
            let digits = wantsDigits ? try randomDigits(6) : nil
            return .json(MFAPass2Response(authOTT: Hex.encode(try randomBytes(16)), OTP: digits))
        }
    }

    private func identity(_ hex: String) throws -> MPinID {
        guard let id = MPinID(hex: hex) else { throw APIError(.badRequest, "mpin_id is not hex") }
        return id
    }

    /// POST authenticate: tells the verdict, and gives an app the authorization code that it asks for.
    func authenticate(_ request: Request, _ customer: Customer) async throws -> Response {
        let body = try await request.json(AuthenticateRequest.self, limits)
        guard case .string(let authOTT)? = body.mpinResponse["authOTT"] else {
            throw APIError(.badRequest, "Missing authOTT")
        }
        let login = try await rules.redeem(authOTT, project: customer.project.id, canRenew: false)
        // A login for a browser is counted when its page redeems the token.
        if login.wid == "0" || login.verdict != .right {
            trust.metrics.count(.logins, [String(login.verdict.status)])
        }
        guard login.verdict == .right else { return refusal(login.verdict, at: login.now) }
        var answer = MFAAuthenticateResponse(status: 200, message: "OK")
        if body.authzRequest == true, login.wid != "0" {
            answer.code = try await trust.openID.code(authOTT: authOTT.lowercased(), wid: login.wid) ?? ""
        }
        if let seconds = login.digits?.seconds {
            answer.ttlSeconds = seconds
            answer.nowTime = login.now.seconds * 1000
            answer.expireTime = (login.now.seconds + Int64(seconds)) * 1000
        }
        answer.dvsRegister = login.renewal.map { TrustRenewal(token: $0.token) }
        return .json(answer)
    }

    /// The answer to a login that was not right. Old clients forget their user on 410, so a block that ends is a wrong
    /// PIN to them, and they are told when to try again.
    private func refusal(_ verdict: Verdict, at now: Moment) -> Response {
        let status =
            switch verdict {
            case .wrong, .blocked(_?): 401
            default: verdict.status
            }
        let text = status == 401 || status == 410 ? "Authentication Failed. Invalid Token." : verdict.message
        var response = Response.json(
            MFAAuthenticateResponse(status: status, message: text), status: .init(code: status))
        if let seconds = verdict.retryAfter(at: now) { response.headers[.retryAfter] = String(seconds) }
        return response
    }

    /// POST codeStatus: stores a phone's report about its session. One about an unknown session is no error.
    func codeStatus(_ request: Request, _ customer: Customer) async throws -> Response {
        let body = try await request.json(CodeStatusRequest.self, limits)
        let wid = (body.wid ?? "").lowercased()
        _ = try await trust.service.report(body.status, of: body.userId ?? "", to: wid)
        guard body.status == "wid" else { return .json(TrustStatusResponse()) }
        let session = try await rules.session(wid: wid)
        let details = try await trust.service.details(of: wid)
        let project = customer.project
        var answer = MFASessionDetails(
            prerollId: session?.userID ?? details?.userID ?? "",
            appName: details?.name ?? milagro.config.serviceName,
            appLogoURL: details?.logoURL ?? milagro.config.serviceIconURL, customerId: project.id,
            customerName: project.name)
        answer.tell(try await trust.service.place(of: wid))
        return .json(answer)
    }
}

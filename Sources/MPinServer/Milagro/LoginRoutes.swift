import Hummingbird
import Logging
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// Logins in the Milagro protocol (wire sections 6.6, 6.7 and 7).
extension MilagroFace {
    /// POST /pass1 (wire section 6.6): takes the client's commitment and returns a challenge.
    func pass1(_ request: Request) async throws -> Response {
        let body = try await request.json(Pass1Request.self, limits, or: .forbidden)
        guard let id = MPinID(hex: body.mpin_id) else { throw APIError(.forbidden, "mpin_id is not hex") }
        try await rates.admit(.login, identity: id.hash)
        let y = try await service.challenge(
            id, u: body.U, ut: body.UT.isEmpty ? nil : body.UT,
            registersDevice: body.scope?.contains("reg-code") == true)
        return .json(Pass1Response(y: y))
    }

    /// POST /pass2 (wire section 6.7): has the proof judged. The verdict is stored under the one-time token.
    func pass2(_ request: Request, _ logger: Logger) async throws -> Response {
        let body = try await request.json(Pass2Request.self, limits, or: .forbidden)
        guard let id = MPinID(hex: body.mpin_id) else { throw APIError(.forbidden, "mpin_id is not hex") }
        try await rates.admit(.login, identity: id.hash)
        let issued = try await service.judge(
            .init(id: id, v: body.V, wid: body.WID.lowercased(), wantsDigits: body.OTP.value), logger)
        return .json(Pass2Response(authOTT: issued.token, OTP: issued.digits))
    }

    /// Private POST /authenticate (wire section 7): redeems a one-time token for the RPA.
    func authenticate(_ request: Request) async throws -> Response {
        let report = try await authenticate(request.json(RPAAuthenticateRequest.self, limits))
        var response = Response.json(report.answer, status: .init(code: report.answer.status))
        if report.answer.status == 401 { response.headers[.wwwAuthenticate] = "Authenticate" }
        if let seconds = report.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }

    /// Redeems a one-time token for the RPA, and counts the login.
    func authenticate(_ request: RPAAuthenticateRequest) async throws -> LoginReport {
        let report = try await report(request)
        metrics.count(.logins, [String(report.answer.status)])
        return report
    }

    private func report(_ request: RPAAuthenticateRequest) async throws -> LoginReport {
        let outcome = WaitingBrowser.Outcome(
            logoutURL: request.logoutURL ?? config.logoutURL, logoutData: request.logoutData)
        do {
            let report = try await service.redeem(
                request.authOTT, isOwnPage: request.ownPage != false, outcome: outcome)
            return LoginReport(report, tellsLeft: config.tellAttemptsLeft)
        } catch let error as ServiceError where error == .expiredLogin || error == .foreignPage {
            return LoginReport(
                answer: RPAAuthenticateResponse(status: error.spelled.status.code, message: error.spelled.message))
        }
    }

    /// Private POST /loginResult (wire section 7): takes the RPA's own decision, once for each login.
    func loginResult(_ request: Request) async throws -> Response {
        guard config.waitForLoginResult else { throw APIError.notFound }
        let body = try await request.json(LoginResultRequest.self, limits)
        guard body.status == 200 || (400...599).contains(body.status) else {
            throw APIError(.badRequest, "status must be 200 or a refusal")
        }
        try await service.finish(body.authOTT) { $0.with(body) }
        return Response(status: .ok)
    }
}

/// The answer that the RPA gets about a login.
struct LoginReport: Sendable {
    var answer: RPAAuthenticateResponse
    /// Seconds after which another try makes sense; nil if none does, or the time is unknown.
    var retryAfter: Int?

    init(answer: RPAAuthenticateResponse, retryAfter: Int? = nil) {
        self.answer = answer
        self.retryAfter = retryAfter
    }

    /// `tellsLeft`: whether the answer to a wrong PIN contains the number of attempts left.
    fileprivate init(_ report: AuthenticationService.LoginReport, tellsLeft: Bool) {
        answer = RPAAuthenticateResponse(
            status: report.verdict.status, message: report.verdict.message, userId: report.user.userID,
            mpinId: report.mpinID, OTP: report.digits.isEmpty ? nil : report.digits,
            attemptsLeft: tellsLeft ? report.verdict.attemptsLeft : nil, byNumber: report.isByNumber ? true : nil)
        retryAfter = report.verdict.retryAfter(at: report.now)
    }
}

extension WaitingBrowser.Outcome {
    /// The outcome that the phone gets after the RPA's decision: its status and message, and its logout data if it has
    /// any.
    fileprivate func with(_ verdict: LoginResultRequest) -> WaitingBrowser.Outcome {
        WaitingBrowser.Outcome(
            status: verdict.status,
            message: verdict.message ?? "The relying party application refused the login",
            logoutURL: verdict.logoutURL ?? logoutURL, logoutData: verdict.logoutData ?? logoutData)
    }
}

import Hummingbird
import MPinStore
import MPinWire

/// A login that a phone makes for a browser (wire sections 6.8 and 7).
extension RelyingPartyService {
    /// POST /authenticate of the public surface (wire section 6.8): the phone brings the outcome of its pass 2 and waits
    /// for what the RPA makes of it. The token stays where it is: the RPA takes it.
    func authenticateMobile(_ request: Request) async throws -> Response {
        let body = try await request.json(AuthenticateRequest.self, limits)
        guard case .string(let text)? = body.mpinResponse["authOTT"] else {
            throw APIError(.badRequest, "Missing authOTT")
        }
        let authOTT = text.lowercased()
        let now = config.clock()
        guard let token = try await tokens.read(authOTT, at: now) else { throw APIError.wrongNumber }
        // The verdict before any look at the number: else who has no account could find out which numbers are live.
        guard token.verdict == .right else { return try await refusal(token, authOTT) }
        guard token.wid != "0", try await browsers.contains(token.wid, at: now) else { throw APIError.wrongNumber }
        // The status of a wrong PIN (wire section 6.8), but no attempt is counted.
        guard config.clock() < token.expires else { throw APIError(.unauthorized, "Wrong PIN.") }
        try await handOver(token, authOTT)
        let outcome = try await browsers.wait(token.wid, seconds: limits.waitSeconds) {
            try await browsers.outcome(token.wid, authOTT: authOTT, at: config.clock())
        }
        guard let outcome else {
            let isRefused = try await browsers.endIfRefused(token.wid, authOTT: authOTT, at: config.clock())
            throw isRefused ? APIError.foreignPage : APIError(.requestTimeout, "Authentication timed out")
        }
        try await browsers.end(token.wid, at: config.clock())
        guard outcome.status == 200 else { throw APIError(.init(code: outcome.status), outcome.message) }
        return .json(MobileAuthenticateResponse(logoutURL: outcome.logoutURL, logoutData: outcome.logoutData ?? .null))
    }

    /// A wrong PIN: as the private /authenticate tells it. The browser goes on waiting, and may hear of it.
    private func refusal(_ token: AuthToken, _ authOTT: String) async throws -> Response {
        let now = config.clock()
        try await identities.sync(token, at: now)
        _ = try await tokens.take(authOTT, at: now)
        // Anybody may find the live numbers, and write on their pages: there a note must cost a try of a PIN. Who has a
        // code has seen the page.
        let isShown = !AccessNumber.isNumber(token.wid) || token.isKnown && token.verdict.attemptsLeft != nil
        _ = try await browsers.change(token.wid, at: now) { if isShown { $0.turnDown(token.verdict) } }
        // The RPA, whose question counts the others, never hears of it.
        metrics.count(.logins, [String(token.verdict.status)])
        return APIError(token.verdict, at: now, tellsLeft: config.tellAttemptsLeft).response
    }

    /// Gives a right PIN to its browser.
    private func handOver(_ token: AuthToken, _ authOTT: String) async throws {
        let now = config.clock()
        let isAccepted = try await browsers.change(token.wid, at: now) {
            $0.accept(authOTT: authOTT, id: token.id, expires: token.expires, at: now)
        }
        guard isAccepted == true else { throw APIError.wrongNumber }
    }

    /// Whether the RPA asks about a login for a browser though no page of its own wants it: nothing could come of that but
    /// a phone that says "logged in". The token stays, and the phone hears of it unless such a page comes after all.
    func refuses(_ request: RPAAuthenticateRequest, at now: Moment) async throws -> Bool {
        guard request.ownPage == false, let token = try await tokens.read(request.authOTT, at: now),
            now < token.expires, token.wid != "0"
        else { return false }
        if token.verdict == .right {
            let authOTT = request.authOTT.lowercased()
            _ = try await browsers.change(token.wid, at: now) { $0.refuse(authOTT: authOTT) }
        }
        return true
    }

    /// Whether a right PIN, whose token the RPA has just taken, counts: one that was made for a browser does only out of
    /// that browser's hand.
    func redeem(_ token: AuthToken, _ request: RPAAuthenticateRequest, at now: Moment) async throws -> Bool {
        let authOTT = request.authOTT.lowercased()
        let isFinal = !config.waitForLoginResult
        let outcome = BrowserSession.Outcome(
            status: 200, message: "", logoutURL: request.logoutURL ?? config.logoutURL, logoutData: request.logoutData)
        if token.wid != "0" {
            let isRedeemed = try await browsers.change(token.wid, at: now) {
                $0.redeem(authOTT: authOTT, outcome: isFinal ? outcome : nil)
            }
            guard isRedeemed == true else { return false }
        }
        guard !isFinal else { return true }
        return try await pendingLogins.add(PendingLogin(wid: token.wid, outcome: outcome), authOTT: authOTT, at: now)
    }

    /// Private POST /loginResult (wire section 7): the RPA's own verdict, once for each login.
    func loginResult(_ request: Request) async throws -> Response {
        guard config.waitForLoginResult else { throw APIError.notFound }
        let body = try await request.json(LoginResultRequest.self, limits)
        guard body.status == 200 || (400...599).contains(body.status) else {
            throw APIError(.badRequest, "status must be 200 or a refusal")
        }
        let now = config.clock()
        guard let pending = try await pendingLogins.take(authOTT: body.authOTT, at: now) else {
            throw APIError(.requestTimeout, "Expired authentication request")
        }
        let outcome = pending.outcome.with(body)
        if pending.wid != "0" { _ = try await browsers.change(pending.wid, at: now) { $0.finish(outcome) } }
        return Response(status: .ok)
    }
}

extension APIError {
    fileprivate static let wrongNumber = APIError(.preconditionFailed, "Invalid or expired access number")
    static let foreignPage = APIError(.forbidden, "The login did not come from a page of this site")
}

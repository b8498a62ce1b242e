import Hummingbird
import Logging
import MPinCrypto
import MPinSecrets
import MPinStore
import MPinWire

extension RelyingPartyService {
    /// POST /pass1 (wire section 6.6): keeps the client's commitment and gives a challenge, to known and unknown IDs
    /// alike.
    func pass1(_ request: Request) async throws -> Response {
        let body = try await request.json(Pass1Request.self, limits, or: .forbidden)
        guard let id = MPinID(hex: body.mpin_id) else { throw APIError(.forbidden, "mpin_id is not hex") }
        try rates.admit(.login, identity: id.hash)
        try permitWatch?.requireRight()
        let u = try point(body.U, "U")
        let ut = body.UT.isEmpty && !config.usePermits ? nil : try point(body.UT, "UT")
        var y = [UInt8](repeating: 0, count: MPinSize.scalar)
        var span = y.mutableSpan
        try RandomScalar.generateChallenge(into: &span, random: systemRandom)
        let now = config.clock()
        let challenge = Challenge(
            id: id.key, u: Hex.encode(config.usePermits ? ut ?? u : u), y: Hex.encode(y),
            expires: now.adding(seconds: limits.pass1Seconds),
            registersDevice: body.scope?.contains("reg-code") == true)
        let isKnown = try await identities.isKnown(id, at: now)
        try await challenges.add(challenge, for: id, isKnown: isKnown, at: now)
        return .json(Pass1Response(y: challenge.y))
    }

    /// POST /pass2 (wire section 6.7): judges the proof. Right, wrong, blocked and unknown get the same answer after
    /// the same work; the verdict waits under the one-time token.
    func pass2(_ request: Request, _ logger: Logger) async throws -> Response {
        let body = try await request.json(Pass2Request.self, limits, or: .forbidden)
        guard let id = MPinID(hex: body.mpin_id) else { throw APIError(.forbidden, "mpin_id is not hex") }
        try rates.admit(.login, identity: id.hash)
        try permitWatch?.requireRight()
        guard body.WID.utf8.count <= 64 else { throw APIError(.forbidden, "WID is too long") }
        let proof = Proof(id: id, v: try point(body.V, "V"), wid: body.WID.lowercased(), wantsOTP: body.OTP.value)
        return .json(try await logIn(proof, logger))
    }

    /// The octets of a point of G1: 65 bytes, `04`, both coordinates below p, on the curve (wire section 3).
    private func point(_ hex: String, _ name: String) throws -> [UInt8] {
        guard let octets = Hex.decode(hex), Server.isPoint(octets.span) else {
            throw APIError(.forbidden, "\(name) is not a point of the curve")
        }
        return octets
    }

    /// Private POST /authenticate (wire section 7).
    func authenticate(_ request: Request) async throws -> Response {
        let report = try await authenticate(request.json(RPAAuthenticateRequest.self, limits))
        var response = Response.json(report.answer, status: .init(code: report.answer.status))
        if report.answer.status == 401 { response.headers[.wwwAuthenticate] = "Authenticate" }
        if let seconds = report.retryAfter { response.headers[.retryAfter] = String(seconds) }
        return response
    }

    /// The RPA redeems a one-time token. It is told what pass 2 found; nothing is counted or judged here.
    func authenticate(_ request: RPAAuthenticateRequest) async throws -> LoginReport {
        let report = try await report(request)
        metrics.count(.logins, [String(report.answer.status)])
        return report
    }

    private func report(_ request: RPAAuthenticateRequest) async throws -> LoginReport {
        let now = config.clock()
        let expired = RPAAuthenticateResponse(status: 408, message: "Expired authentication request")
        guard try await !refuses(request, at: now) else {
            return LoginReport(answer: RPAAuthenticateResponse(status: 403, message: APIError.foreignPage.message))
        }
        guard let token = try await tokens.take(request.authOTT, at: now) else { return LoginReport(answer: expired) }
        if token.verdict != .right {
            try await identities.sync(token, at: now)
        } else if try await !redeem(token, request, at: now) {
            return LoginReport(answer: expired)
        } else if token.registersDevice, !token.otp.isEmpty {
            try await issueCode(token, at: now)
        }
        return LoginReport(
            answer: RPAAuthenticateResponse(
                status: token.verdict.status, message: token.verdict.message, userId: token.userID,
                mpinId: token.mpinID, OTP: token.otp.isEmpty ? nil : token.otp,
                attemptsLeft: config.tellAttemptsLeft ? token.verdict.attemptsLeft : nil),
            retryAfter: token.verdict.retryAfter(at: now))
    }
}

extension RelyingPartyService {
    /// The digits of that login register another device of its user, unless the RPA refuses the user: who is on its list
    /// must not come back under a new M-Pin ID.
    private func issueCode(_ token: AuthToken, at now: Moment) async throws {
        guard let id = MPinID(hex: token.mpinID) else { return }
        do { try await askForPermit(id) } catch let refusal as APIError where refusal.status.code < 500 { return }
        try await activationCodes.issue(
            token.otp, user: token.userID, until: now.adding(seconds: limits.tokenSeconds), at: now)
    }
}

/// What the RPA learns about a login.
struct LoginReport: Sendable {
    var answer: RPAAuthenticateResponse
    /// Seconds after which another try makes sense.
    var retryAfter: Int?
}

import Hummingbird
import Logging
import MPinCrypto
import MPinSecrets
import MPinWire

extension RelyingPartyService {
    /// POST /pass1 (wire section 6.6): keeps the client's commitment and gives a challenge.
    ///
    /// An ID that was never registered here gets 403: to old clients a plain failed request, whatever the number.
    func pass1(_ request: Request) async throws -> Response {
        let body = try await request.json(Pass1Request.self, limits, or: .forbidden)
        guard let id = MPinID(hex: body.mpin_id) else { throw APIError(.forbidden, "mpin_id is not hex") }
        let u = try point(body.U, "U")
        let ut = body.UT.isEmpty && !config.usePermits ? nil : try point(body.UT, "UT")
        guard try await store.identity(hash: id.hash) != nil else { throw APIError(.forbidden, "Unknown M-Pin ID") }
        var y = [UInt8](repeating: 0, count: MPinSize.scalar)
        var span = y.mutableSpan
        try RandomScalar.generate(into: &span, random: systemRandom)
        try await store.savePass1(
            idHash: id.hash, u: config.usePermits ? ut ?? u : u, y: y,
            expires: config.clock().adding(seconds: limits.pass1Seconds), limit: limits.pass1Records)
        return .json(Pass1Response(y: Hex.encode(y)))
    }

    /// POST /pass2 (wire section 6.7): judges the proof. Right, wrong and blocked get the same answer; the verdict
    /// waits under the one-time token.
    func pass2(_ request: Request, _ logger: Logger) async throws -> Response {
        let body = try await request.json(Pass2Request.self, limits, or: .forbidden)
        guard let id = MPinID(hex: body.mpin_id) else { throw APIError(.forbidden, "mpin_id is not hex") }
        let v = try point(body.V, "V")
        guard body.WID == "0" else { throw APIError(.forbidden, "Access numbers are not served") }
        guard !body.OTP.value else { throw APIError(.forbidden, "One-time digits are not served") }
        let now = config.clock()
        let reservation = try await store.reserveAttempt(
            idHash: id.hash, maxAttempts: config.maxAttempts, at: now)
        let authOTT = Hex.encode(try randomBytes(16))
        let token = AuthToken(
            ottHash: SHA256.hash(Array(authOTT.utf8)), idHash: id.hash, status: 410,
            expires: now.adding(seconds: limits.tokenSeconds))
        switch reservation {
        case .noPass1: throw APIError(.forbidden, "Invalid pass one data")
        case .blocked: try await store.saveToken(token)
        case .granted(let attempt, let records):
            try await judge(id, v: v, records, attempt: attempt, token: token, dates: now.permitDates)
            logger.debug("proof judged")
        }
        return .json(Pass2Response(authOTT: authOTT))
    }

    private func judge(
        _ id: MPinID, v: [UInt8], _ records: [Pass1Record], attempt: Int, token: AuthToken, dates: [Int32]
    ) async throws {
        var token = token
        let matching: Pass1Record?
        do { matching = try await match(id, v: v, records, dates: config.usePermits ? dates : [0]) } catch {
            try await store.refund(idHash: id.hash)
            throw error
        }
        guard let matching else {
            token.status = attempt < config.maxAttempts ? 401 : 410
            return try await store.fail(records, token: token)
        }
        token.status = 200
        guard try await store.succeed(matching, token: token) else {
            throw APIError(.forbidden, "Invalid pass one data")
        }
    }

    /// The record that `v` answers, nil for a wrong PIN. Several records live only when somebody else sent a pass 1 for
    /// the same identity; all of them together cost one attempt.
    private func match(
        _ id: MPinID, v: [UInt8], _ records: [Pass1Record], dates: [Int32]
    ) async throws -> Pass1Record? {
        let server = server
        return try await Workers.compute {
            for record in records {
                for date in dates
                where try server.verify(id: id.bytes.span, date: date, u: record.u.span, y: record.y.span, v: v.span) {
                    return record
                }
            }
            return nil
        }
    }

    /// The octets of a point of G1: 65 bytes, `04`, both coordinates below p, on the curve (wire section 3).
    private func point(_ hex: String, _ name: String) throws -> [UInt8] {
        guard let octets = Hex.decode(hex), Server.isPoint(octets.span) else {
            throw APIError(.forbidden, "\(name) is not a point of the curve")
        }
        return octets
    }

    /// Private POST /authenticate (wire section 7): the RPA redeems the one-time token. It reports what pass 2 found
    /// and counts and judges nothing.
    func authenticate(_ request: Request) async throws -> Response {
        let authOTT = try await request.json(RPAAuthenticateRequest.self, limits).authOTT.lowercased()
        let hash = SHA256.hash(Array(authOTT.utf8))
        guard let token = try await store.takeToken(ottHash: hash, at: config.clock()),
            let identity = try await store.identity(hash: token.idHash)
        else { return verdict(RPAAuthenticateResponse(status: 408, message: "Expired authentication request")) }
        return verdict(
            RPAAuthenticateResponse(
                status: token.status, message: token.status == 200 ? "Authentication successful" : "Wrong PIN.",
                userId: identity.userID, mpinId: identity.id.hex))
    }

    private func verdict(_ answer: RPAAuthenticateResponse) -> Response {
        var response = Response.json(answer, status: .init(code: answer.status))
        if answer.status == 401 { response.headers[.wwwAuthenticate] = "Authenticate" }
        return response
    }
}

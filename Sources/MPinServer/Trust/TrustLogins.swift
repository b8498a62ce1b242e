import Hummingbird
import Logging
import MPinOpenID
import MPinSecrets
import MPinService
import MPinStore
import MPinWire

/// Logins (TRUST wire sections 4.8 to 4.10).
extension TrustFace {
    /// Seconds for which a token for an app's own server, or for a QuickCode, is valid.
    static let tokenSeconds = 60

    /// POST /rps/v2/pass1: takes the client's commitment and returns a challenge.
    func pass1(_ request: Request) async throws -> Response {
        let body = try await request.json(TrustPass1Request.self, limits)
        let id = try identity(body.mpin_id)
        try await rates.admit(.login, identity: id.hash)
        let y = try await rules.challenge(
            id, u: body.U, ut: body.UT ?? "", publicKey: body.publicKey ?? "", scope: body.scope.first)
        return .json(TrustPass1Response(y: y).json)
    }

    /// POST /rps/v2/pass2: has the proof judged. A proof without a challenge gets a token, too, because clients expect
    /// a verdict only from the next request; it is of no effect.
    func pass2(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustPass2Request.self, limits)
        let id = try identity(body.mpin_id)
        try await rates.admit(.login, identity: id.hash)
        let wid = (body.WID ?? "").isEmpty ? "0" : (body.WID ?? "").lowercased()
        let proof = AuthenticationService.Proof(id: id, v: body.V, wid: wid, wantsDigits: false, isScoped: true)
        do {
            return .json(TrustPass2Response(authOTT: try await service.judge(proof, context.logger).token).json)
        } catch ServiceError.noChallenge {
            return .json(TrustPass2Response(authOTT: Hex.encode(try randomBytes(16))).json)
        }
    }

    func identity(_ hex: String) throws -> MPinID {
        guard let id = MPinID(hex: hex) else { throw TrustRefusal.parameter("mpin_id", "mpin_id is not hex") }
        return id
    }

    /// POST /rps/v2/authenticate: tells the verdict, and gives the token that the login was for.
    func authenticate(_ request: Request, _ context: RequestContext) async throws -> Response {
        let body = try await request.json(TrustAuthenticateRequest.self, limits)
        let login = try await rules.redeem(
            body.authOTT, project: request.projectID, canRenew: body.wam == Self.renewingClient)
        // A login for a browser or for a code is counted when the token is redeemed.
        let isCountedLater = login.scope == .oidc || login.scope == .authorizationCode
        if !isCountedLater || login.verdict != .right { metrics.count(.logins, [String(login.verdict.status)]) }
        guard login.verdict == .right else { throw TrustRefusal(login.verdict, at: login.now) }
        if let renewal = login.renewal { return .json(TrustAuthenticateResponse(renewal: renewal.token).json) }
        let jwt = try await jwt(login, context)
        let code =
            login.scope == .authorizationCode
            ? try await openID.code(authOTT: body.authOTT.lowercased(), wid: login.wid) : nil
        var digits = login.digits
        if digits == nil { digits = try await quickCodeDigits(login, request) }
        let password = digits.map {
            TrustAuthenticateResponse.Password(text: $0.text, seconds: $0.seconds, now: login.now.seconds)
        }
        return .json(TrustAuthenticateResponse(jwt: jwt, code: code, password: password).json)
    }

    /// What the clients say that can renew their secrets.
    private static let renewingClient = "dvs"

    /// The token that the login was for. Nil if it was for none.
    private func jwt(_ login: ProjectService.Outcome, _ context: RequestContext) async throws -> String? {
        switch login.scope {
        case .jwt: try await token(login, context)
        case .quickCode: try quickCodeToken(login)
        case .oidc, .signing, .authorizationCode, .oneTimePassword, .signingRegistration, .unstated: nil
        }
    }

    /// A token for the app's own server (TRUST wire section 6.3). It says what it is for.
    private func token(_ login: ProjectService.Outcome, _ context: RequestContext) async throws -> String {
        let claims: JWT.Claims = ["sub": .string(login.userID), "scope": .string(login.scope.rawValue)]
        return try await sign(claims, for: login.projectID, at: login.now, context.logger)
    }

    /// A token with these claims, whose audience is a project. None is signed for a project with the id of a client,
    /// because that client would take it for an ID token.
    func sign(
        _ claims: JWT.Claims, for project: String, at now: Moment, _ logger: Logger
    ) async throws -> String {
        let provider = openID.provider
        guard try await provider.client(project) == nil else {
            logger.error("no token: the project has the id of an OpenID client", metadata: ["project": "\(project)"])
            throw TrustRefusal(
                .serviceUnavailable, "SERVICE_UNAVAILABLE", "the project has the id of an OpenID client")
        }
        let seconds = Int(now.seconds)
        let common: JWT.Claims = [
            "iss": .string(provider.issuer), "aud": .string(project), "iat": .int(seconds),
            "exp": .int(seconds + Self.tokenSeconds),
        ]
        return try JWT.sign(
            claims.merging(common) { $1 }, type: "JWT", by: provider.keys.signer(.rs256, at: now))
    }
}

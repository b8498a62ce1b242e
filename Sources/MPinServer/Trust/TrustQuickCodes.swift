import HTTPTypes
import Hummingbird
import MPinOpenID
import MPinService
import MPinWire

/// QuickCodes, with which a device lets its user register a further one (TRUST wire section 4.12).
extension TrustFace {
    private static let quickCodePath = "/verification/quickcode"
    /// The type in the header of a token for a QuickCode. No other token has it.
    private static let quickCodeType = "reg-code+jwt"

    /// The audience of a token for a QuickCode: this endpoint, and no back end of an app.
    private var quickCodeAudience: String { config.baseURL + Self.quickCodePath }

    /// A token for a QuickCode. It is no token of a login for anybody else, because its type and its audience are
    /// others (TRUST wire section 10, item 6).
    func quickCodeToken(_ login: ProjectService.Outcome) throws -> String {
        let provider = openID.provider
        let seconds = Int(login.now.seconds)
        let claims: JWT.Claims = [
            "iss": .string(provider.issuer), "aud": .string(quickCodeAudience), "sub": .string(login.userID),
            "iat": .int(seconds), "exp": .int(seconds + Self.tokenSeconds), "scope": .string(login.scope.rawValue),
            "identity": .string(login.identity),
        ]
        return try JWT.sign(claims, type: Self.quickCodeType, by: provider.keys.signer(.rs256, at: login.now))
    }

    /// POST /verification/quickcode: makes a code for the user of a login with the scope `reg-code`.
    func makeQuickCode(_ request: Request) async throws -> Response {
        let body = try await request.json(TrustQuickCodeRequest.self, limits)
        let project = try await project(body.projectId, request)
        let login = try quickCodeLogin(body.jwt.plainText)
        try await rates.admit(.register, user: login.user)
        let made = try await rules.quickCode(identity: login.identity, project: project)
        return .json(
            TrustQuickCodeResponse(code: made.code, expireTime: made.expires.seconds, ttlSeconds: made.seconds))
    }

    /// The QuickCode in the answer to a login with the scope `reg-code`, for the clients before client-js 8.4, which have no
    /// other request for it. Nil for all others.
    func quickCodeDigits(
        _ login: ProjectService.Outcome, _ request: Request
    ) async throws -> ProjectService.Digits? {
        guard login.scope == .quickCode, request.isBeforeQuickCodes else { return nil }
        try await rates.admit(.register, user: login.userID)
        let project = try await rules.project(login.projectID)
        let made = try await rules.quickCode(identity: login.identity, project: project)
        return .init(text: made.code, seconds: made.seconds)
    }

    /// Reads a token of ``quickCodeToken(_:)``.
    private func quickCodeLogin(_ token: String) throws(ProjectFault) -> (user: String, identity: String) {
        let (provider, now) = (openID.provider, Int(rules.now.seconds))
        guard
            let claims = try? JWT.verified(token, .rs256, type: Self.quickCodeType, by: provider.keys.signers),
            claims["iss"] == .string(provider.issuer), claims["aud"] == .string(quickCodeAudience),
            claims["scope"] == .string(LoginScope.quickCode.rawValue), case .int(let end)? = claims["exp"], now < end,
            case .string(let user)? = claims["sub"], case .string(let identity)? = claims["identity"]
        else { throw .wrongLoginToken }
        return (user, identity)
    }
}

extension Request {
    /// Whether the client has no request for QuickCodes of its own: it is client-js before 8.4. The first ones did not say
    /// what they are.
    fileprivate var isBeforeQuickCodes: Bool {
        guard let client = headers[.miraclClient] else { return true }
        guard let found = client.prefixMatch(of: /MIRACL Client\.js\/([0-9]{1,4})\.([0-9]{1,4})/),
            let major = Int(found.1), let minor = Int(found.2)
        else { return false }
        return (major, minor) < (8, 4)
    }
}

extension HTTPField.Name {
    fileprivate static let miraclClient = constant("X-MIRACL-CLIENT")
}

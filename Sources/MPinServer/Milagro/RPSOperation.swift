import HTTPTypes

/// An operation of an RPS for clients, below its prefix or, like `/service`, beside it. Its limit and kind are the same at the RPS and at an RPA that passes it on.
struct RPSOperation: Sendable, Equatable {
    let method: HTTPRequest.Method
    /// The path behind the prefix, or the whole path if it has none.
    private let end: String
    private let hasPrefix: Bool
    let limit: Route.Limit
    let kind: Route.Kind

    private init(
        _ method: HTTPRequest.Method, _ end: String, _ limit: Route.Limit, _ kind: Route.Kind = .other,
        hasPrefix: Bool = true
    ) {
        self.method = method
        self.end = end
        self.limit = limit
        self.kind = kind
        self.hasPrefix = hasPrefix
    }

    func path(prefix: String) -> String { hasPrefix ? "/\(prefix)\(end)" : end }

    // Milagro's (wire section 6).
    static let clientSettings = RPSOperation(.get, "/clientSettings", .other)
    static let register = RPSOperation(.put, "/user", .register)
    static let registerAgain = RPSOperation(.put, "/user/{id}", .register)
    static let signature = RPSOperation(.get, "/signature/{id}", .register)
    static let setupDone = RPSOperation(.post, "/setupDone/{id}", .other)
    static let timePermit = RPSOperation(.get, "/timePermit/{id}", .login)
    static let permitStorage = RPSOperation(.get, "/permitStorage/{app}/{date}/{hash}", .other)
    static let mobileConfig = RPSOperation(.get, "/mobileConfig", .other)
    static let service = RPSOperation(.get, "/service", .other, hasPrefix: false)
    static let pass1 = RPSOperation(.post, "/pass1", .login)
    static let pass2 = RPSOperation(.post, "/pass2", .login, .endOfLogin)
    static let accessNumber = RPSOperation(.post, "/getAccessNumber", .access)
    static let qrCode = RPSOperation(.post, "/getQrUrl", .access)
    static let access = RPSOperation(.post, "/access", .poll, .page)
    static let codeStatus = RPSOperation(.post, "/codeStatus", .access)
    static let authenticate = RPSOperation(.post, "/authenticate", .login, .phone)

    /// That of the clients of 2017 alone (TRUST wire section 7.2).
    static let renewal = RPSOperation(.post, "/dvsregister", .register)

    // Those of MIRACL Trust (TRUST wire section 4), which wait for nobody.
    static let trustSettings = RPSOperation(.get, "/v2/clientSettings", .other)
    static let trustRegister = RPSOperation(.put, "/v2/user", .register)
    static let trustSignature = RPSOperation(.get, "/v2/signature/{id}", .register)
    static let trustRenewal = RPSOperation(.post, "/v2/dvsregister", .register)
    static let trustPass1 = RPSOperation(.post, "/v2/pass1", .login)
    static let trustPass2 = RPSOperation(.post, "/v2/pass2", .login, .endOfLogin)
    static let trustAuthenticate = RPSOperation(.post, "/v2/authenticate", .login, .endOfLogin)
    static let trustSession = RPSOperation(.post, "/v2/session", .access)
    static let trustAccess = RPSOperation(.post, "/v2/access", .poll)
    static let trustCodeStatus = RPSOperation(.post, "/v2/codeStatus", .access)

    /// The logout by a phone (``OpenIDFace/phoneLogoutPath``).
    static let logout = RPSOperation(.post, "/logout", .other)

    static let all = [
        clientSettings, register, registerAgain, signature, setupDone, timePermit, permitStorage, mobileConfig, service,
        pass1, pass2, accessNumber, qrCode, access, codeStatus, authenticate, renewal, trustSettings, trustRegister,
        trustSignature, trustRenewal, trustPass1, trustPass2, trustAuthenticate, trustSession, trustAccess,
        trustCodeStatus, logout,
    ]
}

extension Route {
    init(
        _ operation: RPSOperation, prefix: String, cors: CORSPolicy?, errors: ErrorForm? = nil,
        _ answer: @escaping Handler
    ) {
        self.init(
            operation.method, operation.path(prefix: prefix), limit: operation.limit, kind: operation.kind, cors: cors,
            errors: errors, answer)
    }
}

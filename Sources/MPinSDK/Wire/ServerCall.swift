/// The kind of a request. The meaning of an HTTP status depends on this kind (wire section 13).
package enum ServerCall: Sendable, CaseIterable {
    case clientSettings
    case service
    case verification
    case verificationConfirmation
    case register
    /// ``register`` at a MIRACL MFA server.
    case registerMFA
    case signature
    /// ``signature`` at a MIRACL MFA server.
    case signatureMFA
    case secondClientSecret
    case setupDone
    case timePermit
    case permitStorage
    case secondTimePermit
    case codeStatus
    case authorize
    case pass1
    case pass2
    case authenticate
    case logout
    case signingRegister
    case secondSigningShare
    case trustVerification
    case trustConfirmation
    case trustRegistration
    case trustShare
    case trustSession
    case trustPass1
    case trustPass2
    case trustAuthenticate
    case trustQuickCode

    /// The name in error texts.
    var name: String {
        switch self {
        case .clientSettings: "client settings"
        case .service: "service details"
        case .verification: "verification"
        case .verificationConfirmation: "confirmation of the user id"
        case .register, .registerMFA: "register"
        case .signature, .signatureMFA: "first client secret share"
        case .secondClientSecret: "second client secret share"
        case .setupDone: "end of the registration"
        case .timePermit: "first time permit share"
        case .permitStorage: "permit storage"
        case .secondTimePermit: "second time permit share"
        case .codeStatus: "code status"
        case .authorize: "authorize"
        case .pass1: "pass 1"
        case .pass2: "pass 2"
        case .authenticate: "authenticate"
        case .logout: "logout"
        case .signingRegister: "registration of the signing key"
        case .secondSigningShare: "second signing secret share"
        case .trustVerification: "verification by mail"
        case .trustConfirmation: "activation token"
        case .trustRegistration: "registration"
        case .trustShare: "client secret share"
        case .trustSession: "session"
        case .trustPass1: "pass 1"
        case .trustPass2: "pass 2"
        case .trustAuthenticate: "authenticate"
        case .trustQuickCode: "QuickCode"
        }
    }

    /// Whether the request is one of the MIRACL Trust wire.
    package var isTrust: Bool {
        switch self {
        case .trustVerification, .trustConfirmation, .trustRegistration, .trustShare, .trustSession, .trustPass1,
            .trustPass2, .trustAuthenticate, .trustQuickCode:
            true
        default: false
        }
    }

    /// Whether the request may be sent twice. A server may give the first shares only once, and every POST and PUT
    /// changes something at the server. A request to the permit storage is not repeated, because the second D-TA is
    /// asked instead.
    var isIdempotent: Bool {
        switch self {
        case .clientSettings, .service, .secondClientSecret, .timePermit, .secondTimePermit, .secondSigningShare: true
        case .verification, .verificationConfirmation, .register, .registerMFA, .signature, .signatureMFA,
            .setupDone, .permitStorage, .codeStatus, .authorize, .pass1, .pass2, .authenticate, .logout,
            .signingRegister, .trustVerification, .trustConfirmation, .trustRegistration, .trustShare, .trustSession,
            .trustPass1, .trustPass2, .trustAuthenticate, .trustQuickCode:
            false
        }
    }

    /// What an HTTP status of the answer means. Only 200 is a success (wire section 2), but on the MIRACL Trust wire
    /// every 2xx is (TRUST wire section 3); there the body says more about a failure.
    package func status(http: Int) -> Status {
        switch (self, http) {
        case (_, 200): .ok
        case (let call, 200..<300) where call.isTrust: .ok
        case (_, 406): .badUserAgent
        case (_, 429): .tooManyRequests
        case (.service, 412): .badClientVersion
        case (.verification, 400..<500), (.verificationConfirmation, 400..<500): .verificationFailed
        case (.trustVerification, 400..<500), (.trustConfirmation, 400..<500): .verificationFailed
        case (.register, 403), (.registerMFA, 403): .identityNotAuthorized
        case (.registerMFA, 404), (.signatureMFA, 404): .registrationExpired
        case (.signature, 400), (.signature, 401), (.signatureMFA, 400), (.signatureMFA, 401): .identityNotVerified
        case (.secondClientSecret, 408), (.signingRegister, 408), (.secondSigningShare, 408): .requestExpired
        case (.timePermit, 410), (.secondTimePermit, 410): .revoked
        case (.authenticate, _): Self.verdict(http)
        default: Self.general(http)
        }
    }

    private static func verdict(_ http: Int) -> Status {
        switch http {
        case 401, 410: .incorrectPIN
        case 403: .identityNotAuthorized
        case 408: .requestExpired
        case 409: .clientSecretExpired
        case 412: .incorrectAccessNumber
        default: general(http)
        }
    }

    private static func general(_ http: Int) -> Status {
        switch http {
        case 201..<300: .responseParseError
        case 400..<500: .httpRequestError
        case 500..<600: .httpServerError
        default: .networkError
        }
    }
}

/// What a login is for, which is what its requests differ in.
struct LoginForm {
    /// The browser's session that is to be logged in; nil: a login on this device.
    var accessCode: String?
    var wantsOTP = false
    /// Asks the application for an authorization code.
    var wantsCode = false
    /// The name of the purpose at pass 1, and at authenticate, at a MIRACL server.
    var scope: String?
    var authenticateScope: String?
    /// The leave of the application's server.
    var authorization: String?

    /// On this device.
    static var plain: LoginForm { LoginForm() }
    static var otp: LoginForm { LoginForm(wantsOTP: true) }
    static var registrationCode: LoginForm { LoginForm(wantsOTP: true, scope: "reg-code") }
    static var signingRegistration: LoginForm { LoginForm(scope: "dvs-reg", authenticateScope: "dvs") }

    /// Whether a leave to register a key is what the login is for, and no demand.
    var wantsLeave: Bool { authenticateScope != nil }

    static func browser(_ accessCode: String) -> LoginForm { LoginForm(accessCode: accessCode) }
    static func authorizationCode(_ accessCode: String?) -> LoginForm {
        LoginForm(accessCode: accessCode, wantsCode: true)
    }
    static func signing(authorization: String?) -> LoginForm {
        LoginForm(scope: "dvs-auth", authorization: authorization)
    }
}

extension Backend {
    /// Where a login is redeemed.
    func authenticateURL(_ form: LoginForm) throws(SDKError) -> String {
        guard form.accessCode != nil else { return authenticateURL }
        guard !mobileAuthenticateURL.isEmpty else {
            throw SDKError(.flowError, "the backend has no logins for a browser")
        }
        return mobileAuthenticateURL
    }
}

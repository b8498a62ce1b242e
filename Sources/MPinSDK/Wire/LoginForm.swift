import MPinWire

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

/// What the server and the application said to a login that succeeded.
struct LoginAnswer {
    /// The application's JSON text; empty where it said nothing.
    let text: String
    /// The same, read.
    let content: JSONValue
    let pass2: JSONValue
    /// What the server wants done before it lets the user in; the other members are empty then.
    var renewal: RenewalAnswer?

    /// How to end the session, where the application says so. What is no path could name any host.
    var logout: User.Logout? {
        guard case .string(let path) = content["logoutURL"], path.hasPrefix("/"), let data = content["logoutData"],
            data != .null
        else { return nil }
        return User.Logout(path: path, data: data)
    }

    /// The authorization code; empty where there is none.
    var code: String {
        guard case .string(let code) = content["code"] else { return "" }
        return code
    }

    /// The one-time password came with pass 2, its times with the application's answer. One without a time is good all
    /// the same, and the old cores keep it, too.
    var otp: OTP {
        guard case .string(let code) = pass2["OTP"], isCode(code) else { return OTP(status: .flowError) }
        let (expires, now) = (number("expireTime"), number("nowTime"))
        let ttl = number("ttlSeconds").flatMap { Int32(exactly: $0) }
        let isWhole = expires != nil && now != nil && ttl != nil
        return OTP(
            status: isWhole ? .ok : .responseParseError, code: code, expireTime: (expires ?? 0) / 1000,
            nowTime: (now ?? 0) / 1000, ttlSeconds: ttl ?? 0)
    }

    /// What a person can read and type, of 1 to 63 characters: programs print it.
    private func isCode(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && text.utf8.allSatisfy { 33...126 ~= $0 }
    }

    /// Nil for what is no whole number above 0.
    private func number(_ name: String) -> Int64? {
        switch content[name] {
        case .int(let value) where value > 0: Int64(value)
        case .double(let value) where value >= 1: Int64(exactly: value.rounded(.down))
        default: nil
        }
    }
}

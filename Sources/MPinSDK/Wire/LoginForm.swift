import MPinWire

/// The purpose of a login and what its requests need for that.
struct LoginForm {
    /// The code of the browser's session to log in; nil: a login on this device.
    var accessCode: String?
    var wantsOTP = false
    /// Whether the application is asked for an authorization code.
    var wantsCode = false
    /// The name of the purpose in the pass 1 request; nil if the purpose has none. Our servers know only `reg-code`,
    /// MIRACL's servers know all names.
    var scope: String?
    /// The name of the purpose in the authenticate request, for MIRACL's servers only; nil if the purpose has none.
    var authenticateScope: String?
    /// A permission from the application's server, for the header Authorization of the authenticate request; nil if
    /// there is none.
    var authorization: String?

    /// A login on this device.
    static var plain: LoginForm { LoginForm() }
    static var otp: LoginForm { LoginForm(wantsOTP: true) }
    static var registrationCode: LoginForm { LoginForm(wantsOTP: true, scope: "reg-code") }
    static var signingRegistration: LoginForm { LoginForm(scope: "dvs-reg", authenticateScope: "dvs") }

    /// Whether the login's purpose is the permission to register a key. In such a login, a permission in the answer is
    /// the expected result; in any other login it is a demand to renew the secret.
    var wantsKeyPermission: Bool { authenticateScope != nil }

    static func browser(_ accessCode: String) -> LoginForm { LoginForm(accessCode: accessCode) }
    static func authorizationCode(_ accessCode: String?) -> LoginForm {
        LoginForm(accessCode: accessCode, wantsCode: true)
    }
    static func signing(authorization: String?) -> LoginForm {
        LoginForm(scope: "dvs-auth", authorization: authorization)
    }
}

/// The answers of the server and the application to a successful login.
struct LoginAnswer {
    /// The application's JSON text; may be empty.
    let text: String
    /// `text`, decoded.
    let content: JSONValue
    let pass2: JSONValue
    /// The renewal that the server asks for before it lets the user in. ``text`` and ``content`` are empty then.
    var renewal: RenewalAnswer?

    /// How to end the session. Nil if the application does not say it. Only a path at the backend is accepted, because
    /// a URL could name any host.
    var logout: User.Logout? {
        guard case .string(let path) = content["logoutURL"], path.hasPrefix("/"), let data = content["logoutData"],
            data != .null
        else { return nil }
        return User.Logout(path: path, data: data)
    }

    /// The authorization code; empty if there is none.
    var code: String {
        guard case .string(let code) = content["code"] else { return "" }
        return code
    }

    /// The one-time password from pass 2, with the times from the application's answer. A password without times is
    /// kept, too, as in Milagro's client cores.
    var otp: OTP {
        guard case .string(let code) = pass2["OTP"], isCode(code) else { return OTP(status: .flowError) }
        let (expires, now) = (number("expireTime"), number("nowTime"))
        let ttl = number("ttlSeconds").flatMap { Int32(exactly: $0) }
        let isWhole = expires != nil && now != nil && ttl != nil
        return OTP(
            status: isWhole ? .ok : .responseParseError, code: code, expireTime: (expires ?? 0) / 1000,
            nowTime: (now ?? 0) / 1000, ttlSeconds: ttl ?? 0)
    }

    /// Whether the text has 1 to 63 printable ASCII characters, because programs print it and users type it.
    private func isCode(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && text.utf8.allSatisfy { 33...126 ~= $0 }
    }

    /// The member `name` as a whole number; a fraction is cut off. Nil unless the number is at least 1.
    private func number(_ name: String) -> Int64? {
        switch content[name] {
        case .int(let value) where value > 0: Int64(value)
        case .double(let value) where value >= 1: Int64(exactly: value.rounded(.down))
        default: nil
        }
    }
}

import MPinHTTP
import MPinSecrets
import MPinWire

/// Logins for the session of a browser that shows an access number or a QR code. PINs are ASCII.
extension SDK {
    /// As ``startAuthentication(_:)``, and tells the page who is about to log in. If that message fails, the login goes
    /// on. The message takes at most half of the time that is left.
    package func startAuthenticationMFA(_ user: User, accessCode: String) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            try core.check(user, allows: .authenticationStarted)
            guard !accessCode.isEmpty else { throw SDKError(.invalidArgument, "no access code") }
            let request = CodeStatusRequest(status: "user", wid: accessCode, userId: user.id)
            let half = UInt32(clamping: min(caller.deadline.remainingMilliseconds() / 2, 5000))
            do throws(SDKError) {
                try core.wire(of: user).report(request, until: .after(milliseconds: half), caller)
            } catch {
                if error.status == .canceled { throw error }
            }
            try core.startLogin(user, caller)
        }
    }

    /// Logs in the session of a browser that shows an access number.
    package func finishAuthenticationAN(
        _ user: User, pin: Span<UInt8>, accessNumber: String
    ) throws(SDKError) {
        let pin = SecretBytes(copying: pin)
        try perform(pinOf: user) { core, caller throws(SDKError) in
            _ = try core.logIn(user, pin, .browser(accessNumber), caller)
        }
    }

    /// Logs in, on this device or in a browser, and gets an authorization code. The code is empty if the application
    /// issues none.
    package func finishAuthenticationMFA(
        _ user: User, pin: Span<UInt8>, accessCode: String? = nil
    ) throws(SDKError) -> String {
        let pin = SecretBytes(copying: pin)
        return try perform(pinOf: user) { core, caller throws(SDKError) in
            try core.logIn(user, pin, .authorizationCode(accessCode), caller).code
        }
    }

    /// Checks the digits of an access number if the backend's settings say that it has a check digit. Sends nothing.
    package func checkAccessNumber(_ number: String) throws(SDKError) {
        try perform { core, _ throws(SDKError) in try core.checkAccessNumber(number) }
    }

    /// Asks who shows this code. The page learns that the code was read. All texts are empty if the backend does not
    /// support the request.
    package func sessionDetails(_ accessCode: String) throws(SDKError) -> Session {
        try perform { core, caller throws(SDKError) in
            try core.checkShownCode(accessCode)
            return try core.currentBackend().wire.session(accessCode, caller) ?? Session()
        }
    }

    /// Tells the page that the user declined.
    package func abortSession(_ accessCode: String) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            try core.checkShownCode(accessCode)
            let request = CodeStatusRequest(status: "abort", wid: accessCode)
            try core.currentBackend().wire.report(request, until: nil, caller)
        }
    }

    /// Opens a session at an authorization endpoint, for a login on this device. Returns the access code, which is the
    /// fragment of the URL in the session's QR code.
    package func accessCode(authorizeURL: String) throws(SDKError) -> String {
        try perform { _, caller throws(SDKError) in
            let answer: JSONValue = try caller.decode(
                .authorize, try caller.anywhere.send(.authorize, .post, authorizeURL, [String: String]()))
            guard case .string(let url) = answer["qrURL"] ?? answer["qrUrl"], let mark = url.lastIndex(of: "#")
            else { throw SDKError(.responseParseError, "authorize: no QR URL with a fragment") }
            let code = url[url.index(after: mark)...]
            guard !code.isEmpty else { throw SDKError(.responseParseError, "authorize: an empty fragment") }
            return String(code)
        }
    }
}

extension Core {
    /// An empty code is not checked here; as in the old client cores, the server decides what it means.
    fileprivate func checkShownCode(_ accessCode: String) throws(SDKError) {
        if !accessCode.isEmpty { try checkAccessNumber(accessCode) }
    }

    /// A number of seven characters must have a right check digit, if the backend uses check digits. The server judges
    /// longer and shorter numbers.
    func checkAccessNumber(_ number: String) throws(SDKError) {
        let wire = try currentBackend().wire
        guard !number.isEmpty, number != "0" else { throw SDKError(.incorrectAccessNumber, "no access number") }
        guard wire.checksAccessNumbers, number.utf8.count == AccessNumber.length else { return }
        guard AccessNumber.isValid(number) else {
            throw SDKError(.incorrectAccessNumber, "the check digit is wrong")
        }
    }
}

/// Access numbers, which a browser shows (wire section 6.9).
enum AccessNumber {
    static let length = 7

    /// Whether the text is six digits and their check digit.
    static func isValid(_ number: String) -> Bool {
        let digits = number.utf8.map { Int($0) - 48 }
        guard digits.count == length, digits.allSatisfy({ (0...9).contains($0) }) else { return false }
        let sum = zip(digits, [7, 6, 5, 4, 3, 2]).reduce(0) { $0 + $1.0 * $1.1 }
        return digits[length - 1] == (11 - sum % 11) % 11 % 10
    }
}

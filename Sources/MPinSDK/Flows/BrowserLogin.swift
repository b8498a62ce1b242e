import MPinHTTP
import MPinSecrets
import MPinWire

/// Logins for the session of a browser that shows an access number or a QR code. PINs are passed as ASCII digits.
extension SDK {
    /// Starts a login as ``startAuthentication(_:)`` does, and tells the page which user is about to log in. This
    /// message takes at most half of the time that is left, and at most 5 seconds. If it fails, the login goes on.
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
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            _ = try core.logIn(user, pin, .browser(accessNumber), caller)
        }
    }

    /// Logs in and returns an authorization code for the application; empty if the application issues none.
    /// `accessCode` is the code of the browser that is logged in; nil for a login on this device.
    package func finishAuthenticationMFA(
        _ user: User, pin: Span<UInt8>, accessCode: String? = nil
    ) throws(SDKError) -> String {
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            try core.logIn(user, pin, .authorizationCode(accessCode), caller).code
        }
    }

    /// Throws if an access number is empty or `0`, or if its check digit is wrong and the backend's settings say that
    /// access numbers have one. Sends nothing.
    package func checkAccessNumber(_ number: String) throws(SDKError) {
        try perform { core, _ throws(SDKError) in try core.checkAccessNumber(number) }
    }

    /// Asks the backend which application shows this code. The page learns that its code was read. All texts of the
    /// result are empty if the backend does not support the request.
    package func sessionDetails(_ accessCode: String) throws(SDKError) -> Session {
        try perform { core, caller throws(SDKError) in
            try core.checkShownCode(accessCode)
            return try core.currentBackend().wire.session(accessCode, caller) ?? Session()
        }
    }

    /// Tells the page that shows this code that the user has declined the login.
    package func abortSession(_ accessCode: String) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            try core.checkShownCode(accessCode)
            let request = CodeStatusRequest(status: "abort", wid: accessCode)
            try core.currentBackend().wire.report(request, until: nil, caller)
        }
    }

    /// Opens a browser's session at `authorizeURL`, the authorization endpoint of an application, for a login on this
    /// device. Returns the session's access code: the part after `#` of the URL that its QR code contains.
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

extension Call {
    package static let authorize = Call("authorize")
}

extension Core {
    /// Checks a code as ``checkAccessNumber(_:)`` does. An empty code is accepted: as in Milagro's client cores, the
    /// server decides what it means.
    fileprivate func checkShownCode(_ accessCode: String) throws(SDKError) {
        if !accessCode.isEmpty { try checkAccessNumber(accessCode) }
    }

    /// Throws if the number is empty or `0`, or if it has seven characters and a wrong check digit and the backend uses
    /// check digits. Only the server checks numbers of other lengths.
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

    /// Whether the text consists of six digits and their check digit.
    static func isValid(_ number: String) -> Bool {
        let digits = number.utf8.map { Int($0) - 48 }
        guard digits.count == length, digits.allSatisfy({ (0...9).contains($0) }) else { return false }
        let sum = zip(digits, [7, 6, 5, 4, 3, 2]).reduce(0) { $0 + $1.0 * $1.1 }
        return digits[length - 1] == (11 - sum % 11) % 11 % 10
    }
}

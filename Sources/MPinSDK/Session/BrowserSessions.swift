import MPinHTTP
import MPinSecrets
import MPinWire

extension Session {
    /// Tells the page who is about to log in. That is a courtesy: the login goes on without it, and has at least half of
    /// the time that is left.
    func startAuthenticationMFA(_ user: User, accessCode: String, _ caller: Caller) throws(SDKError) {
        try check(user, allows: .authenticationStarted)
        guard !accessCode.isEmpty else { throw SDKError(.invalidArgument, "no access code") }
        let request = CodeStatusRequest(status: "user", wid: accessCode, userId: user.id)
        let half = UInt32(clamping: min(caller.deadline.remainingMilliseconds() / 2, 5000))
        do throws(SDKError) {
            _ = try report(request, until: .after(milliseconds: half), caller)
        } catch {
            if error.status == .canceled { throw error }
        }
        try startAuthentication(user, caller)
    }

    /// Every detail is empty where the backend does not know the question.
    func sessionDetails(_ accessCode: String, _ caller: Caller) throws(SDKError) -> SessionDetails {
        try checkShownCode(accessCode)
        guard let answer = try report(CodeStatusRequest(status: "wid", wid: accessCode), caller) else {
            return SessionDetails()
        }
        return try SessionDetails(caller.decode(.codeStatus, answer))
    }

    func abortSession(_ accessCode: String, _ caller: Caller) throws(SDKError) {
        try checkShownCode(accessCode)
        _ = try report(CodeStatusRequest(status: "abort", wid: accessCode), caller)
    }

    /// What an empty code stands for is for the server to say, as with the old cores.
    private func checkShownCode(_ accessCode: String) throws(SDKError) {
        if !accessCode.isEmpty { try checkAccessNumber(accessCode) }
    }

    /// Nil where the backend has nowhere to report to.
    private func report(
        _ request: CodeStatusRequest, until earlier: Deadline? = nil, _ caller: Caller
    ) throws(SDKError) -> SecretBytes? {
        let url = try currentBackend().codeStatusURL
        guard !url.isEmpty else { return nil }
        return try caller.send(.codeStatus, .post, url, request, until: earlier)
    }

    /// The fragment of the URL that the QR code of a new session would show.
    func accessCode(authorizeURL: String, _ caller: Caller) throws(SDKError) -> String {
        let answer: JSONValue = try caller.decode(
            .authorize, try caller.anywhere.send(.authorize, .post, authorizeURL, [String: String]()))
        guard case .string(let url) = answer["qrURL"] ?? answer["qrUrl"], let mark = url.lastIndex(of: "#") else {
            throw SDKError(.responseParseError, "authorize: no QR URL with a fragment")
        }
        let code = url[url.index(after: mark)...]
        guard !code.isEmpty else { throw SDKError(.responseParseError, "authorize: an empty fragment") }
        return String(code)
    }

    /// The authorization code; empty where the login stands for itself and the application issues none.
    func finishAuthenticationMFA(
        _ user: User, pin: SecretBytes, accessCode: String?, _ caller: Caller
    ) throws(SDKError) -> String {
        try logIn(user, pin: pin, .authorizationCode(accessCode), caller).code
    }

    /// Seven characters are an access number with a check digit, where the backend has them; whatever is longer or shorter
    /// is for the server to judge.
    func checkAccessNumber(_ number: String) throws(SDKError) {
        let backend = try currentBackend()
        guard !number.isEmpty, number != "0" else { throw SDKError(.incorrectAccessNumber, "no access number") }
        guard backend.checksAccessNumbers, number.utf8.count == AccessNumber.length else { return }
        guard AccessNumber.isValid(number) else {
            throw SDKError(.incorrectAccessNumber, "the check digit is wrong")
        }
    }
}

/// Numbers that a browser shows (wire section 6.9).
enum AccessNumber {
    static let length = 7

    /// Six digits and the check digit that belongs to them.
    static func isValid(_ number: String) -> Bool {
        let digits = number.utf8.map { Int($0) - 48 }
        guard digits.count == length, digits.allSatisfy({ (0...9).contains($0) }) else { return false }
        let sum = zip(digits, [7, 6, 5, 4, 3, 2]).reduce(0) { $0 + $1.0 * $1.1 }
        return digits[length - 1] == (11 - sum % 11) % 11 % 10
    }
}

extension SessionDetails {
    /// Old servers and old clients spell the members differently: their case does not matter, and what is empty may stand
    /// under another name.
    init(_ answer: JSONValue) throws(SDKError) {
        guard case .object(let members) = answer else {
            throw SDKError(.responseParseError, "\(ServerCall.codeStatus.name): not a JSON object")
        }
        func text(_ names: String...) -> String {
            for (name, value) in members {
                if case .string(let text) = value, !text.isEmpty, names.contains(name.lowercased()) { return text }
            }
            return ""
        }
        registerOnly = members["registerOnly"] == .bool(true)
        prerollID = text("prerollid")
        appName = text("appname")
        appIconURL = text("applogourl", "appiconurl")
        customerID = text("customerid")
        customerName = text("customername")
        customerIconURL = text("customerlogourl", "customericonurl")
        clientID = text("clientid")
        redirectURI = text("redirecturi")
    }
}

import Glibc
import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire

extension AppSession {
    /// Opens the provider's page in the system's browser and waits for the code that the browser brings back.
    func logInByBrowser(_ provider: Provider, _ userID: String) throws(SDKError) -> SessionRecord {
        guard let open = callbacks.openBrowser else {
            throw SDKError(.interactionNotAllowed, "no browser can be opened: the session has no callback for it")
        }
        let listener = try LoopbackURI(provider.redirectURI).map(LoopbackListener.init)
        let redirectURI = listener?.redirectURI ?? provider.redirectURI
        let request = try AuthorizationRequest(self, provider, redirectURI: redirectURI)
        let endpoint = try endpoints(of: provider, caller(limits())).authorization
        _ = mailbox.take()
        let whole = limits(loginMilliseconds)
        guard open(try request.url(endpoint, provider, userID: userID)) else {
            throw SDKError(.interactionNotAllowed, "the browser could not be opened")
        }
        let answer = try wait(for: request, listener, whole)
        return try redeem(try answer.code(from: provider), request, provider, "")
    }

    private func wait(
        for request: AuthorizationRequest, _ listener: LoopbackListener?, _ limits: CallLimits
    ) throws(SDKError) -> AuthorizationAnswer {
        var found: AuthorizationAnswer?
        while true {
            let left = limits.deadline.remainingMilliseconds()
            guard left > 0 else { throw SDKError(.timedOut, "the browser has not come back in time") }
            if let listener {
                _ = listener.serve(or: mailbox.event, milliseconds: left) { target in
                    found = AuthorizationAnswer(target, for: request) ?? found
                    return found != nil
                }
            } else {
                var event = pollfd(fd: mailbox.event, events: Int16(POLLIN), revents: 0)
                _ = poll(&event, 1, Int32(clamping: left))
            }
            if let url = mailbox.take() {
                guard let answer = AuthorizationAnswer(url, for: request) else {
                    throw SDKError(.loginRefused, "the browser has come back from another login (state)")
                }
                return answer
            }
            if let found { return found }
            guard !limits.isCancelled() else { throw SDKError(.canceled, "the login was cancelled") }
        }
    }
}

/// What a provider's answer to an authorization request says (RFC 6749 section 4.1.2).
struct AuthorizationAnswer {
    private let members: [String: String]

    /// Reads the query of `url`. Nil unless it answers `request`.
    init?(_ url: String, for request: AuthorizationRequest) {
        guard let mark = url.firstIndex(of: "?") else { return nil }
        let query = url[url.index(after: mark)...].prefix { $0 != "#" }
        var members: [String: String] = [:]
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let value = percentDecoded(parts.count == 2 ? parts[1] : ""),
                members.updateValue(value, forKey: String(parts[0])) == nil
            else { return nil }
        }
        guard let state = members["state"], SecretText(state) == SecretText(request.state) else { return nil }
        self.members = members
    }

    /// The code. Throws if the provider has refused the login, or another provider has answered (RFC 9207).
    func code(from provider: Provider) throws(SDKError) -> SecretText {
        if let expected = provider.issuer, let issuer = members["iss"], issuer != expected {
            throw SDKError(.loginRefused, "another provider has answered (iss)")
        }
        if let error = members["error"] {
            let more = members["error_description"].map { ": \(printable($0))" } ?? ""
            throw SDKError(.loginRefused, "the provider has refused the login: \(printable(error))\(more)")
        }
        guard let code = members["code"], !code.isEmpty else {
            throw SDKError(.loginRefused, "the provider has sent no code")
        }
        return SecretText(code)
    }
}

/// The text that a part of a query encodes; "+" is a space. Nil if it is no such part.
private func percentDecoded(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
        case UInt8(ascii: "%"):
            guard rest.count >= 2, let value = Hex.decode(String(decoding: rest.prefix(2), as: UTF8.self)) else {
                return nil
            }
            bytes += value
            rest = rest.dropFirst(2)
        default: bytes.append(byte)
        }
    }
    return String(validating: bytes, as: UTF8.self)
}

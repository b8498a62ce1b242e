import MPinHTTP
import MPinSDK
import MPinSecrets
import MPinWire

/// An answer of the device authorization endpoint (RFC 8628 section 3.2).
private struct DeviceAnswer: Decodable {
    var device_code: SecretText
    var user_code: String
    var verification_uri: String
    var verification_uri_complete: String?
    var expires_in: LenientInt
    var interval: LenientInt?
}

extension AppSession {
    /// Shows a code, and asks the provider for tokens until the user has typed the code elsewhere. The time runs while
    /// the code is shown, because a callback may wait for its user.
    func logInByDeviceCode(_ provider: Provider) throws(SDKError) -> SessionRecord {
        guard let show = callbacks.showCode else {
            throw SDKError(.interactionNotAllowed, "nobody can be shown a code: the session has no callback for it")
        }
        let answer = try deviceCode(provider)
        let lifetime = max(0, min(answer.expires_in.value, 3600))
        // A cancel that comes while the code is shown ends the login, too.
        let whole = limits(min(loginMilliseconds, UInt32(lifetime) * 1000))
        let interval = UInt32(max(1, min(answer.interval?.value ?? 5, 60)))
        let pause = Deadline.after(milliseconds: interval * 1000)
        show(
            DeviceCode(
                userCode: printable(answer.user_code), url: try shown(answer.verification_uri),
                completeURL: try shown(answer.verification_uri_complete ?? ""), expiresIn: Int64(lifetime)))
        return try poll(answer, provider, every: interval, after: pause, whole)
    }

    /// A URL that a terminal can show. One that is too long is not cut, because it would lead elsewhere.
    private func shown(_ url: String) throws(SDKError) -> String {
        let mostBytes = 1000
        guard url.utf8.count <= mostBytes else {
            throw SDKError(.responseParseError, "device authorization: a URL of more than \(mostBytes) bytes")
        }
        return printable(url, atMost: mostBytes)
    }

    private func deviceCode(_ provider: Provider) throws(SDKError) -> DeviceAnswer {
        let caller = caller(limits())
        let endpoints = try endpoints(of: provider, caller)
        guard !endpoints.device.isEmpty else {
            throw SDKError(.invalidArgument, "the provider has no logins of devices")
        }
        var form = Form()
        let headers = addClient(provider, endpoints, to: &form)
        form.add("scope", provider.scope)
        return try caller.decode(
            .deviceAuthorization, caller.post(.deviceAuthorization, endpoints.device, form, headers))
    }

    private func poll(
        _ answer: DeviceAnswer, _ provider: Provider, every interval: UInt32, after firstPause: Deadline,
        _ whole: CallLimits
    ) throws(SDKError) -> SessionRecord {
        var (seconds, pause) = (interval, firstPause)
        var form = Form()
        form.add("grant_type", "urn:ietf:params:oauth:grant-type:device_code")
        form.add("device_code", answer.device_code)
        while true {
            try wait(pause, whole)
            defer { pause = .after(milliseconds: seconds * 1000) }
            let caller = caller(CallLimits(deadline: limits().deadline, isCancelled: whole.isCancelled))
            do throws(SDKError) {
                let received = try tokens(.token, provider, form, caller)
                return try record(received, provider, userID: "", scope: provider.scope, nonce: nil, caller)
            } catch {
                switch (error.server.code, error.status) {
                case ("authorization_pending", _), (_, .networkError), (_, .timedOut): continue
                case ("slow_down", _): seconds += 5
                case ("access_denied", _), ("expired_token", _):
                    throw SDKError(.loginRefused, error.text, httpStatus: error.httpStatus, server: error.server)
                default: throw error
                }
            }
        }
    }

    private func wait(_ pause: Deadline, _ whole: CallLimits) throws(SDKError) {
        while true {
            guard !whole.isCancelled() else { throw SDKError(.canceled, "the login was cancelled") }
            guard whole.deadline.remainingMilliseconds() > 0 else {
                throw SDKError(.timedOut, "nobody has typed the code in time")
            }
            guard pause.remainingMilliseconds() > 0 else { return }
            pause.sleep(atMost: 50)
        }
    }
}

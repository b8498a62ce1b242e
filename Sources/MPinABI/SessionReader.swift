import CMPin
import Glibc
import MPinSDK
import MPinSecrets
import MPinSession
import MPinWire

/// Reads the caller's `mpin_provider`. An error names the malformed member.
func readProvider(_ provider: UnsafePointer<mpin_provider>?) throws(SDKError) -> Provider {
    guard let provider else { throw malformed("provider is NULL") }
    let known = try knownPart(provider, size: provider.pointee.size, of: mpin_provider(), "provider", "mpin_provider")
    func read(_ text: UnsafePointer<CChar>?, _ name: String) throws(SDKError) -> String? {
        guard let read = optionalText(text) else { throw malformed("provider.\(name) is not UTF-8") }
        return read
    }
    guard let login = Provider.Login(rawValue: known.login) else { throw malformed("provider.login is unknown") }
    guard (0...1).contains(known.ends_on_401) else { throw malformed("provider.ends_on_401 is neither 0 nor 1") }
    var result = Provider(
        name: try read(known.name, "name") ?? "", login: login, clientID: try read(known.client_id, "client_id") ?? "")
    result.renewsOn401 = known.ends_on_401 == 0
    if let secret = secretOctets(known.client_secret) {
        result.clientSecret = SecretText(SecretBytes(copying: secret.span))
    }
    result.issuer = try read(known.issuer, "issuer")
    result.redirectURI = try read(known.redirect_uri, "redirect_uri") ?? result.redirectURI
    result.scope = try read(known.scope, "scope") ?? result.scope
    result.origins = words(try read(known.origins, "origins"))
    result.endpoints.authorization = try read(known.authorization_endpoint, "authorization_endpoint") ?? ""
    result.endpoints.token = try read(known.token_endpoint, "token_endpoint") ?? ""
    result.endpoints.userinfo = try read(known.userinfo_endpoint, "userinfo_endpoint") ?? ""
    result.endpoints.revocation = try read(known.revocation_endpoint, "revocation_endpoint") ?? ""
    result.endpoints.device = try read(known.device_endpoint, "device_endpoint") ?? ""
    for pair in words(try read(known.claim_names, "claim_names")) {
        let names = pair.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard names.count == 2 else { throw malformed("provider.claim_names is not a list of OUR=THEIRS") }
        result.claimNames[names[0]] = names[1]
    }
    return result
}

private func words(_ text: String?) -> [String] { (text ?? "").split(separator: " ").map(String.init) }

/// Opens the session that the caller's `mpin_session_config` describes.
func openSession(_ sdk: SDK, _ config: UnsafePointer<mpin_session_config>?) throws(SDKError) -> AppSession {
    guard let config else { throw malformed("config is NULL") }
    let known = try knownPart(
        config, size: config.pointee.size, of: mpin_session_config(), "config", "mpin_session_config")
    guard let path = optionalText(known.path) else { throw malformed("config.path is not UTF-8") }
    guard let milliseconds = UInt32(exactly: known.login_timeout_ms) else {
        throw malformed("config.login_timeout_ms is too large")
    }
    guard (0...1).contains(known.never_renews) else { throw malformed("config.never_renews is neither 0 nor 1") }
    return try AppSession(
        sdk, path: path, loginMilliseconds: milliseconds, renews: known.never_renews == 0,
        callbacks: SessionBridge(known).callbacks)
}

/// The callbacks of a C program. They run in the thread of the call, so the program must make its `user` safe for all
/// threads that it calls from.
private struct SessionBridge: @unchecked Sendable {
    private let config: mpin_session_config

    init(_ config: mpin_session_config) { self.config = config }

    var callbacks: SessionCallbacks {
        var result = SessionCallbacks()
        if config.ask_pin != nil { result.pin = { askPIN($0) } }
        if config.open_browser != nil { result.openBrowser = { openBrowser($0) } }
        if config.show_code != nil { result.showCode = { showCode($0) } }
        if config.event != nil { result.event = { tell($0, $1) } }
        return result
    }

    private func openBrowser(_ url: String) -> Bool {
        url.withCString { config.open_browser?(config.user, $0) } == MPIN_OK
    }

    private func tell(_ state: SessionState, _ provider: String) {
        provider.withCString { config.event?(config.user, state.rawValue, $0) }
    }

    private func askPIN(_ request: PINRequest) -> SecretBytes? {
        let buffer = SecretBytes(count: Int(MPIN_PIN_BUFFER_SIZE))
        var room = buffer.mutableSpan
        var status = MPIN_PIN_INPUT_CANCELED
        request.provider.withCString { provider in
            request.userID.withCString { userID in
                var view = mpin_pin_request()
                view.size = MemoryLayout<mpin_pin_request>.size
                view.provider = provider
                view.user_id = userID
                view.attempts_left = request.attemptsLeft ?? -1
                room.withUnsafeMutableBytes { bytes in
                    status =
                        config.ask_pin?(config.user, &view, bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
                        ?? status
                }
            }
        }
        let text = buffer.span
        guard status == MPIN_OK, let end = text.indices.first(where: { text[$0] == 0 }) else { return nil }
        return SecretBytes(copying: text.extracting(first: end))
    }

    private func showCode(_ code: DeviceCode) {
        code.userCode.withCString { userCode in
            code.url.withCString { url in
                code.completeURL.withCString { completeURL in
                    var view = mpin_device_code()
                    view.size = MemoryLayout<mpin_device_code>.size
                    view.user_code = userCode
                    view.url = url
                    view.complete_url = completeURL
                    view.expires_in = code.expiresIn
                    config.show_code?(config.user, &view)
                }
            }
        }
    }
}

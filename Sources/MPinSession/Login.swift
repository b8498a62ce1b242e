import MPinHTTP
package import MPinSDK
import MPinSecrets
import MPinWire

extension AppSession {
    /// Logs a user in and stores the session, which replaces the one before. `userID` names a user of the client core
    /// for a login by PIN; for others it is a hint for the provider's page.
    package func login(_ name: String, userID: String = "") throws(SDKError) {
        try recorded { () throws(SDKError) in
            let provider = try provider(name)
            try logins.enter(until: limits().deadline)
            defer { logins.leave() }
            try logIn(provider, userID)
        }
    }

    /// Logs in. The gate of the logins must have been entered.
    func logIn(_ provider: Provider, _ userID: String) throws(SDKError) {
        beginSigningIn(provider.name)
        tell(.signingIn, provider.name)
        do throws(SDKError) {
            let record = try authenticate(provider, userID)
            try store.update(within: nil) { content throws(SDKError) in
                content.endSession()
                content.session = record
                content.lastProvider = provider.name
            }
        } catch {
            beginSigningIn(nil)
            if let state = try? state() { tell(state, provider.name) }
            throw error
        }
        beginSigningIn(nil)
        tell(.signedIn, provider.name)
        revokeEndedSessions(caller(limits()))
    }

    private func authenticate(_ provider: Provider, _ userID: String) throws(SDKError) -> SessionRecord {
        switch provider.login {
        case .pin: try logInByPIN(provider, userID)
        case .browser: try logInByBrowser(provider, userID)
        case .deviceCode: try logInByDeviceCode(provider)
        }
    }

    // MARK: By PIN

    private func logInByPIN(_ provider: Provider, _ userID: String) throws(SDKError) -> SessionRecord {
        // An app that was started without a network has named no backend, whose users are looked up.
        if let issuer = provider.issuer { try sdk.setBackendIfNone(issuer) }
        guard let user = try sdk.user(userID) else {
            throw SDKError(.flowError, "the client core has no user with that id: register the user first")
        }
        // The provider is asked before the user is, so that nobody types a PIN in vain.
        let endpoint = try endpoints(of: provider, caller(limits())).authorization
        var pin = try askPIN(PINRequest(provider: provider.name, userID: userID, attemptsLeft: nil))
        let request = try AuthorizationRequest(self, provider, redirectURI: provider.redirectURI)
        let accessCode = try sdk.accessCode(authorizeURL: request.url(endpoint, provider, userID: ""))
        try sdk.startAuthentication(user)
        while true {
            do throws(SDKError) {
                let code = try sdk.finishAuthenticationMFA(user, pin: pin.span, accessCode: accessCode)
                guard !code.isEmpty else { throw SDKError(.loginRefused, "the provider issued no code") }
                return try redeem(SecretText(code), request, provider, userID)
            } catch {
                guard error.status == .incorrectPIN, user.state != .blocked else { throw error }
                let left = error.server.attemptsLeft
                pin = try askPIN(PINRequest(provider: provider.name, userID: userID, attemptsLeft: left))
            }
        }
    }

    private func askPIN(_ request: PINRequest) throws(SDKError) -> SecretBytes {
        guard let ask = callbacks.pin else {
            throw SDKError(.interactionNotAllowed, "nobody can be asked for a PIN: the session has no callback for it")
        }
        guard let pin = ask(request), pin.count > 0 else { throw SDKError(.pinInputCanceled, "no PIN was given") }
        return pin
    }

    /// Redeems a code. The provider answers only once, so a failure is not repeated.
    func redeem(
        _ code: SecretText, _ request: AuthorizationRequest, _ provider: Provider, _ userID: String
    ) throws(SDKError) -> SessionRecord {
        let caller = caller(limits())
        var form = Form()
        form.add("grant_type", "authorization_code")
        form.add("code", code)
        form.add("redirect_uri", request.redirectURI)
        form.add("code_verifier", request.verifier)
        let received = try tokens(.token, provider, form, caller)
        return try record(
            received, provider, userID: userID, scope: provider.scope, nonce: request.nonce, caller)
    }
}

/// An authorization request with PKCE (RFC 7636), and the secrets by which its answer is recognised.
struct AuthorizationRequest {
    let redirectURI: String
    let state: String
    let nonce: String
    let verifier: SecretText

    init(_ session: AppSession, _ provider: Provider, redirectURI: String) throws(SDKError) {
        self.redirectURI = redirectURI
        state = try session.randomText()
        nonce = try session.randomText()
        verifier = SecretText(try session.randomText())
    }

    /// The URL to open or to post to. `userID` is a hint for the provider's page; empty: none.
    func url(_ endpoint: String, _ provider: Provider, userID: String) throws(SDKError) -> String {
        guard !endpoint.isEmpty else { throw SDKError(.invalidArgument, "the provider has no authorization endpoint") }
        var members = [
            ("response_type", "code"), ("client_id", provider.clientID), ("redirect_uri", redirectURI),
            ("scope", provider.scope), ("state", state), ("code_challenge", challenge),
            ("code_challenge_method", "S256"),
        ]
        if provider.issuer != nil { members.append(("nonce", nonce)) }
        if !userID.isEmpty { members.append(("login_hint", userID)) }
        return endpoint + (endpoint.contains("?") ? "&" : "?") + percentEncodedQuery(members)
    }

    private var challenge: String { Base64URL.encode(SHA256.hash(verifier.secret.plainBytes)) }
}

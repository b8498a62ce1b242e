import MPinHTTP
package import MPinSDK
import MPinSecrets
import MPinWire

extension AppSession {
    /// The tokens. If the access token is valid for `minTTL` more seconds, and has the scopes that are wanted, this
    /// makes no system call but one `stat` of the file; else the tokens are renewed first. If the provider refuses, the
    /// user is asked for the PIN, if the provider has logins by PIN and `mayInteract` is set; else the call throws
    /// ``Status/loginRequired``.
    package func credentials(
        scope: String? = nil, minTTL: Int64 = 60, mayInteract: Bool = false
    ) throws(SDKError) -> Credentials {
        try recorded { () throws(SDKError) in
            try current(Need(scope: scope, minTTL: minTTL), mayInteract: mayInteract).credentials
        }
    }

    /// The tokens as ``credentials(scope:minTTL:mayInteract:)`` returns them; nil if they would have to be renewed.
    package func known(scope: String? = nil, minTTL: Int64 = 60) throws(SDKError) -> Credentials? {
        try recorded { () throws(SDKError) in
            let need = Need(scope: scope, minTTL: minTTL)
            guard let session = try store.content().session, need.isMet(by: session, now: try parts.now()) else {
                return nil
            }
            return session.credentials
        }
    }

    /// Renews the tokens, also if they are still valid.
    package func renew() throws(SDKError) {
        try recorded { () throws(SDKError) in
            guard let session = try store.content().session else { throw Self.noCredentials }
            _ = try current(Need(minTTL: 0, rejected: session.accessToken), mayInteract: false)
        }
    }

    static var noCredentials: SDKError { SDKError(.noCredentials, "nobody is logged in") }

    /// The session as soon as it meets the need.
    func current(_ need: Need, mayInteract: Bool) throws(SDKError) -> SessionRecord {
        let known = try store.content().session
        if let known, need.isMet(by: known, now: try parts.now()) { return known }
        guard renews else { throw Self.notRenewed(known) }
        do throws(SDKError) {
            return try renewed(need, limits())
        } catch {
            guard mayInteract, error.status == .loginRequired || error.status == .noRefreshToken,
                let session = try store.content().session, let provider = try? provider(session.provider),
                provider.login == .pin
            else { throw error }
            return try loggedInAgain(provider, session)
        }
    }

    private static func notRenewed(_ session: SessionRecord?) -> SDKError {
        guard let session else { return noCredentials }
        if session.isRevoked { return loginRequired }
        return SDKError(.renewFailed, "the app renews the session, and not this part of it")
    }

    /// Logs the user of `session` in again, unless somebody else has done so meanwhile.
    private func loggedInAgain(_ provider: Provider, _ session: SessionRecord) throws(SDKError) -> SessionRecord {
        try logins.enter(until: limits(loginMilliseconds).deadline)
        defer { logins.leave() }
        if try store.content().session?.id == session.id { try logIn(provider, session.userID) }
        guard let new = try store.content().session, !new.isRevoked else { throw Self.noCredentials }
        return new
    }

    /// Renews the session, or waits for the thread or process that does.
    private func renewed(_ need: Need, _ limits: CallLimits) throws(SDKError) -> SessionRecord {
        let asked = monotonicNanoseconds()
        try renewals.enter(until: limits.deadline)
        defer { renewals.leave() }
        let id = try store.content().session?.id
        if let failure = lastFailure.withLock({ $0 }), failure.answers(need, id, asked: asked) { throw failure.error }
        do throws(SDKError) {
            let session = try store.alone(within: limits) { () throws(SDKError) in
                try renewedAlone(need, limits)
            }
            guard session.isValid(for: need.minTTL, now: try parts.now()) else { throw tooShort(session, need) }
            return session
        } catch {
            // Whoever waits may go on where this caller was cancelled.
            if error.status != .canceled {
                let failure = FailedRenewal(moment: monotonicNanoseconds(), error: error, need: need, session: id)
                lastFailure.withLock { $0 = failure }
            }
            throw error
        }
    }

    private func tooShort(_ session: SessionRecord, _ need: Need) -> SDKError {
        SDKError(.largeMinTTL, "a new access token is valid for less than the \(need.minTTL) seconds that are wanted")
    }

    /// Renews the session unless another process has done so. No other process renews it meanwhile.
    private func renewedAlone(_ need: Need, _ limits: CallLimits) throws(SDKError) -> SessionRecord {
        guard let session = try store.content().session else { throw Self.noCredentials }
        guard !session.isRevoked else { throw Self.loginRequired }
        if need.isMet(by: session, now: try parts.now()) { return session }
        guard let token = session.refreshToken else {
            throw SDKError(.noRefreshToken, "the access token cannot be renewed: there is no refresh token")
        }
        let provider = try provider(session.provider)
        let caller = caller(limits)
        let received: ReceivedTokens
        do throws(SDKError) {
            received = try refresh(token, need.scope, provider, caller)
        } catch { throw try judged(error, session, provider, limits) }
        // The old refresh token is spent now. The new one is stored before anything else can fail.
        try change(session, limits, unless: received.answer.refresh_token) { session in
            session.refreshToken = received.answer.refresh_token ?? session.refreshToken
        }
        return try adopt(received, session, provider, need.scope, caller)
    }

    static var loginRequired: SDKError {
        SDKError(.loginRequired, "the provider has ended the session: a login is needed")
    }

    private func refresh(
        _ token: SecretText, _ scope: String?, _ provider: Provider, _ caller: Caller
    ) throws(SDKError) -> ReceivedTokens {
        var form = Form()
        form.add("grant_type", "refresh_token")
        form.add("refresh_token", token)
        if let scope { form.add("scope", scope) }
        return try tokens(.renewal, provider, form, caller)
    }

    /// Verifies and stores what a renewal has brought.
    private func adopt(
        _ received: ReceivedTokens, _ former: SessionRecord, _ provider: Provider, _ scope: String?,
        _ caller: Caller
    ) throws(SDKError) -> SessionRecord {
        let answer = received.answer
        if let token = answer.id_token, provider.issuer != nil {
            _ = try verify(token, received, provider, nonce: nil, subject: former.profile.sub, caller)
        }
        return try change(former, caller.limits, unless: answer.refresh_token) { session in
            session.accessToken = answer.access_token
            session.idToken = answer.id_token ?? session.idToken
            session.tokenType = answer.token_type ?? session.tokenType
            session.scope = answer.scope ?? scope ?? session.scope
            session.expiry = received.expiry
        }
    }

    /// Changes the stored session. If it is no longer `former`, because somebody has logged out meanwhile, the new
    /// token `token` is to be revoked, and the call throws.
    @discardableResult
    private func change(
        _ former: SessionRecord, _ limits: CallLimits, unless token: SecretText?,
        _ change: (inout SessionRecord) -> Void
    ) throws(SDKError) -> SessionRecord {
        let changed: SessionRecord? = try store.update(within: limits) { content in
            guard var session = content.session, session.id == former.id else {
                content.revokeLater(token, of: former.provider)
                return nil
            }
            change(&session)
            content.session = session
            return session
        }
        guard let changed else { throw Self.noCredentials }
        return changed
    }

    /// What a failed renewal means. Only a refusal of the refresh token ends the session; a failure of the network or
    /// the provider, and a mistake in the configuration, do not.
    private func judged(
        _ error: SDKError, _ session: SessionRecord, _ provider: Provider, _ limits: CallLimits
    ) throws(SDKError) -> SDKError {
        guard error.status == .httpRequestError else { return error }
        guard error.server.code == "invalid_grant" else {
            return SDKError(.renewFailed, error.text, httpStatus: error.httpStatus, server: error.server)
        }
        try change(session, limits, unless: nil) { session in
            session.isRevoked = true
            session.accessToken = ""
            session.refreshToken = nil
            session.idToken = nil
        }
        tell(.revoked, provider.name)
        return Self.loginRequired
    }
}

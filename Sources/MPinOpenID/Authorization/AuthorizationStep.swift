package import MPinStore

/// What must happen next in the browser during a login for a client.
package enum AuthorizationStep: Sendable, Equatable {
    /// The user enters a PIN on the phone.
    case login
    /// The person at the browser confirms that this user's phone is theirs. It is asked if the phone found the browser
    /// by an access number, which somebody else may have typed.
    case confirmation(UserLogin)
    /// The user may not use the client. Somebody else can log in instead.
    case noAccess(UserLogin)
    /// The user confirms this account, or chooses another one.
    case account(UserLogin)
    /// The user allows or denies the client what it asks for.
    case consent(UserLogin)
    /// The browser goes back to the client with a code.
    case answer(UserLogin)
    /// The browser goes back to the client with an error.
    case refusal(AuthorizationFault)
}

extension AuthorizationRequest {
    /// Returns the next step of a login that has come as far as `progress` says. `isExpected` returns whether a user is
    /// the one that the request means. `isAdmitted` says whether the user of `progress` may use the client, and
    /// `isAllowed` whether the client may have what it asks for without a consent page. `silentSeconds`: the most seconds
    /// since the PIN for an answer without a page (`prompt=none`); nil if there is no limit.
    package func step(
        _ progress: LoginProgress, isExpected: (UserLogin) -> Bool, isAdmitted: Bool, isAllowed: Bool,
        silentSeconds: Int? = nil, at now: Moment
    ) -> AuthorizationStep {
        guard let login = progress.login, progress.isFresh || isNewEnough(login, silentSeconds, at: now) else {
            return asking(.login, or: AuthorizationFault(.loginRequired, "nobody is logged in, or not recently"))
        }
        if progress.isByNumber, !progress.isConfirmed { return .confirmation(login) }
        guard isExpected(login) else {
            let fault = AuthorizationFault(.loginRequired, "somebody else is logged in")
            return progress.isFresh ? .refusal(fault) : asking(.login, or: fault)
        }
        guard isAdmitted else { return asking(.noAccess(login), or: .noAccess) }
        if prompts.contains(.selectAccount), !progress.isFresh, !progress.isConfirmed { return .account(login) }
        guard progress.isConsented || isAllowed && !prompts.contains(.consent) else {
            return asking(.consent(login), or: AuthorizationFault(.consentRequired, "the user has not consented"))
        }
        return .answer(login)
    }

    private func isNewEnough(_ login: UserLogin, _ silentSeconds: Int?, at now: Moment) -> Bool {
        guard !prompts.contains(.login) else { return false }
        if prompts.contains(.none), let silentSeconds, login.time.adding(seconds: silentSeconds) < now { return false }
        guard let maxAge else { return true }
        // max_age=0 always requires a new PIN, even if the last one was entered only a moment ago.
        return maxAge > 0 && now <= login.time.adding(seconds: maxAge)
    }

    /// Returns `step`, which needs a page. With `prompt=none` the client wants no page, so it returns the refusal with
    /// `fault` instead.
    private func asking(_ step: AuthorizationStep, or fault: AuthorizationFault) -> AuthorizationStep {
        prompts.contains(.none) ? .refusal(fault) : step
    }
}

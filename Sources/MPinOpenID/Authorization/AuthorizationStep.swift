package import MPinStore

/// What a browser must do next for its login to go on.
package enum AuthorizationStep: Sendable, Equatable {
    /// Enter a PIN.
    case login
    /// Say whether it is this user, whose phone has typed the number of the page.
    case confirmation(UserLogin)
    /// Say which user it is.
    case account(UserLogin)
    /// Say what the client may have.
    case consent(UserLogin)
    /// Go back to the client.
    case answer(UserLogin)
    /// Go back with a fault.
    case refusal(AuthorizationFault)
}

extension AuthorizationRequest {
    /// The next step of a login that has come so far. `isExpected`: whether a user is the one that the request means;
    /// `isAllowed`: whether the client may have what it asks for without a question.
    package func step(
        _ progress: LoginProgress, isExpected: (UserLogin) -> Bool, isAllowed: Bool, at now: Moment
    ) -> AuthorizationStep {
        guard let login = progress.login, progress.isFresh || isNewEnough(login, at: now) else {
            return asking(.login, or: AuthorizationFault(.loginRequired, "nobody is logged in, or not recently"))
        }
        if progress.isByNumber, !progress.isConfirmed { return .confirmation(login) }
        guard isExpected(login) else {
            let fault = AuthorizationFault(.loginRequired, "somebody else is logged in")
            return progress.isFresh ? .refusal(fault) : asking(.login, or: fault)
        }
        if prompts.contains(.selectAccount), !progress.isFresh, !progress.isConfirmed { return .account(login) }
        guard progress.isConsented || isAllowed && !prompts.contains(.consent) else {
            return asking(.consent(login), or: AuthorizationFault(.consentRequired, "the user has not consented"))
        }
        return .answer(login)
    }

    private func isNewEnough(_ login: UserLogin, at now: Moment) -> Bool {
        guard !prompts.contains(.login) else { return false }
        guard let maxAge else { return true }
        // A maximum of 0 stands for a new PIN, however fast the browser comes back.
        return maxAge > 0 && now <= login.time.adding(seconds: maxAge)
    }

    /// Without a page where the client wants none.
    private func asking(_ step: AuthorizationStep, or fault: AuthorizationFault) -> AuthorizationStep {
        prompts.contains(.none) ? .refusal(fault) : step
    }
}

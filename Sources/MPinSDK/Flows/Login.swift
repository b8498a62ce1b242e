import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// Logins on this device, also those for a one-time password or a registration code. PINs and factors are passed as
/// ASCII digits.
extension SDK {
    /// Starts a login: gets today's time permit if the backend uses time permits. State: REGISTERED or BLOCKED,
    /// unchanged. A blocked user may log in too, because the operator may have unblocked the identity, which only the
    /// server knows.
    package func startAuthentication(_ user: User) throws(SDKError) {
        try perform { core, caller throws(SDKError) in try core.startLogin(user, caller) }
    }

    /// Proves PIN and token to the server. State afterwards: REGISTERED, or BLOCKED if the PIN was wrong and no attempt
    /// is left. Returns the answer of the application, a JSON text.
    package func finishAuthentication(_ user: User, pin: Span<UInt8>) throws(SDKError) -> String {
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            try core.logIn(user, pin, .plain, caller).text
        }
    }

    /// Starts a login for a one-time password, as ``startAuthentication(_:)`` does.
    package func startAuthenticationOTP(_ user: User) throws(SDKError) { try startAuthentication(user) }

    /// Logs in and gets a one-time password.
    package func finishAuthenticationOTP(_ user: User, pin: Span<UInt8>) throws(SDKError) -> OTP {
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            try core.logIn(user, pin, .otp, caller).otp
        }
    }

    /// Starts a login for a registration code, as ``startAuthentication(_:)`` does. Throws if the server gives no such
    /// codes.
    package func startAuthenticationRegCode(_ user: User) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            try core.checkRegistrationCodes(user)
            try core.startLogin(user, caller)
        }
    }

    /// Logs in and gets a code that registers another device of the same user. Some servers give no code to an identity
    /// that was registered with such a code itself.
    package func finishAuthenticationRegCode(_ user: User, pin: Span<UInt8>) throws(SDKError) -> OTP {
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            try core.checkRegistrationCodes(user)
            do throws(SDKError) {
                return try core.logIn(user, pin, .registrationCode, caller).otp
            } catch {
                guard error.server.code == "LIMITED_QUICKCODE_GENERATION" else { throw error }
                throw error.with(.operationNotAllowed)
            }
        }
    }

    /// Ends the session that the last login began. ``User/canLogout`` tells whether there is such a session. After any
    /// answer of the server the session counts as ended, so a second call throws.
    package func logout(_ user: User) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            try core.check(user, allows: .loggedOut)
            guard let logout = user.logout else { throw SDKError(.flowError, "there is no session to end") }
            do throws(SDKError) {
                try core.wire(of: user).logOut(logout, caller)
            } catch {
                if error.httpStatus != nil { user.update { $0.logout = nil } }
                throw error
            }
            user.update { $0.logout = nil }
        }
    }

    /// Adds a factor, 4 to 6 digits, which counts together with the PIN in the user's next call that takes a PIN.
    package func addFactor(_ user: User, factor: Span<UInt8>) throws(SDKError) {
        let factor = SecretBytes(copying: factor)
        try perform { _, _ throws(SDKError) in
            guard factor.count > 0 else { throw SDKError(.pinInvalid, "the factor is empty") }
            try PINDigits.check(factor, length: nil)
            guard user.factors.count < PINDigits.maxFactors else {
                throw SDKError(.flowError, "\(PINDigits.maxFactors) factors are there")
            }
            user.update { $0.factors.append(factor) }
        }
    }
}

extension Core {
    func startLogin(_ user: User, _ caller: Caller) throws(SDKError) {
        try check(user, allows: .authenticationStarted)
        guard user.record.token != nil else {
            throw SDKError(.flowError, "not in state \(user.state.name) without a token: register again")
        }
        user.update { content in
            content.login = nil
            content.provenPIN = nil
        }
        let login = try freshLogin(user, caller)
        user.update { $0.login = login }
    }

    /// Returns the data for a new login: today's time permit, which is requested, or no permit if the backend uses
    /// none.
    func freshLogin(_ user: User, _ caller: Caller) throws(SDKError) -> User.Login {
        let wire = try wire(of: user)
        return wire.usesPermits ? try timePermit(user, wire, caller) : User.Login()
    }

    /// Logs in. As in Milagro's client cores, the login after a successful one needs no ``SDK/startAuthentication(_:)``
    /// before it. After a wrong PIN the next attempt uses the same time permit.
    func logIn(
        _ user: User, _ pin: SecretBytes, _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        let factors = user.takeFactors()
        try check(user, allows: .authenticationFinished)
        if let accessCode = form.accessCode { try checkAccessNumber(accessCode) }
        return try logIn(user, pin, factors, startedLogin(user, caller), form, caller)
    }

    /// Returns the started login. If there is none, starts one if the user has logged in before or the backend uses no
    /// time permits. Throws for any other user and for a blocked user: the program must call
    /// ``SDK/startAuthentication(_:)`` first.
    private func startedLogin(_ user: User, _ caller: Caller) throws(SDKError) -> User.Login {
        if let login = user.login { return login }
        let usesPermits = try wire(of: user).usesPermits
        guard user.hasLoggedIn || !usesPermits, user.state != .blocked else {
            throw SDKError(.flowError, "the login has not been started: start_authentication comes first")
        }
        let login = try freshLogin(user, caller)
        user.update { $0.login = login }
        return login
    }

    /// Logs in with the login token, and renews the token if the server asks for it.
    func logIn(
        _ user: User, _ pin: SecretBytes, _ factors: [SecretBytes], _ login: User.Login, _ form: LoginForm,
        _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        user.update { $0.provenPIN = nil }
        let credential = try Credential(user.record)
        var number = try PINNumber(pin, factors, credential.mapping, length: user.record.pinLength)
        var answer: LoginAnswer
        do throws(SDKError) {
            let proof = try Proof(credential, number, login, random: random)
            answer = try wire(of: user).logIn(proof, credential, form, caller)
        } catch { throw judged(user, login, error) }
        unblock(user)
        trustPermit(of: login.date, user)
        if let renewal = answer.renewal {
            number = try PINNumber(pin, factors, Self.renewedMapping, length: user.record.pinLength)
            answer = try logInRenewed(user, credential, number, renewal, form, caller)
        }
        // The hash is made outside of `update`, because the program's own random generator may read the user, which
        // would wait for the update.
        let provenPIN = ProvenPIN(number, random: random)
        user.update { content in
            content.login = nil
            content.hasLoggedIn = true
            content.authData = answer.text
            content.logout = answer.logout
            content.provenPIN = provenPIN
        }
        return answer
    }

    /// Records what the server said about a wrong PIN, and returns the error for the program. An error other than a
    /// wrong PIN changes nothing.
    private func judged(_ user: User, _ login: User.Login, _ error: SDKError) -> SDKError {
        guard error.status == .incorrectPIN else { return error }
        if error.isLastAttempt { return block(user, error, permitDate: login.date) }
        unblock(user)
        doubtPermit(of: login.date, user)
        return error
    }

    /// After a wrong PIN, notes that the time permit of the day `date` may be wrong, so that the next
    /// ``SDK/startAuthentication(_:)`` fetches the permit again. With a wrong permit every PIN counts as wrong.
    private func doubtPermit(of date: Int32, _ user: User) {
        guard date > 0, user.record.permit != nil || user.record.doubtedPermitDate != date else { return }
        change(user) { $0.forgetPermit(of: date) }
    }

    /// Removes the note that the time permit of the day `date` may be wrong, because a login with this permit has
    /// succeeded.
    private func trustPermit(of date: Int32, _ user: User) {
        guard date > 0, user.record.doubtedPermitDate == date else { return }
        change(user) { $0.doubtedPermitDate = nil }
    }

    /// Blocks the user after the last attempt, and returns the error for the program. If the block cannot be stored,
    /// the user is still blocked in memory.
    func block(_ user: User, _ verdict: SDKError, permitDate: Int32) -> SDKError {
        let failure = change(user) { record in
            record.block()
            record.forgetPermit(of: permitDate)
        }
        user.update { $0.login = nil }
        return failure.map { verdict.with(adding: $0.text) } ?? verdict
    }

    /// Unblocks the user in memory and in the store. The server has told whether a PIN is right or wrong, so the
    /// identity is no longer blocked at the server. A failure of the store is ignored.
    private func unblock(_ user: User) {
        guard user.state == .blocked else { return }
        change(user) { $0.unblock() }
    }

    /// Changes the user's record in the store. If the store fails, changes it in memory only and returns the error.
    @discardableResult
    func change(_ user: User, _ change: (inout UserRecord) -> Void) -> SDKError? {
        let mpinID = user.mpinID
        do throws(SDKError) {
            try save(user) { record throws(SDKError) in
                guard var changed = record, changed.mpinID == mpinID else { return }
                change(&changed)
                record = changed
            }
            return nil
        } catch {
            user.update { content in
                change(&content.record)
                content.lifecycle = content.record.lifecycle ?? content.lifecycle
            }
            return error
        }
    }

    /// Throws unless the server says that it gives registration codes. Another server would answer with a one-time
    /// password, which registers no device.
    fileprivate func checkRegistrationCodes(_ user: User) throws(SDKError) {
        guard try wire(of: user).givesRegistrationCodes else {
            throw SDKError(.flowError, "the server gives no codes that register another device")
        }
    }
}

extension User {
    /// Returns the factors and forgets them, so that they are used in one operation only, even if the operation fails.
    func takeFactors() -> [SecretBytes] {
        let factors = factors
        forgetFactors()
        return factors
    }

    /// Forgets the factors after a call that failed before it used them.
    package func forgetFactors() { update { $0.factors = [] } }
}

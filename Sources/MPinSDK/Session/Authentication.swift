import MPinCrypto
import MPinSecrets
import MPinWire

extension Session {
    /// A blocked user may try as well: the operator may have unblocked the identity, which the server alone knows.
    func startAuthentication(_ user: User, _ caller: Caller) throws(SDKError) {
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

    /// Today's time permit, if the backend uses them.
    func freshLogin(_ user: User, _ caller: Caller) throws(SDKError) -> User.Login {
        try currentBackend().usesPermits ? timePermit(user, caller) : User.Login()
    }

    /// A login that has been started. After a verdict the next one starts by itself: old programs start once, and neither
    /// after a success nor after a wrong PIN anew.
    func logIn(
        _ user: User, pin: SecretBytes, _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        let factors = user.takeFactors()
        try check(user, allows: .authenticationFinished)
        if let accessCode = form.accessCode { try checkAccessNumber(accessCode) }
        return try logIn(user, pin, factors, startedLogin(user, caller), form, caller)
    }

    /// Without time permits there is nothing that a start would fetch. Who is blocked begins on purpose.
    private func startedLogin(_ user: User, _ caller: Caller) throws(SDKError) -> User.Login {
        if let login = user.login { return login }
        let usesPermits = try currentBackend().usesPermits
        guard user.beginsAnew || !usesPermits, user.state != .blocked else {
            throw SDKError(.flowError, "the login has not been started: start_authentication comes first")
        }
        let login = try freshLogin(user, caller)
        user.update { $0.login = login }
        return login
    }

    /// With the login token.
    func logIn(
        _ user: User, _ pin: SecretBytes, _ factors: [SecretBytes], _ login: User.Login, _ form: LoginForm,
        _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        user.update { $0.provenPIN = nil }
        let credential = try Credential(user.record)
        var number = try PINNumber(pin, factors, credential.mapping, length: user.record.pinLength)
        var answer = try proveOrBlock(user, credential, number, login, form, caller)
        unblock(user)
        if let renewal = answer.renewal {
            number = try PINNumber(pin, factors, Self.renewedMapping, length: user.record.pinLength)
            answer = try logInRenewed(user, credential, number, renewal, form, caller)
        }
        // The generator may be the program's, which may ask for the user.
        let provenPIN = ProvenPIN(number, random: random)
        user.update { content in
            content.login = nil
            content.beginsAnew = true
            content.authData = answer.text
            content.logout = answer.logout
            content.provenPIN = provenPIN
        }
        return answer
    }

    /// A login that has been started stays so, although the token changes: the app may try again to end it.
    private func logInRenewed(
        _ user: User, _ credential: Credential, _ number: PINNumber, _ renewal: RenewalAnswer, _ form: LoginForm,
        _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        let (former, started) = (user.record, user.login)
        try renew(user, credential, number, renewal, caller)
        let login = try freshLogin(user, caller)
        if started != nil { user.update { $0.login = login } }
        return try proveRenewed(user, former, Credential(user.record), number, login, form, caller)
    }

    private func proveOrBlock(
        _ user: User, _ credential: Credential, _ number: PINNumber, _ login: User.Login, _ form: LoginForm,
        _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        do throws(SDKError) {
            return try prove(credential, number, login, form, caller)
        } catch {
            guard error.status == .incorrectPIN else { throw error }
            endLogin(user)
            if error.isLastAttempt { throw block(user, error, permitDate: login.date) }
            unblock(user)
            if login.date > 0 { change(user) { $0.forgetPermit(of: login.date) } }
            throw error
        }
    }

    /// Its permit may be what was wrong, so that a further try gets another.
    private func endLogin(_ user: User) {
        user.update { content in
            content.beginsAnew = content.beginsAnew || content.login != nil
            content.login = nil
        }
    }

    /// The PIN was judged: the server blocks the identity no more. A verdict is no worse for a full disk.
    private func unblock(_ user: User) {
        guard user.state == .blocked else { return }
        change(user) { $0.unblock() }
    }

    /// Changes the record in the store, or at least in memory.
    @discardableResult
    private func change(_ user: User, _ change: (inout UserRecord) -> Void) -> SDKError? {
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

    /// Both passes, and the verdict on them.
    func prove(
        _ credential: Credential, _ number: PINNumber, _ login: User.Login, _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        let url = try currentBackend().authenticateURL(form)
        let proof = try Proof(credential, number, login, random: random)
        let pass2 = try passes(proof, credential, form, caller)
        let request = AuthenticateRequest(
            mpinResponse: pass2, authzRequest: form.wantsCode ? true : nil, scope: form.authenticateScope)
        let headers = form.authorization.map { [("Authorization", $0)] } ?? []
        let body = try caller.send(.authenticate, .post, url, request, headers)
        // The application may have nothing to say.
        if body.count == 0 { return LoginAnswer(text: "", content: .null, pass2: pass2) }
        var renewal: RenewalAnswer = try caller.decode(.authenticate, body)
        if form.wantsLeave { renewal.dvsRegister = nil }
        // It may hold a share, which becomes no text.
        if renewal.renewSecret != nil || renewal.dvsRegister != nil {
            return LoginAnswer(text: "", content: .null, pass2: pass2, renewal: renewal)
        }
        return LoginAnswer(text: body.plainText, content: try caller.decode(.authenticate, body), pass2: pass2)
    }

    /// Pass 1 and pass 2: the answer of the second one, right PIN or wrong.
    private func passes(
        _ proof: consuming Proof, _ credential: Credential, _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> JSONValue {
        let server = try currentBackend().mpinAuthServerURL
        let pass1 = Pass1Request(
            mpin_id: credential.mpinID, U: Hex.encode(proof.u), UT: Hex.encode(proof.ut),
            scope: form.scope.map { [$0] }, publicKey: credential.publicKey, dtas: credential.dtas)
        let response: Pass1Response = try caller.decode(
            .pass1, try caller.send(.pass1, .post, "\(server)/pass1", pass1))
        guard let y = Hex.decode(response.y), y.count == MPinSize.scalar else {
            throw SDKError(.responseParseError, "pass 1: y is not \(MPinSize.scalar) bytes in hex")
        }
        let pass2 = Pass2Request(
            mpin_id: credential.mpinID, V: Hex.encode(try proof.answer(y)), WID: form.accessCode ?? "0",
            OTP: form.wantsOTP)
        let answer: JSONValue = try caller.decode(.pass2, try caller.send(.pass2, .post, "\(server)/pass2", pass2))
        guard case .object = answer else { throw SDKError(.responseParseError, "pass 2: not a JSON object") }
        return answer
    }

    /// The last attempt is used up. The verdict stands even if the disk is full.
    func block(_ user: User, _ verdict: SDKError, permitDate: Int32) -> SDKError {
        let failure = change(user) { record in
            record.block()
            record.forgetPermit(of: permitDate)
        }
        user.update { $0.login = nil }
        return failure.map { verdict.with(adding: $0.text) } ?? verdict
    }
}

extension SDKError {
    /// The server's verdict that there will be no further attempt.
    var isLastAttempt: Bool { status == .incorrectPIN && httpStatus == 410 }
}

import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// New secrets after a change of the master secret (TRUST wire sections 4.11 and 7.1): the server asks for it once the
/// PIN is proved, and lets the user in when the new secret is proved, too. The PIN stays.
extension Core {
    /// Tokens of old clients get the mapping that keeps all digits.
    static var renewedMapping: PINMapping { .decimal6 }

    /// Replaces the token of `credential` by one for the same PIN, whose number under ``renewedMapping`` is `number`.
    func renew(
        _ user: User, _ credential: Credential, _ number: PINNumber, _ renewal: RenewalAnswer, _ caller: Caller
    ) throws(SDKError) {
        log?(.info, "the server asks for a new secret")
        if let grant = renewal.dvsRegister {
            try renewKeyPair(user, credential, number, grant, caller)
        } else if let share = renewal.renewSecret {
            try renewShares(user, credential, number, share, caller)
        }
    }

    /// With a new key pair, which is the user's for logins and signatures.
    private func renewKeyPair(
        _ user: User, _ credential: Credential, _ number: PINNumber, _ grant: SigningLeave.Grant, _ caller: Caller
    ) throws(SDKError) {
        if let signing = user.record.signing, signing.mpinID != credential.mpinID {
            throw SDKError(.clientSecretExpired, "the user signs with a key pair of its own: register again")
        }
        let made = try registerKey(grant, user, caller)
        let signing = try made.signing(number, Self.renewedMapping)
        try replace(user, credential, by: made.mpinID, signing.token) { $0.signing = signing }
    }

    /// Of an identity without a key pair.
    private func renewShares(
        _ user: User, _ credential: Credential, _ number: PINNumber, _ share: RenewalAnswer.Share, _ caller: Caller
    ) throws(SDKError) {
        guard credential.publicKey == nil else {
            throw SDKError(.responseParseError, "authenticate: a renewal without a key pair")
        }
        let wire = try wire(of: user)
        let mpinID = try MPinID.check(share.mpinId ?? credential.mpinID, userID: user.id)
        let offer = try wire.renewedSecret(share)
        let sum = try assemble(offer.redeemed(over: wire, caller), "client secret shares")
        let token = SecretHex(try makeToken(id: MPinID.bytes(mpinID), number, clientSecret: sum))
        try replace(user, credential, by: mpinID, token) { _ in }
    }

    /// In the place of the token that has been proved: another process may have been here. `more` is changed with it.
    private func replace(
        _ user: User, _ former: Credential, by mpinID: String, _ token: SecretHex, _ more: (inout UserRecord) -> Void
    ) throws(SDKError) {
        try save(user) { record throws(SDKError) in
            guard var changed = record, try Self.holds(changed, former) else {
                throw SDKError(.flowError, "the token has been changed meanwhile")
            }
            if changed.mpinID == former.mpinID {
                // The new M-Pin ID says itself how the user id was verified.
                if mpinID != changed.mpinID { changed.verificationType = nil }
                changed.mpinID = mpinID
                changed.token = token
                changed.mapping = Self.renewedMapping
                changed.permit = nil
            }
            more(&changed)
            record = changed
        }
    }

    /// A login that has been started stays so, although the token changes: the app may try again to end it.
    func logInRenewed(
        _ user: User, _ credential: Credential, _ number: PINNumber, _ renewal: RenewalAnswer, _ form: LoginForm,
        _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        let (former, started) = (user.record, user.login)
        try renew(user, credential, number, renewal, caller)
        let login = try freshLogin(user, caller)
        if started != nil { user.update { $0.login = login } }
        return try proveRenewed(user, former, Credential(user.record), number, login, form, caller)
    }

    /// Proves the new secret, in `credential`. `former` is what was stored before.
    func proveRenewed(
        _ user: User, _ former: UserRecord, _ credential: Credential, _ number: PINNumber, _ login: User.Login,
        _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        do throws(SDKError) {
            let proof = try Proof(credential, number, login, random: random)
            return try wire(of: user).logIn(proof, credential, form, caller).afterRenewal()
        } catch {
            guard error.status == .incorrectPIN else { throw error }
            throw takeBack(user, former, credential, error)
        }
    }

    /// The PIN was right a moment ago, so a wrong one now, at whatever attempt, means a secret that does not fit. If the
    /// former identity has no attempt left either, its next login shows it.
    private func takeBack(
        _ user: User, _ former: UserRecord, _ renewed: Credential, _ verdict: SDKError
    ) -> SDKError {
        let error = verdict.with(.responseParseError, adding: "the new secret does not fit")
        do throws(SDKError) {
            try save(user) { record throws(SDKError) in
                guard let stored = record, try Self.holds(stored, renewed) else { return }
                record?.takeBack(renewed.mpinID, from: former)
            }
            return error
        } catch let failure { return error.with(adding: failure.text) }
    }

    private static func holds(_ record: UserRecord, _ credential: Credential) throws(SDKError) -> Bool {
        if record.mpinID == credential.mpinID { return record.token?.secret == credential.token }
        return record.signing?.mpinID == credential.mpinID && record.signing?.token.secret == credential.token
    }
}

extension LoginAnswer {
    /// A server that is never content must not be asked for ever.
    func afterRenewal() throws(SDKError) -> LoginAnswer {
        guard renewal == nil else {
            throw SDKError(.responseParseError, "authenticate: a new secret is to be renewed again")
        }
        return self
    }
}

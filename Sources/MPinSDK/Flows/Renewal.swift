import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// Renewal of a client secret after a change of the master secret (TRUST wire sections 4.11 and 7.1). The server asks
/// for a renewal after a login with the right PIN, and accepts the user after a login with the new secret. The PIN
/// stays the same.
extension Core {
    /// How the PIN is converted to a number for a renewed token. Tokens of old clients may have had another mapping,
    /// which does not keep all digits.
    static var renewedMapping: PINMapping { .decimal6 }

    /// Replaces the token of `credential` by a new token for the same PIN. `number` is the PIN's number under
    /// ``renewedMapping``.
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

    /// Makes a new key pair, with which the user logs in and signs from now on.
    private func renewKeyPair(
        _ user: User, _ credential: Credential, _ number: PINNumber, _ grant: SigningPermission.Grant, _ caller: Caller
    ) throws(SDKError) {
        if let signing = user.record.signing, signing.mpinID != credential.mpinID {
            throw SDKError(.clientSecretExpired, "the user signs with a key pair of its own: register again")
        }
        let made = try registerKey(grant, user, caller)
        let signing = try made.signing(number, Self.renewedMapping)
        try replace(user, credential, by: made.mpinID, signing.token) { $0.signing = signing }
    }

    /// Fetches the shares of the new secret and stores the new token, for an identity without a key pair.
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

    /// Stores the new token and `mpinID` if the stored token is still that of `former`. Throws if another process has
    /// replaced it. `more` makes further changes to the record in the same step.
    private func replace(
        _ user: User, _ former: Credential, by mpinID: String, _ token: SecretHex, _ more: (inout UserRecord) -> Void
    ) throws(SDKError) {
        try save(user) { record throws(SDKError) in
            guard var changed = record, try Self.holds(changed, former) else {
                throw SDKError(.flowError, "the token has been changed meanwhile")
            }
            if changed.mpinID == former.mpinID {
                // The new M-Pin ID contains its own verification type.
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

    /// Renews the token and logs in with the new token. The started login stays, so that the app can try again after a
    /// failure.
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

    /// Logs in with `credential`, which contains the new secret. `former` is the record before the renewal.
    func proveRenewed(
        _ user: User, _ former: UserRecord, _ credential: Credential, _ number: PINNumber, _ login: User.Login,
        _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        do throws(SDKError) {
            let proof = try Proof(credential, number, login, random: random)
            return try wire(of: user).logIn(proof, credential, form, caller).afterRenewal()
        } catch {
            guard error.status == .incorrectPIN else { throw error }
            throw restoreSecrets(user, former, credential, error)
        }
    }

    /// Restores the secret from before the renewal. The PIN was right in the login before, so "wrong PIN" now means
    /// that the new secret is wrong. If the former identity is blocked as well, its next login shows this.
    func restoreSecrets(
        _ user: User, _ former: UserRecord, _ renewed: Credential, _ verdict: SDKError
    ) -> SDKError {
        let error = verdict.with(.responseParseError, adding: "the new secret does not fit")
        do throws(SDKError) {
            try save(user) { record throws(SDKError) in
                guard let stored = record, try Self.holds(stored, renewed) else { return }
                record?.restoreSecrets(renewed.mpinID, from: former)
            }
            return error
        } catch let failure { return error.with(adding: failure.text) }
    }

    static func holds(_ record: UserRecord, _ credential: Credential) throws(SDKError) -> Bool {
        if record.mpinID == credential.mpinID { return record.token?.secret == credential.token }
        return record.signing?.mpinID == credential.mpinID && record.signing?.token.secret == credential.token
    }
}

extension LoginAnswer {
    /// Throws if the server asks for another renewal directly after one, so that renewals cannot repeat without end.
    func afterRenewal() throws(SDKError) -> LoginAnswer {
        guard renewal == nil else {
            throw SDKError(.responseParseError, "authenticate: a new secret is to be renewed again")
        }
        return self
    }
}

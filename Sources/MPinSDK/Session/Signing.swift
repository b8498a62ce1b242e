import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

extension Session {
    /// The server checks the PIN first, so that it counts wrong ones; the signature is then made here.
    func sign(
        _ user: User, hash: [UInt8], pin: SecretBytes, epochTime: Int64, authzToken: String?, _ caller: Caller
    ) throws(SDKError) -> Signature {
        let factors = user.takeFactors()
        try check(user, allows: .signed)
        guard var signing = user.record.signing else { throw SDKError(.flowError, "the user cannot sign") }
        guard (1...256).contains(hash.count) else { throw SDKError(.invalidArgument, "a hash has 1 to 256 bytes") }
        guard HeaderField.isValue(authzToken ?? "") else {
            throw SDKError(.invalidArgument, "a control character in the authorization")
        }
        let timestamp = try epochTime == 0 ? now() / 1000 : epochTime
        guard timestamp > 0, timestamp <= UInt32.max else {
            throw SDKError(.invalidArgument, "the time is not in seconds since 1970")
        }
        let form = LoginForm.signing(authorization: authzToken)
        var credential = try Credential(signing)
        var number = try PINNumber(pin, factors, credential.mapping, length: user.record.pinLength)
        let answer = try proveOrEndSigning(user, signing, credential, number, form, caller)
        if let renewal = answer.renewal {
            number = try PINNumber(pin, factors, Self.renewedMapping, length: user.record.pinLength)
            let former = user.record
            try renew(user, credential, number, renewal, caller)
            guard let renewed = user.record.signing else { throw SDKError(.flowError, "the user cannot sign") }
            credential = try Credential(renewed)
            signing = renewed
            _ = try proveRenewed(user, former, credential, number, User.Login(), form, caller)
        }
        return try signature(signing, credential, number, hash, timestamp)
    }

    private func proveOrEndSigning(
        _ user: User, _ signing: UserRecord.Signing, _ credential: Credential, _ number: PINNumber,
        _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        do throws(SDKError) {
            return try prove(credential, number, User.Login(), form, caller)
        } catch {
            guard error.isLastAttempt else { throw error }
            throw endSigning(user, signing, error)
        }
    }

    private func signature(
        _ signing: UserRecord.Signing, _ credential: Credential, _ number: PINNumber, _ hash: [UInt8],
        _ timestamp: Int64
    ) throws(SDKError) -> Signature {
        let x = try freshScalar(random)
        var u = [UInt8](repeating: 0, count: MPinSize.g1)
        var v = [UInt8](repeating: 0, count: MPinSize.g1)
        try cryptoStep("signature") { () throws(MPinError) in
            var uOctets = u.mutableSpan
            var vOctets = v.mutableSpan
            var none = MutableSpan<UInt8>()
            try OnePass.prove(
                date: 0, id: credential.id.span, x: x.span, pinScalar: number.scalar.span, pinBits: number.bits,
                token: credential.token.span, permit: nil, time: timestamp, message: hash.span, u: &uOctets, ut: &none,
                v: &vOctets)
        }
        return Signature(
            timestamp: timestamp, u: u, v: v, publicKey: Hex.decode(signing.publicKey) ?? [], mpinID: signing.mpinID,
            dtas: signing.dtas)
    }

    /// The last attempt of the signing identity is used up. The login has attempts of its own, unless both are one.
    private func endSigning(_ user: User, _ signing: UserRecord.Signing, _ verdict: SDKError) -> SDKError {
        if signing.mpinID == user.mpinID { return block(user, verdict, permitDate: 0) }
        do throws(SDKError) {
            try save(user) { record throws(SDKError) in
                if record?.signing == signing { record?.signing = nil }
            }
            return verdict
        } catch {
            user.update { $0.record.signing = nil }
            return verdict.with(adding: error.text)
        }
    }
}

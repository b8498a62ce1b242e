import MPinCrypto
import MPinSecrets
import MPinWire

extension Session {
    /// A wrong old PIN ends the leave that the login gave: guessing it takes a login, which the server counts.
    func changePIN(_ user: User, old: SecretBytes, new: SecretBytes) throws(SDKError) {
        let factors = user.takeFactors()
        try check(user, allows: .pinChanged)
        guard let proven = user.provenPIN else { throw SDKError(.flowError, "no login just before") }
        let credential = try Credential(user.record)
        let length = user.record.pinLength
        let oldNumber = try PINNumber(old, factors, credential.mapping, length: length)
        // A token of an old client gets the mapping that keeps all digits.
        let mapping = PINMapping.decimal6
        let newNumber = try PINNumber(new, factors, mapping, length: length)
        user.update { $0.provenPIN = nil }
        guard proven.isOf(oldNumber) else { throw SDKError(.incorrectPIN, "the login was with another PIN") }
        let token = SecretBytes(count: MPinSize.g1)
        try cryptoStep("change of the PIN") { () throws(MPinError) in
            var octets = token.mutableSpan
            try Factor.changePIN(
                id: credential.id.span, old: oldNumber.scalar.span, oldBits: oldNumber.bits,
                new: newNumber.scalar.span, newBits: newNumber.bits, token: credential.token.span, into: &octets)
        }
        try replaceToken(of: user, credential.token, by: token, mapping)
    }

    /// Only in the place of the token that the new one was made from: another process may have been here.
    private func replaceToken(
        of user: User, _ former: SecretBytes, by token: SecretBytes, _ mapping: PINMapping
    ) throws(SDKError) {
        try save(user) { record throws(SDKError) in
            guard record?.token?.secret == former else {
                throw SDKError(.flowError, "the token has been changed meanwhile")
            }
            record?.setToken(SecretHex(token), mapping)
        }
    }
}

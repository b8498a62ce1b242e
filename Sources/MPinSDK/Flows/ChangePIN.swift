import MPinCrypto
import MPinSecrets
import MPinWire

extension SDK {
    /// Replaces the PIN without the server, directly after a login with the old PIN. Both PINs are passed as ASCII
    /// digits. State: REGISTERED, unchanged. If `old` is wrong, a new login is needed before the next call. So every
    /// guess of the old PIN costs a login, and the server counts the logins with wrong PINs.
    package func changePIN(_ user: User, old: Span<UInt8>, new: Span<UInt8>) throws(SDKError) {
        let new = SecretBytes(copying: new)
        try perform(pinOf: user, old) { core, _, old throws(SDKError) in
            let factors = user.takeFactors()
            try core.check(user, allows: .pinChanged)
            guard let proven = user.provenPIN else { throw SDKError(.flowError, "no login just before") }
            let credential = try Credential(user.record)
            let length = user.record.pinLength
            let oldNumber = try PINNumber(old, factors, credential.mapping, length: length)
            // The new token is made with the mapping that keeps all digits of a PIN. Old clients may have used another
            // mapping.
            let mapping = PINMapping.decimal6
            let newNumber = try PINNumber(new, factors, mapping, length: length)
            user.update { $0.provenPIN = nil }
            guard proven.isOf(oldNumber) else { throw SDKError(.incorrectPIN, "the login was with another PIN") }
            let token = try credential.token(from: oldNumber, to: newNumber)
            // Another process may have replaced the token meanwhile. Then nothing is saved, because `token` was made
            // from the replaced one.
            try core.save(user) { record throws(SDKError) in
                guard record?.token?.secret == credential.token else {
                    throw SDKError(.flowError, "the token has been changed meanwhile")
                }
                record?.setToken(SecretHex(token), mapping)
            }
        }
    }
}

extension Credential {
    /// Computes the token for another PIN, 65 bytes. `old` is the number of the PIN with which the token was made.
    fileprivate func token(from old: PINNumber, to new: PINNumber) throws(SDKError) -> SecretBytes {
        let result = SecretBytes(count: MPinSize.g1)
        try cryptoStep("change of the PIN") { () throws(MPinError) in
            var octets = result.mutableSpan
            try Factor.changePIN(
                id: id.span, old: old.scalar.span, oldBits: old.bits, new: new.scalar.span, newBits: new.bits,
                token: token.span, into: &octets)
        }
        return result
    }
}

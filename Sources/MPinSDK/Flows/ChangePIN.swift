import MPinCrypto
import MPinSecrets
import MPinWire

extension SDK {
    /// Replaces the PIN without the server, straight after a login with the old one; both are ASCII. REGISTERED,
    /// unchanged. A wrong old PIN ends the leave that the login gave: guessing it takes a login, which the server counts.
    package func changePIN(_ user: User, old: Span<UInt8>, new: Span<UInt8>) throws(SDKError) {
        let (old, new) = (SecretBytes(copying: old), SecretBytes(copying: new))
        try perform(pinOf: user) { core, _ throws(SDKError) in
            let factors = user.takeFactors()
            try core.check(user, allows: .pinChanged)
            guard let proven = user.provenPIN else { throw SDKError(.flowError, "no login just before") }
            let credential = try Credential(user.record)
            let length = user.record.pinLength
            let oldNumber = try PINNumber(old, factors, credential.mapping, length: length)
            // A token of an old client gets the mapping that keeps all digits.
            let mapping = PINMapping.decimal6
            let newNumber = try PINNumber(new, factors, mapping, length: length)
            user.update { $0.provenPIN = nil }
            guard proven.isOf(oldNumber) else { throw SDKError(.incorrectPIN, "the login was with another PIN") }
            let token = try credential.token(from: oldNumber, to: newNumber)
            // Only in the place of the token that the new one was made from: another process may have been here.
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
    /// The token for another PIN, 65 bytes.
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

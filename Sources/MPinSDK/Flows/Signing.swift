import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// Signatures for a designated verifier. PINs are passed as ASCII digits.
extension SDK {
    /// Signs a hash of 1 to 256 bytes with the signing PIN. The server checks the PIN first and counts wrong ones; then
    /// the signature is made on this device. `epochTime` is in seconds since 1970, below 2^32; 0 means now.
    /// `authzToken` is a permission from the application's server, which is sent in the header Authorization after pass
    /// 2.
    package func sign(
        _ user: User, hash: Span<UInt8>, pin: Span<UInt8>, epochTime: Int64 = 0, authzToken: String? = nil
    ) throws(SDKError) -> Signature {
        let hash = hash.withUnsafeBufferPointer { Array($0) }
        return try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            let factors = user.takeFactors()
            try core.check(user, allows: .signed)
            guard let signing = user.record.signing else { throw SDKError(.flowError, "the user cannot sign") }
            guard 1...256 ~= hash.count else { throw SDKError(.invalidArgument, "a hash has 1 to 256 bytes") }
            guard HeaderField.isValue(authzToken ?? "") else {
                throw SDKError(.invalidArgument, "a control character in the authorization")
            }
            let timestamp = try epochTime == 0 ? core.now() / 1000 : epochTime
            guard timestamp > 0, timestamp <= UInt32.max else {
                throw SDKError(.invalidArgument, "the time is not in seconds since 1970")
            }
            let proven = try core.proveSigning(
                user, signing, pin, factors, .signing(authorization: authzToken), caller)
            return try core.signature(proven.credential, proven.number, hash, timestamp)
        }
    }

    /// The SHA-256 hash of a document, 32 bytes.
    package static func hashDocument(_ document: Span<UInt8>) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: SHA256.size)
        var octets = hash.mutableSpan
        SHA256.hash(document, into: &octets)
        return hash
    }

    /// Whether `hash` is the SHA-256 hash of the document. Compares in constant time.
    package static func verifyDocument(_ document: Span<UInt8>, hash: Span<UInt8>) -> Bool {
        let found = hashDocument(document)
        return constantTimeEqual(found.span, hash)
    }
}

extension Core {
    /// Proves the signing PIN to the server, and renews the secret if the server asks for it. Returns the credential
    /// and the PIN's number to sign with.
    fileprivate func proveSigning(
        _ user: User, _ signing: UserRecord.Signing, _ pin: SecretBytes, _ factors: [SecretBytes], _ form: LoginForm,
        _ caller: Caller
    ) throws(SDKError) -> (credential: Credential, number: PINNumber) {
        let credential = try Credential(signing)
        let number = try PINNumber(pin, factors, credential.mapping, length: user.record.pinLength)
        let answer: LoginAnswer
        do throws(SDKError) {
            let proof = try Proof(credential, number, User.Login(), random: random)
            answer = try wire(of: user).logIn(proof, credential, form, caller)
        } catch { throw error.isLastAttempt ? endSigning(user, signing, error) : error }
        guard let renewal = answer.renewal else { return (credential, number) }
        let newNumber = try PINNumber(pin, factors, Self.renewedMapping, length: user.record.pinLength)
        let former = user.record
        try renew(user, credential, newNumber, renewal, caller)
        guard let renewed = user.record.signing else { throw SDKError(.flowError, "the user cannot sign") }
        let newCredential = try Credential(renewed)
        _ = try proveRenewed(user, former, newCredential, newNumber, User.Login(), form, caller)
        return (newCredential, newNumber)
    }

    func signature(
        _ credential: Credential, _ number: PINNumber, _ hash: [UInt8], _ timestamp: Int64
    ) throws(SDKError) -> Signature {
        let x = try freshScalar(random)
        var u = [UInt8](repeating: 0, count: MPinSize.g1)
        var v = [UInt8](repeating: 0, count: MPinSize.g1)
        try cryptoStep("signature") { () throws(MPinError) in
            var uOctets = u.mutableSpan
            var vOctets = v.mutableSpan
            var none = MutableSpan<UInt8>()
            try OnePass.prove(
                date: 0, id: credential.id.span, point: credential.point?.span, x: x.span,
                pinScalar: number.scalar.span, pinBits: number.bits, token: credential.token.span,
                permit: nil, time: timestamp, message: hash.span, u: &uOctets, ut: &none, v: &vOctets)
        }
        return Signature(
            timestamp: timestamp, u: u, v: v, publicKey: credential.publicKeyOctets, mpinID: credential.mpinID,
            dtas: credential.dtas ?? "")
    }

    /// Ends the use of a signing identity after the last wrong PIN that the server allows. Usually the signing identity
    /// is removed, and the login identity stays, because it has its own attempts. If both are the same identity, the
    /// user is blocked instead.
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

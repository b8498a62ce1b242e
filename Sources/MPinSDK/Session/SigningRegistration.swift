import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// Identities that sign (TRUST wire sections 1.4 and 7.4): with a key pair of their own, which no D-TA can use.
extension Session {
    /// Logs in, makes a key pair and fetches both shares of its client secret, so that the PIN is all that is missing.
    func startRegistrationDVS(_ user: User, pin: SecretBytes, _ caller: Caller) throws(SDKError) {
        let factors = user.takeFactors()
        try check(user, allows: .signingStarted)
        try checkNoKeyPair(user.record)
        user.update { $0.signingRegistration = nil }
        let login = try freshLogin(user, caller)
        let answer = try logIn(user, pin, factors, login, .signingRegistration, caller)
        let registration = try registerKey(grant(answer), user, caller)
        user.update { $0.signingRegistration = registration }
    }

    /// A key pair and the client secret for it.
    func registerKey(
        _ grant: SigningLeave.Grant, _ user: User, _ caller: Caller
    ) throws(SDKError) -> User.SigningRegistration {
        guard !grant.token.isEmpty else { throw SDKError(.responseParseError, "authenticate: an empty leave") }
        try checkCurve(grant.curve, .authenticate)
        let pair = try SigningKeyPair(random: random)
        let request = SigningRegisterRequest(
            publicKey: pair.publicKey, deviceName: user.record.deviceName, dvsRegisterToken: grant.token)
        let url = try currentBackend().signingRegisterURL
        let response: SigningRegisterResponse = try caller.decode(
            .signingRegister, try caller.send(.signingRegister, .post, url, request))
        try checkCurve(response.curve, .signingRegister)
        return User.SigningRegistration(
            mpinID: try MPinID.check(response.mpinId, userID: user.id), publicKey: pair.publicKey,
            dtas: try checkedDTAs(response.dtas), clientSecret: try pair.clientSecret(shares(response, caller)))
    }

    func finishRegistrationDVS(_ user: User, pin: SecretBytes) throws(SDKError) {
        let factors = user.takeFactors()
        try check(user, allows: .signingFinished)
        guard let registration = user.signingRegistration else {
            throw SDKError(.flowError, "the registration of a signing key has not been started")
        }
        let mapping = PINMapping.decimal6
        let number = try PINNumber(pin, factors, mapping, length: user.record.pinLength)
        let id = try MPinID.bytes(registration.mpinID, publicKey: registration.publicKey)
        let token = try makeToken(id: id, number, clientSecret: registration.clientSecret)
        let signing = UserRecord.Signing(
            mpinID: registration.mpinID, publicKey: registration.publicKey, dtas: registration.dtas,
            token: SecretHex(token), mapping: mapping)
        let mpinID = user.mpinID
        try save(user) { record throws(SDKError) in
            guard let known = record, known.mpinID == mpinID else {
                throw SDKError(.flowError, "the user was registered anew")
            }
            try checkNoKeyPair(known)
            record?.signing = signing
        }
        user.update { $0.signingRegistration = nil }
    }

    /// A second key pair would take the place of the one that the login needs.
    private func checkNoKeyPair(_ record: UserRecord) throws(SDKError) {
        guard record.signing == nil || record.signing?.mpinID != record.mpinID else {
            throw SDKError(.flowError, "the user signs with the key pair and the PIN of its logins")
        }
    }

    private func grant(_ answer: LoginAnswer) throws(SDKError) -> SigningLeave.Grant {
        let text = SecretBytes(copying: Array(answer.text.utf8).span)
        guard let grant = (try? JSON.decode(SigningLeave.self, from: text.span))?.dvsRegister else {
            throw SDKError(.responseParseError, "authenticate: no leave to register a signing key")
        }
        return grant
    }

    func checkCurve(_ name: String?, _ call: ServerCall) throws(SDKError) {
        guard name == nil || name == "BN254CX" else {
            throw SDKError(.cryptoError, "\(call.name): keys on another curve than BN254CX")
        }
    }

    /// Text that fits into the signatures that will carry it.
    private func checkedDTAs(_ dtas: String) throws(SDKError) -> String {
        guard dtas.utf8.count < 1024, dtas.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw SDKError(.responseParseError, "\(ServerCall.signingRegister.name): dtas")
        }
        return dtas
    }

    private func shares(
        _ response: SigningRegisterResponse, _ caller: Caller
    ) throws(SDKError) -> (SecretBytes, SecretBytes) {
        let first = try checkedShare(response.dvsClientSecretShare, .signingRegister)
        let answer: SigningShareResponse = try caller.decode(
            .secondSigningShare, try caller.get(.secondSigningShare, response.cs2url))
        return (first, try checkedShare(answer.dvsClientSecret, .secondSigningShare))
    }
}

/// z and z^-1 Q, for one registration.
private struct SigningKeyPair {
    private let z: SecretBytes
    /// 128 bytes in hex.
    let publicKey: String

    init(random: RandomSource) throws(SDKError) {
        let z = SecretBytes(count: MPinSize.scalar)
        var key = [UInt8](repeating: 0, count: MPinSize.g2)
        try cryptoStep("key pair") { () throws(MPinError) in
            var octets = z.mutableSpan
            var keyOctets = key.mutableSpan
            try KeyPair.generate(z: &octets, publicKey: &keyOctets, random: random)
        }
        self.z = z
        publicKey = Hex.encode(key)
    }

    /// z (CS1 + CS2), 65 bytes.
    func clientSecret(_ shares: (SecretBytes, SecretBytes)) throws(SDKError) -> SecretBytes {
        let sum = SecretBytes(count: MPinSize.g1)
        let secret = SecretBytes(count: MPinSize.g1)
        try cryptoStep("signing secret shares") { () throws(MPinError) in
            var sumOctets = sum.mutableSpan
            try Shares.recombineG1(shares.0.span, shares.1.span, into: &sumOctets)
            var octets = secret.mutableSpan
            try KeyPair.multiple(z: z.span, of: sum.span, into: &octets)
        }
        return secret
    }
}

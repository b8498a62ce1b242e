import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// Registration of identities that sign (TRUST wire sections 1.4 and 7.4). Such an identity has its own key pair, so no
/// D-TA can sign for it. PINs are passed as ASCII digits.
extension SDK {
    /// Logs in with the login PIN, makes a key pair and fetches all shares of its client secret. State: REGISTERED,
    /// unchanged. Afterwards only the signing PIN is missing.
    package func startRegistrationDVS(_ user: User, pin: Span<UInt8>) throws(SDKError) {
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            let factors = user.takeFactors()
            try core.check(user, allows: .signingStarted)
            try core.checkNoKeyPair(user.record)
            user.update { $0.signingRegistration = nil }
            let login = try core.freshLogin(user, caller)
            let answer = try core.logIn(user, pin, factors, login, .signingRegistration, caller)
            let registration = try core.registerKey(core.grant(answer), user, caller)
            user.update { $0.signingRegistration = registration }
        }
    }

    /// Makes the signing token with the signing PIN and stores it. Sends nothing.
    package func finishRegistrationDVS(_ user: User, pin: Span<UInt8>) throws(SDKError) {
        try perform(pinOf: user, pin) { core, _, pin throws(SDKError) in
            let factors = user.takeFactors()
            try core.check(user, allows: .signingFinished)
            guard let registration = user.signingRegistration else {
                throw SDKError(.flowError, "the registration of a signing key has not been started")
            }
            let mapping = PINMapping.decimal6
            let number = try PINNumber(pin, factors, mapping, length: user.record.pinLength)
            let signing = try registration.signing(number, mapping)
            let mpinID = user.mpinID
            try core.save(user) { record throws(SDKError) in
                guard let known = record, known.mpinID == mpinID else {
                    throw SDKError(.flowError, "the user was registered anew")
                }
                try core.checkNoKeyPair(known)
                record?.signing = signing
            }
            user.update { $0.signingRegistration = nil }
        }
    }
}

extension User.SigningRegistration {
    /// The signing identity to store, with a token for the PIN's `number`.
    func signing(_ number: PINNumber, _ mapping: PINMapping) throws(SDKError) -> UserRecord.Signing {
        let id = try MPinID.bytes(mpinID, publicKey: publicKey)
        let token = SecretHex(try makeToken(id: id, number, clientSecret: clientSecret))
        return UserRecord.Signing(mpinID: mpinID, publicKey: publicKey, dtas: dtas, token: token, mapping: mapping)
    }
}

extension Core {
    /// Makes a key pair, registers its public key and fetches the client secret for it.
    func registerKey(
        _ grant: SigningPermission.Grant, _ user: User, _ caller: Caller
    ) throws(SDKError) -> User.SigningRegistration {
        guard !grant.token.isEmpty else { throw SDKError(.responseParseError, "authenticate: an empty token") }
        try checkCurve(grant.curve, .authenticate)
        let pair = try SigningKeyPair(random: random)
        let request = SigningRegisterRequest(
            publicKey: pair.publicKey, deviceName: user.record.deviceName, dvsRegisterToken: grant.token)
        let wire = try wire(of: user)
        let key = try wire.registerKey(request, caller)
        let mpinID = try MPinID.check(key.mpinID, userID: user.id)
        let dtas = try checkedDTAs(key.dtas)
        let sum = try assemble(key.offer.redeemed(over: wire, caller), "signing secret shares")
        return User.SigningRegistration(
            mpinID: mpinID, publicKey: pair.publicKey, dtas: dtas, clientSecret: try pair.clientSecret(sum))
    }

    /// Throws if the login identity has a key pair. A second key pair would replace the one that the login needs.
    fileprivate func checkNoKeyPair(_ record: UserRecord) throws(SDKError) {
        guard record.signing == nil || record.signing?.mpinID != record.mpinID else {
            throw SDKError(.flowError, "the user signs with the key pair and the PIN of its logins")
        }
    }

    fileprivate func grant(_ answer: LoginAnswer) throws(SDKError) -> SigningPermission.Grant {
        let text = SecretBytes(copying: Array(answer.text.utf8).span)
        guard let grant = (try? JSON.decode(SigningPermission.self, from: text.span))?.dvsRegister else {
            throw SDKError(.responseParseError, "authenticate: no leave to register a signing key")
        }
        return grant
    }

    /// Checks the names of the D-TAs. Throws if the text is too long for the signatures that will contain it, or is not
    /// visible ASCII.
    func checkedDTAs(_ dtas: String, _ call: Call = .signingRegister) throws(SDKError) -> String {
        guard dtas.utf8.count < 1024, dtas.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw SDKError(.responseParseError, "\(call.name): dtas")
        }
        return dtas
    }
}

/// A key pair for one registration: the secret number z and the public key z^-1 Q, where Q is the generator of G2.
struct SigningKeyPair {
    private let z: SecretBytes
    /// The public key, a G2 point: 128 bytes in hex.
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

    /// The client secret for this key pair, 65 bytes: z times `sum`, which is the sum of the authorities' shares.
    func clientSecret(_ sum: SecretBytes) throws(SDKError) -> SecretBytes {
        let secret = SecretBytes(count: MPinSize.g1)
        try cryptoStep("signing secret shares") { () throws(MPinError) in
            var octets = secret.mutableSpan
            try KeyPair.multiple(z: z.span, of: sum.span, into: &octets)
        }
        return secret
    }
}

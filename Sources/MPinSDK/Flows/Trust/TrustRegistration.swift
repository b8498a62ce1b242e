import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// Registration at a MIRACL Trust project (TRUST wire sections 1.4 and 5). PINs are passed as ASCII digits.
extension SDK {
    /// Registers this device with a new key pair and fetches the client secret. Afterwards only the PIN is missing:
    /// ``User/registrationPINLength`` tells its length. An identity that the user has stays as it is until then. The activation
    /// token may also be a QuickCode.
    package func startTrustRegistration(
        _ userID: String, activationToken: String, pushToken: String? = nil
    ) throws(SDKError) -> User {
        try perform { core, caller throws(SDKError) in
            let project = try core.currentProject()
            guard !userID.isEmpty, !activationToken.isEmpty else {
                throw SDKError(.invalidArgument, "the user id or the activation token is empty")
            }
            let made = try core.enrol(userID, activationToken, pushToken: pushToken, project, caller)
            let user = core.member(userID, project)
            user.update { $0.trustRegistration = made }
            return user
        }
    }

    /// Makes the token from the client secret and the PIN, and stores it in place of what was stored of this user.
    /// Sends nothing. State afterwards: REGISTERED.
    package func finishTrustRegistration(_ user: User, pin: Span<UInt8>) throws(SDKError) {
        try perform(pinOf: user, pin) { core, _, pin throws(SDKError) in
            let factors = user.takeFactors()
            let project = try core.currentProject()
            try core.check(user, allows: .replaced)
            // The user may have been registered over another wire until now.
            guard user.record.key == project.record(user.id).key else {
                throw SDKError(.flowError, "the user belongs to another project than the current one")
            }
            guard let made = user.trustRegistration else {
                throw SDKError(.flowError, "the registration has not been started")
            }
            let mapping = Core.renewedMapping
            let number = try PINNumber(pin, factors, mapping, length: made.pinLength)
            var record = project.record(user.id)
            record.setKeyPair(try made.key.signing(number, mapping))
            record.pinLength = made.pinLength
            record.verificationType = made.verificationType.isEmpty ? nil : made.verificationType
            record.state = try core.next(user, .replaced).name
            try core.save(user) { $0 = record }
            user.update { $0.trustRegistration = nil }
        }
    }
}

extension Core {
    /// Registers a new key pair and fetches the client secret for it. The secret number of the key pair is wiped at the
    /// end.
    func enrol(
        _ userID: String, _ activationToken: String, pushToken: String? = nil, _ project: TrustWire, _ caller: Caller
    ) throws(SDKError) -> User.TrustRegistration {
        let pair = try SigningKeyPair(random: random)
        let (answer, peer) = try project.register(
            userID, activationToken, publicKey: pair.publicKey, pushToken: pushToken, caller)
        let mpinID = try MPinID.checkForm(answer.mpinId, .trustRegistration)
        let dtas = try checkedDTAs(answer.dtas, .trustRegistration)
        let sum = try assemble(project.shares(answer.secretUrls, peer: peer, caller), "client secret shares")
        let key = User.SigningRegistration(
            mpinID: mpinID, publicKey: pair.publicKey, dtas: dtas, clientSecret: try pair.clientSecret(sum))
        return User.TrustRegistration(
            key: key, pinLength: answer.pinLength, verificationType: answer.verificationType)
    }

    /// The project's user with this id. Makes a new one in state INVALID if there is none.
    fileprivate func member(_ userID: String, _ project: TrustWire) -> User {
        let record = project.record(userID)
        return user(record.key) ?? add(User(record: record, lifecycle: UserLifecycle()))
    }
}

extension TrustWire {
    /// The record of a user of this project, without an identity.
    func record(_ userID: String) -> UserRecord {
        var record = UserRecord(userID: userID, backend: url, deviceName: deviceName)
        record.customerID = id
        record.wire = .trust
        return record
    }
}

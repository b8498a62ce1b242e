import MPinCrypto
import MPinSecrets
import MPinWire

extension Session {
    func startRegistration(
        _ user: User, activateCode: String?, userData: String?, _ caller: Caller
    ) throws(SDKError) {
        try check(user, allows: .registrationStarted)
        let request = RegisterRequest(
            userId: user.id, deviceName: user.record.deviceName, userData: userData, activateCode: activateCode)
        let answer = try caller.send(.register, .put, try currentBackend().registerURL, request)
        let response: RegisterResponse = try caller.decode(.register, answer)
        try accept(response, user, response.active ? .registrationStartedActive : .registrationStarted)
    }

    func restartRegistration(_ user: User, userData: String?, _ caller: Caller) throws(SDKError) {
        try check(user, allows: .registrationRestarted)
        let record = user.record
        let request = RegisterRequest(
            userId: user.id, deviceName: record.deviceName, userData: userData, regOTT: record.regOTT)
        let url = "\(try currentBackend().registerURL)/\(user.mpinID)"
        let response: RegisterResponse = try caller.decode(
            .register, try caller.send(.register, .put, url, request))
        try accept(response, user, response.active ? .registrationRestartedActive : .registrationRestarted)
        user.update { $0.registration = nil }
    }

    /// Stores the identity that the server has made.
    private func accept(
        _ response: RegisterResponse, _ user: User, _ input: UserLifecycle.Input
    ) throws(SDKError) {
        let mpinID = try MPinID.check(response.mpinId, userID: user.id)
        guard !response.regOTT.isEmpty else { throw SDKError(.responseParseError, "register: empty regOTT") }
        var lifecycle = user.lifecycle
        guard lifecycle.apply(input) else { throw SDKError(.flowError, "not in state \(user.state.name)") }
        var record = user.record
        record.state = lifecycle.state.name
        record.mpinID = mpinID
        record.regOTT = response.regOTT
        try save(user) { $0 = record }
    }

    /// The first share is handed out once: it is kept in memory until the second one is there, too.
    func confirmRegistration(_ user: User, pushID: String?, _ caller: Caller) throws(SDKError) {
        try check(user, allows: .registrationConfirmed)
        if user.registration?.clientSecret != nil { return }
        let registration = try firstShare(user, pushID: pushID, caller)
        guard let first = registration.firstShare else { throw SDKError(.flowError, "no first share") }
        let second = try secondShare(user, params: registration.params, caller)
        let clientSecret = SecretBytes(count: MPinSize.g1)
        try cryptoStep("client secret shares") { () throws(MPinError) in
            var sum = clientSecret.mutableSpan
            try Shares.recombineG1(first.span, second.span, into: &sum)
        }
        user.update { $0.registration = User.Registration(clientSecret: clientSecret) }
    }

    private func firstShare(_ user: User, pushID: String?, _ caller: Caller) throws(SDKError) -> User.Registration {
        if let registration = user.registration, registration.firstShare != nil { return registration }
        var query = "regOTT=\(percentEncoded(user.record.regOTT ?? ""))"
        if let pushID { query += "&pmiToken=\(percentEncoded(pushID))" }
        let answer = try caller.get(.signature, "\(try currentBackend().signatureURL)/\(user.mpinID)?\(query)")
        let response: SignatureResponse = try caller.decode(.signature, answer)
        let share = try checkedShare(response.clientSecretShare, .signature)
        guard response.params.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw SDKError(.responseParseError, "\(ServerCall.signature.name): params are no query")
        }
        let registration = User.Registration(firstShare: share, params: response.params)
        user.update { $0.registration = registration }
        return registration
    }

    private func secondShare(_ user: User, params: String, _ caller: Caller) throws(SDKError) -> SecretBytes {
        do throws(SDKError) {
            let url = "\(try currentBackend().certivoxURL)clientSecret?\(params)"
            let answer = try caller.get(.secondClientSecret, url)
            let response: ClientSecretResponse = try caller.decode(.secondClientSecret, answer)
            return try checkedShare(response.clientSecret, .secondClientSecret)
        } catch {
            // The signed query was refused, so it will be again: only a new one from the first D-TA can help.
            if error.status == .requestExpired || error.status == .httpRequestError {
                user.update { $0.registration = nil }
            }
            throw error
        }
    }

    func finishRegistration(_ user: User, pin: SecretBytes) throws(SDKError) {
        try check(user, allows: .registrationFinished)
        guard let clientSecret = user.registration?.clientSecret else {
            throw SDKError(.flowError, "the registration is not confirmed yet")
        }
        let mapping = PINMapping.decimal6
        let scalar = try pinScalar(pin, mapping)
        let id = try MPinID.bytes(user.mpinID)
        let token = SecretBytes(count: MPinSize.g1)
        try cryptoStep("token") { () throws(MPinError) in
            var octets = token.mutableSpan
            try Client.extractPIN(
                id: id.span, pinScalar: scalar.span, pinBits: mapping.bits, clientSecret: clientSecret.span,
                into: &octets)
        }
        var record = user.record
        record.state = UserState.registered.name
        record.regOTT = nil
        record.token = SecretHex(token)
        record.mapping = mapping
        record.permit = nil
        try save(user) { $0 = record }
        user.update { $0.registration = nil }
    }
}

/// The share has the size of a point; whether it is one is for the addition to find out.
func checkedShare(_ share: SecretHex, _ call: ServerCall) throws(SDKError) -> SecretBytes {
    guard share.secret.count == MPinSize.g1 else {
        throw SDKError(.responseParseError, "\(call.name): the share has not \(MPinSize.g1) bytes")
    }
    return share.secret
}

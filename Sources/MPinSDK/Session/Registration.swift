import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

extension Session {
    func startRegistration(
        _ user: User, activateCode: String?, userData: String?, _ caller: Caller
    ) throws(SDKError) {
        try check(user, allows: .registrationStarted)
        let request = RegisterRequest(
            userId: user.id, deviceName: user.record.deviceName, userData: userData, activateCode: activateCode)
        let response = try register(.register, "", request, caller)
        let input: UserLifecycle.Input = response.active ? .registrationStartedActive : .registrationStarted
        try accept(response, user, input, .register, accessCode: nil)
    }

    func startRegistrationMFA(
        _ user: User, accessCode: String?, activateCode: String?, pushID: String?, _ caller: Caller
    ) throws(SDKError) {
        try check(user, allows: .registrationStartedMFA)
        let request = RegisterRequest(
            userId: user.id, deviceName: user.record.deviceName, activateCode: activateCode, wid: accessCode,
            pushToken: pushID)
        let response = try register(.registerMFA, "", request, caller)
        let input: UserLifecycle.Input = response.active ? .registrationStartedActiveMFA : .registrationStartedMFA
        try accept(response, user, input, .registerMFA, accessCode: accessCode)
    }

    func restartRegistration(_ user: User, userData: String?, _ caller: Caller) throws(SDKError) {
        try check(user, allows: .registrationRestarted)
        let record = user.record
        let request = RegisterRequest(
            userId: user.id, deviceName: record.deviceName, userData: userData,
            registrationToken: record.registrationToken, wid: record.accessCode)
        let call: ServerCall = record.isMFA ? .registerMFA : .register
        let response = try register(call, "/\(user.mpinID)", request, caller)
        let input: UserLifecycle.Input = response.active ? .registrationRestartedActive : .registrationRestarted
        try accept(response, user, input, call, accessCode: record.accessCode)
        user.update { $0.registration = nil }
    }

    private func register(
        _ call: ServerCall, _ path: String, _ request: RegisterRequest, _ caller: Caller
    ) throws(SDKError) -> RegisterResponse {
        try caller.decode(call, try caller.send(call, .put, try currentBackend().registerURL + path, request))
    }

    /// Stores the identity that the server has made at that call.
    private func accept(
        _ response: RegisterResponse, _ user: User, _ input: UserLifecycle.Input, _ call: ServerCall,
        accessCode: String?
    ) throws(SDKError) {
        let mpinID = try MPinID.check(response.mpinId, userID: user.id)
        guard response.registrationToken.count > 0 else {
            throw SDKError(.responseParseError, "register: empty regOTT")
        }
        var record = user.record
        record.state = try next(user, input).name
        record.mpinID = mpinID
        record.regOTT = response.registrationToken
        record.regOTTRest = nil
        record.accessCode = accessCode
        record.registeredMFA = call == .registerMFA ? true : nil
        record.expireTime = response.expireTime.flatMap(WireTime.seconds)
        record.nowTime = response.nowTime.flatMap(WireTime.seconds)
        record.customerID = try name(response.customerId, sameAs: record.customerID, "customer")
        record.appID = try name(response.appId, sameAs: record.appID, "application")
        record.verificationType = response.verificationType
        let length = response.pinLength.flatMap { PINDigits.lengths.contains($0) ? $0 : nil }
        let usual = try currentBackend().pinLength
        record.pinLength = length ?? usual
        try save(user) { $0 = record }
        user.update { $0.notice = response.message ?? "" }
    }

    /// What the server calls it; where it has no name for it, what the program does.
    private func name(_ given: String?, sameAs expected: String?, _ what: String) throws(SDKError) -> String? {
        guard let given, !given.isEmpty else { return expected }
        guard expected == nil || expected == "" || expected == given else {
            throw SDKError(.responseParseError, "register: the answer is of another \(what)")
        }
        return given
    }

    func setRegistrationToken(_ user: User, token: SecretText) throws(SDKError) {
        try check(user, allows: .registrationTokenCompleted)
        guard !user.isRegistrationTokenSet else { throw SDKError(.flowError, "the registration token is whole") }
        let isVisible = token.secret.span.withUnsafeBufferPointer { $0.allSatisfy { $0 > 32 && $0 < 127 } }
        guard (1...Self.maxTokenPart).contains(token.count), isVisible else {
            throw SDKError(.invalidArgument, "not a part of a registration token")
        }
        var record = user.record
        record.regOTTRest = token
        try save(user) { $0 = record }
    }

    private static var maxTokenPart: Int { 1024 }

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
        user.update {
            $0.registration = User.Registration(clientSecret: clientSecret, reportsEnd: registration.reportsEnd)
        }
    }

    private func firstShare(_ user: User, pushID: String?, _ caller: Caller) throws(SDKError) -> User.Registration {
        if let registration = user.registration, registration.firstShare != nil { return registration }
        let call: ServerCall = user.record.isMFA ? .signatureMFA : .signature
        let answer = try caller.get(
            call, "\(try currentBackend().signatureURL)/\(user.mpinID)",
            secretQuery: signatureQuery(user.record.registrationToken, pushID: pushID))
        let response: SignatureResponse = try caller.decode(call, answer)
        let share = try checkedShare(response.clientSecretShare, call)
        guard response.params.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw SDKError(.responseParseError, "\(call.name): params are no query")
        }
        let registration = User.Registration(
            firstShare: share, params: response.params, reportsEnd: response.setupDone == true)
        user.update { $0.registration = registration }
        return registration
    }

    private func signatureQuery(_ token: SecretText, pushID: String?) -> SecretBytes {
        let more = pushID.map { "&pmiToken=" + percentEncoded($0) } ?? ""
        return SecretBytes(
            joining: [SecretBytes(utf8: "regOTT="), percentEncoded(token.secret), SecretBytes(utf8: more)])
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

    func finishRegistration(_ user: User, pin: SecretBytes, _ caller: Caller) throws(SDKError) {
        let factors = user.takeFactors()
        let state = try next(user, .registrationFinished)
        guard let registration = user.registration, let clientSecret = registration.clientSecret else {
            throw SDKError(.flowError, "the registration is not confirmed yet: confirm_registration comes first")
        }
        var record = user.record
        let registrationToken = record.registrationToken
        let mapping = PINMapping.decimal6
        let number = try PINNumber(pin, factors, mapping, length: record.pinLength)
        let token = try makeToken(id: MPinID.bytes(user.mpinID), number, clientSecret: clientSecret)
        record.state = state.name
        record.regOTT = nil
        record.regOTTRest = nil
        record.accessCode = nil
        record.token = SecretHex(token)
        record.mapping = mapping
        record.permit = nil
        try save(user) { $0 = record }
        user.update { $0.registration = nil }
        if registration.reportsEnd { reportEnd(user.mpinID, registrationToken, caller) }
    }

    /// The token is stored: a server that wants to know it hands the shares out to nobody any more. If the word gets
    /// lost, the server still ends that by itself.
    private func reportEnd(_ mpinID: String, _ token: SecretText, _ caller: Caller) {
        guard let backend, !backend.setupDoneURL.isEmpty else { return }
        let patience = UInt32(clamping: min(caller.deadline.remainingMilliseconds(), 3000))
        _ = try? caller.send(
            .setupDone, .post, "\(backend.setupDoneURL)/\(mpinID)", SetupDoneRequest(registrationToken: token),
            until: .after(milliseconds: patience))
    }
}

/// A share that is no point must not be kept: no later answer would fit it.
func checkedShare(_ share: SecretHex, _ call: ServerCall) throws(SDKError) -> SecretBytes {
    guard share.secret.count == MPinSize.g1 else {
        throw SDKError(.responseParseError, "\(call.name): the share has not \(MPinSize.g1) bytes")
    }
    guard isPoint(share.secret) else { throw SDKError(.cryptoError, "\(call.name): the share is no point") }
    return share.secret
}

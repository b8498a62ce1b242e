import MPinCrypto
import MPinHTTP
import MPinSecrets
package import MPinWire

/// Verification and registration. PINs are passed as ASCII digits.
extension SDK {
    /// Asks the server to mail a code, with which the user proves to own the user id. State: INVALID ->
    /// STARTED_VERIFICATION.
    package func startVerification(_ user: User, clientID: String, accessCode: String? = nil) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            let state = try core.next(user, .verificationStarted)
            let request = VerificationRequest(
                userId: user.id, clientId: clientID, accessId: accessCode, deviceName: user.record.deviceName)
            try core.wire(of: user).startVerification(request, caller)
            var record = user.record
            record.state = state.name
            try core.save(user) { $0 = record }
        }
    }

    /// Sends the code from the mail. State: STARTED_VERIFICATION, unchanged.
    package func finishVerification(_ user: User, code: String) throws(SDKError) -> Verification {
        try perform { core, caller throws(SDKError) in
            try core.check(user, allows: .verificationFinished)
            let request = ConfirmationRequest(userId: user.id, code: code)
            let response = try core.wire(of: user).finishVerification(request, caller)
            return Verification(
                expireTime: response.expireTime.flatMap(WireTime.seconds) ?? 0, accessID: response.accessId ?? "",
                activationToken: response.actToken)
        }
    }

    /// Starts a registration. State: INVALID -> STARTED_REGISTRATION, or ACTIVATED if no confirmation is needed.
    package func startRegistration(
        _ user: User, activateCode: String? = nil, userData: String? = nil
    ) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            try core.check(user, allows: .registrationStarted)
            let request = RegisterRequest(
                userId: user.id, deviceName: user.record.deviceName, userData: userData, activateCode: activateCode)
            let response = try core.currentBackend().wire(.milagro).register(request, again: nil, caller)
            let input: UserLifecycle.Input = response.active ? .registrationStartedActive : .registrationStarted
            try core.accept(response, user, input, over: .milagro, accessCode: nil)
        }
    }

    /// Starts a registration at a MIRACL MFA server. State: INVALID or STARTED_VERIFICATION -> STARTED_REGISTRATION, or
    /// ACTIVATED if no confirmation is needed.
    package func startRegistrationMFA(
        _ user: User, accessCode: String? = nil, activateCode: String? = nil, pushID: String? = nil
    ) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            try core.check(user, allows: .registrationStartedMFA)
            let request = RegisterRequest(
                userId: user.id, deviceName: user.record.deviceName, activateCode: activateCode, wid: accessCode,
                pushToken: pushID)
            let response = try core.currentBackend().wire(.mfa).register(request, again: nil, caller)
            let input: UserLifecycle.Input = response.active ? .registrationStartedActiveMFA : .registrationStartedMFA
            try core.accept(response, user, input, over: .mfa, accessCode: accessCode)
        }
    }

    /// Adds the part of the registration token that the link in the mail contains. State: STARTED_REGISTRATION,
    /// unchanged.
    package func setRegistrationToken(_ user: User, token: SecretText) throws(SDKError) {
        try perform { core, _ throws(SDKError) in
            try core.check(user, allows: .registrationTokenCompleted)
            guard !user.isRegistrationTokenSet else { throw SDKError(.flowError, "the registration token is whole") }
            let isVisible = token.secret.span.withUnsafeBufferPointer { $0.allSatisfy { $0 > 32 && $0 < 127 } }
            guard 1...maxTokenPart ~= token.count, isVisible else {
                throw SDKError(.invalidArgument, "not a part of a registration token")
            }
            var record = user.record
            record.regOTTRest = token
            try core.save(user) { $0 = record }
        }
    }

    /// Asks the server to send the confirmation mail again. State: STARTED_REGISTRATION -> STARTED_REGISTRATION or
    /// ACTIVATED.
    package func restartRegistration(_ user: User, userData: String? = nil) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            try core.check(user, allows: .registrationRestarted)
            let record = user.record
            let request = RegisterRequest(
                userId: user.id, deviceName: record.deviceName, userData: userData,
                registrationToken: record.registrationToken, wid: record.accessCode)
            let response = try core.wire(of: user).register(request, again: user.mpinID, caller)
            let input: UserLifecycle.Input = response.active ? .registrationRestartedActive : .registrationRestarted
            try core.accept(response, user, input, over: record.wire, accessCode: record.accessCode)
            user.update { $0.registration = nil }
        }
    }

    /// Fetches the shares of the client secret. State: STARTED_REGISTRATION or ACTIVATED, unchanged. A server may give
    /// the first share only once, so it is kept in memory until all shares are there.
    package func confirmRegistration(_ user: User, pushID: String? = nil) throws(SDKError) {
        try perform { core, caller throws(SDKError) in
            try core.check(user, allows: .registrationConfirmed)
            if user.registration?.clientSecret != nil { return }
            let wire = try core.wire(of: user)
            var offer: ShareOffer
            if let known = user.registration?.offer {
                offer = known
            } else {
                offer = try wire.clientSecret(user.mpinID, user.record.registrationToken, pushID: pushID, caller)
                user.update { $0.registration = User.Registration(offer: offer) }
            }
            let secret = try core.secret(of: offer, user, wire, caller)
            user.update {
                $0.registration = User.Registration(clientSecret: secret, reportsEnd: offer.reportsEnd)
            }
        }
    }

    /// Makes the token for the PIN and stores it. Then reports the end of the registration to a server that wants this
    /// report. State: STARTED_REGISTRATION or ACTIVATED -> REGISTERED.
    package func finishRegistration(_ user: User, pin: Span<UInt8>) throws(SDKError) {
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            let factors = user.takeFactors()
            let state = try core.next(user, .registrationFinished)
            guard let registration = user.registration, let clientSecret = registration.clientSecret else {
                throw SDKError(.flowError, "the registration is not confirmed yet: confirm_registration comes first")
            }
            let registrationToken = user.record.registrationToken
            let mapping = PINMapping.decimal6
            let number = try PINNumber(pin, factors, mapping, length: user.record.pinLength)
            let token = try makeToken(id: MPinID.bytes(user.mpinID), number, clientSecret: clientSecret)
            let record = user.record.finished(state, SecretHex(token), mapping)
            try core.save(user) { $0 = record }
            user.update { $0.registration = nil }
            guard registration.reportsEnd else { return }
            // After this report the server no longer gives out the shares. A failure is ignored, because shares also
            // expire at the server without a report.
            let patience = UInt32(clamping: min(caller.deadline.remainingMilliseconds(), 3000))
            try? core.wire(of: user).reportEnd(
                user.mpinID, registrationToken, until: .after(milliseconds: patience), caller)
        }
    }
}

/// The maximum length, in characters, of the part of the registration token that the mail link contains.
private let maxTokenPart = 1024

extension Core {
    /// Stores the identity that the server has made.
    fileprivate func accept(
        _ response: RegisterResponse, _ user: User, _ input: UserLifecycle.Input, over wire: WireName,
        accessCode: String?
    ) throws(SDKError) {
        var record = user.record
        record.mpinID = try MPinID.check(response.mpinId, userID: user.id)
        record.state = try next(user, input).name
        record.regOTT = response.registrationToken
        record.regOTTRest = nil
        record.accessCode = accessCode
        record.wire = wire
        record.expireTime = response.expireTime.flatMap(WireTime.seconds)
        record.nowTime = response.nowTime.flatMap(WireTime.seconds)
        record.customerID = try name(response.customerId, sameAs: record.customerID, "customer")
        record.appID = try name(response.appId, sameAs: record.appID, "application")
        record.verificationType = response.verificationType
        let length = response.pinLength.flatMap { PINDigits.lengths.contains($0) ? $0 : nil }
        let usual = try currentBackend().wire(wire).pinLength
        record.pinLength = length ?? usual
        try save(user) { $0 = record }
        user.update { $0.notice = response.message ?? "" }
    }

    /// Returns `given`, the name in the server's answer, or `expected`, the program's name, if the server gave none.
    /// Throws if the two differ. `what` is for the error text.
    private func name(_ given: String?, sameAs expected: String?, _ what: String) throws(SDKError) -> String? {
        guard let given, !given.isEmpty else { return expected }
        guard expected == nil || expected == "" || expected == given else {
            throw SDKError(.responseParseError, "register: the answer is of another \(what)")
        }
        return given
    }

    /// Fetches the shares for which `offer` contains tickets, and returns the client secret, the sum of all shares.
    fileprivate func secret(
        of offer: ShareOffer, _ user: User, _ wire: any Wire, _ caller: Caller
    ) throws(SDKError) -> SecretBytes {
        do throws(SDKError) {
            return try assemble(offer.redeemed(over: wire, caller), "client secret shares")
        } catch {
            // The authority has refused the ticket and would refuse it again. The offer, which contains the ticket, is
            // dropped, so that the next call asks the server for a new offer.
            if error.status == .requestExpired || error.status == .httpRequestError {
                user.update { $0.registration = nil }
            }
            throw error
        }
    }
}

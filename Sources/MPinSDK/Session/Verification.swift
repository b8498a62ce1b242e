import MPinWire

extension Session {
    func startVerification(
        _ user: User, clientID: String, accessCode: String?, _ caller: Caller
    ) throws(SDKError) {
        let state = try next(user, .verificationStarted)
        let request = VerificationRequest(
            userId: user.id, clientId: clientID, accessId: accessCode, deviceName: user.record.deviceName)
        _ = try caller.send(.verification, .post, try currentBackend().verificationURL, request)
        var record = user.record
        record.state = state.name
        try save(user) { $0 = record }
    }

    func finishVerification(_ user: User, code: String, _ caller: Caller) throws(SDKError) -> Verification {
        try check(user, allows: .verificationFinished)
        let request = ConfirmationRequest(userId: user.id, code: code)
        let url = "\(try currentBackend().verificationURL)/confirmation"
        let response: ConfirmationResponse = try caller.decode(
            .verificationConfirmation, try caller.send(.verificationConfirmation, .post, url, request))
        guard !response.actToken.isEmpty else {
            throw SDKError(.responseParseError, "\(ServerCall.verificationConfirmation.name): empty token")
        }
        return Verification(
            expireTime: response.expireTime.flatMap(WireTime.seconds) ?? 0, accessID: response.accessId ?? "",
            activationToken: response.actToken)
    }
}

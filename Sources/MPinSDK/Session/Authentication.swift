import MPinCrypto
import MPinSecrets
import MPinWire

extension Session {
    func startAuthentication(_ user: User, _ caller: Caller) throws(SDKError) {
        try check(user, allows: .authenticationStarted)
        user.update { $0.login = nil }
        let login = try currentBackend().usesPermits ? timePermit(user, caller) : User.Login()
        user.update { $0.login = login }
    }

    func finishAuthentication(_ user: User, pin: SecretBytes, _ caller: Caller) throws(SDKError) -> String {
        try check(user, allows: .authenticationFinished)
        guard let login = user.login else { throw SDKError(.flowError, "the login has not been started") }
        let proof = try Proof(user.record, login, pin: pin, random: random)
        let pass2Answer = try passes(proof, user, caller)
        let data = try redeem(pass2Answer, user, caller)
        user.update { content in
            content.login = nil
            content.authData = data
        }
        return data
    }

    /// Pass 1 and pass 2: the answer of the second one, right PIN or wrong.
    private func passes(_ proof: consuming Proof, _ user: User, _ caller: Caller) throws(SDKError) -> JSONValue {
        let server = try currentBackend().mpinAuthServerURL
        let pass1 = Pass1Request(mpin_id: user.mpinID, U: Hex.encode(proof.u), UT: Hex.encode(proof.ut))
        let response: Pass1Response = try caller.decode(
            .pass1, try caller.send(.pass1, .post, "\(server)/pass1", pass1))
        guard let y = Hex.decode(response.y), y.count == MPinSize.scalar else {
            throw SDKError(.responseParseError, "pass 1: y is not \(MPinSize.scalar) bytes in hex")
        }
        let pass2 = Pass2Request(mpin_id: user.mpinID, V: Hex.encode(try proof.answer(y)))
        let answer: JSONValue = try caller.decode(.pass2, try caller.send(.pass2, .post, "\(server)/pass2", pass2))
        guard case .object = answer else { throw SDKError(.responseParseError, "pass 2: not a JSON object") }
        return answer
    }

    /// Lets the application judge the login. Its answer is JSON or nothing.
    private func redeem(_ pass2Answer: JSONValue, _ user: User, _ caller: Caller) throws(SDKError) -> String {
        let request = AuthenticateRequest(mpinResponse: pass2Answer)
        let url = try currentBackend().authenticateURL
        let answer: SecretBytes
        do throws(SDKError) {
            answer = try caller.send(.authenticate, .post, url, request)
        } catch {
            guard error.httpStatus == 410 else { throw error }
            throw block(user, error)
        }
        if answer.count == 0 { return "" }
        let _: JSONValue = try caller.decode(.authenticate, answer)
        return answer.plainText
    }

    /// The last attempt is used up: the token is of no use any more. The verdict stands even if the disk is full.
    private func block(_ user: User, _ verdict: SDKError) -> SDKError {
        let mpinID = user.mpinID
        do throws(SDKError) {
            try save(user) { record throws(SDKError) in
                guard record?.mpinID == mpinID else { return }
                record?.block()
            }
            return verdict
        } catch {
            user.update { content in
                content.record.block()
                content.lifecycle = UserLifecycle(state: .blocked)
                content.login = nil
            }
            return SDKError(verdict.status, "\(verdict.text); \(error.text)", httpStatus: verdict.httpStatus)
        }
    }
}

extension UserRecord {
    mutating func block() {
        state = UserState.blocked.name
        token = nil
        mapping = nil
        permit = nil
    }
}

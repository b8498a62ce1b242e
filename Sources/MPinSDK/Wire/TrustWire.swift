import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// The requests and answers of a project of MIRACL Trust (TRUST wire section 4). Like a ``Wire``, it knows neither the
/// states of users nor the store. It is not one: its registration and its logins have other steps, and a client secret
/// always has a key pair. Each function sends one request unless its comment says otherwise.
struct TrustWire: Sendable {
    /// The project's id.
    let id: String
    /// The base URL of the service, without trailing slash.
    let url: String
    /// What the server lists this device as; nil for none.
    let deviceName: String?

    /// What a login is for: a name on the wire (TRUST wire section 4.8).
    enum Scope: String {
        /// The session of a browser.
        case browser = "oidc"
        /// A token for the application's own server.
        case jwt
        case quickCode = "reg-code"
        case signing = "dvs-auth"
    }

    // MARK: Verification

    /// Asks the server to mail a link or a code that verifies the user id.
    func verify(
        _ userID: String, mpinID: String?, accessID: String?, _ caller: Caller
    ) throws(SDKError) -> TrustVerificationResponse {
        try post(
            .trustVerification, "verification/email",
            TrustVerificationRequest(
                userID: userID, projectID: id, mpinID: mpinID, accessID: accessID, deviceName: deviceName), caller)
    }

    /// Exchanges the code that the mail contained for an activation token.
    func confirm(_ userID: String, _ code: String, _ caller: Caller) throws(SDKError) -> TrustConfirmationResponse {
        let answer: TrustConfirmationResponse = try post(
            .trustConfirmation, "verification/confirmation", TrustConfirmationRequest(userID: userID, code: code),
            caller)
        guard !answer.actToken.isEmpty else {
            throw SDKError(.responseParseError, "\(Call.trustConfirmation.name): empty token")
        }
        try check(project: answer.projectId, .trustConfirmation)
        return answer
    }

    // MARK: Registration

    /// Registers a public key, 128 bytes in hex. Also returns the kind of the server's address, which the addresses of
    /// the authorities may share.
    func register(
        _ userID: String, _ activationToken: String, publicKey: String, pushToken: String?, _ caller: Caller
    ) throws(SDKError) -> (answer: TrustRegistrationResponse, peer: AddressClass?) {
        let call = Call.trustRegistration
        let request = TrustRegistrationRequest(
            userID: userID, deviceName: deviceName, activationToken: activationToken, publicKey: publicKey,
            pushToken: pushToken)
        let response = try caller.anywhere.send(call, .post, "\(url)/registration", request)
        let answer: TrustRegistrationResponse = try caller.decode(call, response)
        try check(project: answer.projectId, call)
        guard answer.curve == "BN254CX" else { throw Self.unsupportedCurve(call) }
        guard PINDigits.lengths.contains(answer.pinLength), !answer.secretUrls.isEmpty else {
            throw SDKError(.responseParseError, "\(call.name): pinLength or secretUrls")
        }
        return (answer, response.peer)
    }

    /// Gets the shares of the client secret from the authorities, one request for each. A request that fails is
    /// repeated once (TRUST wire section 3). The URLs may lead to the Internet, and to the kind of network in which the
    /// service is.
    func shares(_ urls: [String], peer: AddressClass?, _ caller: Caller) throws(SDKError) -> [Share] {
        var caller = caller
        if let kind = peer ?? AddressClass(url: url) { caller.reach = [.global, kind] }
        var shares: [Share] = []
        for (number, url) in urls.enumerated() {
            let response = try repeated { () throws(SDKError) in try caller.get(.trustShare, url) }
            let answer: TrustSecretResponse = try caller.decode(.trustShare, response)
            shares.append(try checkedShare(number + 1, answer.dvsClientSecret, .trustShare))
        }
        return shares
    }

    // MARK: Logins

    /// Does both passes and gets the verdict: three requests. `accessID` is that of the browser's session to log in.
    func logIn(
        _ proof: consuming Proof, _ credential: Credential, _ scope: Scope, accessID: String?, _ caller: Caller
    ) throws(SDKError) -> TrustAuthenticateResponse {
        let commitment = TrustPass1Request(
            scope: scope.rawValue, mpinID: credential.mpinID, publicKey: credential.publicKey, dtas: credential.dtas,
            u: Hex.encode(proof.u))
        let challenge: TrustPass1Response = try post(.trustPass1, "rps/v2/pass1", commitment, caller)
        guard let y = Hex.decode(challenge.y), y.count == MPinSize.scalar else {
            throw SDKError(.responseParseError, "pass 1: y is not \(MPinSize.scalar) bytes in hex")
        }
        let answer = TrustPass2Request(
            mpinID: credential.mpinID, v: Hex.encode(try proof.answer(y)), accessID: accessID)
        let token: TrustPass2Response = try post(.trustPass2, "rps/v2/pass2", answer, caller)
        return try post(
            .trustAuthenticate, "rps/v2/authenticate", TrustAuthenticateRequest(token: token.authOTT), caller)
    }

    /// Exchanges the token of a login with the scope ``Scope/quickCode`` for a QuickCode.
    func quickCode(_ jwt: SecretText, _ caller: Caller) throws(SDKError) -> TrustQuickCodeResponse {
        try post(
            .trustQuickCode, "verification/quickcode",
            TrustQuickCodeRequest(projectID: id, jwt: jwt, deviceName: deviceName), caller)
    }

    // MARK: Sessions

    /// Asks what the session is for. Its page learns that its code was read.
    func session(_ accessID: String, _ caller: Caller) throws(SDKError) -> TrustSessionDetails {
        try post(
            .trustSession, Self.sessionPath, TrustCodeStatusRequest(wid: accessID, status: "wid"), caller)
    }

    /// Reports something to the session's page.
    func report(
        _ request: TrustCodeStatusRequest, until deadline: Deadline? = nil, _ caller: Caller
    ) throws(SDKError) {
        _ = try caller.anywhere.send(.trustSession, .post, "\(url)/\(Self.sessionPath)", request, until: deadline)
    }

    private static let sessionPath = "rps/v2/codeStatus"

    // MARK: All requests

    private func post<Answer: Decodable>(
        _ call: Call, _ path: String, _ message: some Encodable, _ caller: Caller
    ) throws(SDKError) -> Answer {
        try caller.decode(call, caller.anywhere.send(call, .post, "\(url)/\(path)", message))
    }

    /// Repeats a request once if it fails, unless the second attempt would fail in the same way or has no time.
    private func repeated(_ request: () throws(SDKError) -> HTTPResponse) throws(SDKError) -> HTTPResponse {
        do throws(SDKError) { return try request() } catch {
            switch error.status {
            case .canceled, .timedOut, .untrustedDomainError: throw error
            default: return try request()
            }
        }
    }

    private func check(project: String, _ call: Call) throws(SDKError) {
        guard project == id else {
            throw SDKError(.projectMismatch, "\(call.name): the answer is of another project", httpStatus: 200)
        }
    }

    static func unsupportedCurve(_ call: Call) -> SDKError {
        SDKError(.unsupportedCurve, "\(call.name): keys on another curve than BN254CX", httpStatus: 200)
    }
}

/// The requests of this wire. Every HTTP status 2xx is a success. Of a failure the error code says what happened, and the
/// HTTP status does not (TRUST wire section 3).
extension Call {
    package static let trustVerification = trust("verification by mail", refusal: .verificationFailed)
    package static let trustConfirmation = trust("activation token", refusal: .verificationFailed)
    package static let trustRegistration = trust("registration")
    package static let trustShare = trust("client secret share")
    /// The only parameter of these requests that a caller chooses is the session.
    package static let trustSession = trust("session", codes: [("INVALID_REQUEST_PARAMETERS", .sessionInvalid)])
    package static let trustPass1 = trust("pass 1")
    package static let trustPass2 = trust("pass 2")
    package static let trustAuthenticate = trust("authenticate")
    package static let trustQuickCode = trust("QuickCode")

    private static func trust(
        _ name: String, refusal: Status = .httpRequestError, codes: [(String, Status)] = []
    ) -> Call {
        Call(name, successes: 200..<300, refusal: refusal, codes: trustCodes + codes)
    }

    /// Those of the present servers and of older ones.
    private static let trustCodes: [(String, Status)] = [
        ("REQUEST_BACKOFF", .requestBackoff), ("BACKOFF_ERROR", .requestBackoff),
        ("UNSUCCESSFUL_VERIFICATION", .verificationFailed), ("INVALID_VERIFICATION_CODE", .verificationFailed),
        ("INVALID_ACTIVATION_TOKEN", .activationTokenInvalid),
        ("EXPIRED_MPINID", .revoked), ("MPINID_EXPIRED", .revoked),
        ("REVOKED_MPINID", .revoked), ("MPINID_REVOKED", .revoked),
        ("UNSUCCESSFUL_AUTHENTICATION", .incorrectPIN), ("INVALID_AUTH", .incorrectPIN),
        ("INVALID_AUTHENTICATION_SESSION", .sessionInvalid), ("INVALID_AUTH_SESSION", .sessionInvalid),
        ("LIMITED_QUICKCODE_GENERATION", .operationNotAllowed),
    ]
}

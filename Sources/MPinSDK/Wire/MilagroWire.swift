import MPinCrypto
import MPinHTTP
import MPinSecrets
import MPinWire

/// The protocol of Milagro's servers and of ours and, in another dialect, of MIRACL's MFA servers. The client settings
/// contain the URLs. Two authorities make the secrets. The server passes on the share of the first authority, and the
/// client asks the second one itself.
struct MilagroWire: Wire {
    let settings: WireSettings
    /// Whether the server is one of MIRACL's MFA servers. Their HTTP status 404 means that the registration has expired.
    let isMFA: Bool

    private var registerCall: Call { isMFA ? .registerMFA : .register }
    private var signatureCall: Call { isMFA ? .signatureMFA : .signature }
    var pinLength: Int? { settings.pinLength }
    var usesPermits: Bool { settings.usesPermits }
    var checksAccessNumbers: Bool { settings.checksAccessNumbers }
    /// Every MFA server gives them; other servers say so in their settings.
    var givesRegistrationCodes: Bool { isMFA || settings.givesRegistrationCodes }

    // MARK: Registration

    func startVerification(_ request: VerificationRequest, _ caller: Caller) throws(SDKError) {
        _ = try caller.send(.verification, .post, settings.verificationURL, request)
    }

    func finishVerification(
        _ request: ConfirmationRequest, _ caller: Caller
    ) throws(SDKError) -> ConfirmationResponse {
        let call = Call.verificationConfirmation
        let url = "\(settings.verificationURL)/confirmation"
        let response: ConfirmationResponse = try caller.decode(call, try caller.send(call, .post, url, request))
        guard !response.actToken.isEmpty else { throw SDKError(.responseParseError, "\(call.name): empty token") }
        return response
    }

    func register(
        _ request: RegisterRequest, again mpinID: String?, _ caller: Caller
    ) throws(SDKError) -> RegisterResponse {
        let url = settings.registerURL + (mpinID.map { "/\($0)" } ?? "")
        let response: RegisterResponse = try caller.decode(
            registerCall, try caller.send(registerCall, .put, url, request))
        guard response.registrationToken.count > 0 else {
            throw SDKError(.responseParseError, "register: empty regOTT")
        }
        return response
    }

    func clientSecret(
        _ mpinID: String, _ token: SecretText, pushID: String?, _ caller: Caller
    ) throws(SDKError) -> ShareOffer {
        let more = pushID.map { "&pmiToken=" + percentEncoded($0) } ?? ""
        let query = SecretBytes(
            joining: [SecretBytes(utf8: "regOTT="), percentEncoded(token.secret), SecretBytes(utf8: more)])
        let answer = try caller.get(signatureCall, "\(settings.signatureURL)/\(mpinID)", secretQuery: query)
        let response: SignatureResponse = try caller.decode(signatureCall, answer)
        let share = try checkedShare(1, response.clientSecretShare, signatureCall)
        guard response.params.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw SDKError(.responseParseError, "\(signatureCall.name): params are no query")
        }
        let ticket = Ticket(
            index: 2, secret: .client, url: "clientSecret?\(response.params)", isRelative: true)
        return ShareOffer(
            shares: [share], tickets: [ticket], reportsEnd: response.setupDone == true)
    }

    func reportEnd(
        _ mpinID: String, _ token: SecretText, until deadline: Deadline, _ caller: Caller
    ) throws(SDKError) {
        guard !settings.setupDoneURL.isEmpty else { return }
        let request = SetupDoneRequest(registrationToken: token)
        _ = try caller.send(.setupDone, .post, "\(settings.setupDoneURL)/\(mpinID)", request, until: deadline)
    }

    func registerKey(_ request: SigningRegisterRequest, _ caller: Caller) throws(SDKError) -> KeyOffer {
        let call = Call.signingRegister
        let response: SigningRegisterResponse = try caller.decode(
            call, try caller.send(call, .post, settings.signingRegisterURL, request))
        try checkCurve(response.curve, call)
        let offer = ShareOffer(
            shares: [try checkedShare(1, response.dvsClientSecretShare, call)],
            tickets: [Ticket(index: 2, secret: .signing, url: response.cs2url)])
        return KeyOffer(mpinID: response.mpinId, dtas: response.dtas, offer: offer)
    }

    func renewedSecret(_ share: RenewalAnswer.Share) throws(SDKError) -> ShareOffer {
        try checkCurve(share.curve, .authenticate)
        return ShareOffer(
            shares: [try checkedShare(1, share.clientSecretShare, .authenticate)],
            tickets: [Ticket(index: 2, secret: .client, url: share.cs2url)])
    }

    // MARK: Shares

    func timePermit(_ mpinID: String, _ caller: Caller) throws(SDKError) -> (date: Int32, offer: ShareOffer) {
        let response: RPSTimePermitResponse = try caller.decode(
            .timePermit, try caller.get(.timePermit, "\(settings.timePermitsURL)/\(mpinID)"))
        guard response.date > 0, let first = response.timePermit.point else {
            throw SDKError(.responseParseError, "\(Call.timePermit.name): no date or no point")
        }
        let hash = Hex.encode(SHA256.hash(try MPinID.bytes(mpinID)))
        let query = percentEncodedQuery([
            ("hash_mpin_id", hash), ("app_id", settings.appID), ("mobile", "1"), ("signature", response.signature),
        ])
        var ticket = Ticket(index: 2, secret: .permit, url: "timePermit?\(query)", isRelative: true)
        if !settings.timePermitsStorageURL.isEmpty {
            let path = "\(percentEncoded(settings.appID))/\(response.date)/\(hash)"
            ticket.storageURL = "\(settings.timePermitsStorageURL)/\(path)"
        }
        return (response.date, ShareOffer(shares: [Share(index: 1, first)], tickets: [ticket]))
    }

    func share(_ ticket: Ticket, _ caller: Caller) throws(SDKError) -> Share {
        let url = (ticket.isRelative ? settings.certivoxURL : "") + ticket.url
        switch ticket.secret {
        case .client:
            let call = Call.secondClientSecret
            let response: ClientSecretResponse = try caller.decode(call, try caller.get(call, url))
            return try checkedShare(ticket.index, response.clientSecret, call)
        case .signing:
            let call = Call.secondSigningShare
            let response: SigningShareResponse = try caller.decode(call, try caller.get(call, url))
            return try checkedShare(ticket.index, response.dvsClientSecret, call)
        case .permit:
            let call = Call.secondTimePermit
            let response: TimePermitResponse = try caller.decode(call, try caller.get(call, url))
            guard let share = response.timePermit.point else {
                throw SDKError(.responseParseError, "\(call.name): no point")
            }
            return Share(index: ticket.index, share)
        }
    }

    /// Gets the share from the static storage, which sends it as hex without JSON around it.
    func storedShare(_ ticket: Ticket, until deadline: Deadline, _ caller: Caller) throws(SDKError) -> Share? {
        guard let url = ticket.storageURL else { return nil }
        let text = try caller.get(.permitStorage, url, until: deadline).body
        return text.point.map { Share(index: ticket.index, $0) }
    }

    // MARK: Logins

    func logIn(
        _ proof: consuming Proof, _ credential: Credential, _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> LoginAnswer {
        let url = try authenticateURL(form)
        let y = try pass1(proof.u, proof.ut, credential, form, caller)
        let pass2 = try pass2(try proof.answer(y), credential, form, caller)
        let request = AuthenticateRequest(
            mpinResponse: pass2, authzRequest: form.wantsCode ? true : nil, scope: form.authenticateScope)
        let headers = form.authorization.map { [("Authorization", $0)] } ?? []
        let answer = try caller.send(.authenticate, .post, url, request, headers)
        // An application may send an empty answer.
        if answer.body.count == 0 { return LoginAnswer(text: "", content: .null, pass2: pass2) }
        var renewal: RenewalAnswer = try caller.decode(.authenticate, answer)
        if form.wantsKeyPermission { renewal.dvsRegister = nil }
        // The text of a demand to renew is dropped, because it may contain a share and a text is not wiped.
        if renewal.renewSecret != nil || renewal.dvsRegister != nil {
            return LoginAnswer(text: "", content: .null, pass2: pass2, renewal: renewal)
        }
        return LoginAnswer(
            text: answer.body.plainText, content: try caller.decode(.authenticate, answer), pass2: pass2)
    }

    /// Sends the commitments; returns the server's challenge y, 32 bytes.
    private func pass1(
        _ u: [UInt8], _ ut: [UInt8], _ credential: Credential, _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> [UInt8] {
        let request = Pass1Request(
            mpin_id: credential.mpinID, U: Hex.encode(u), UT: Hex.encode(ut), scope: form.scope.map { [$0] },
            publicKey: credential.publicKey, dtas: credential.dtas)
        let response: Pass1Response = try caller.decode(
            .pass1, try caller.send(.pass1, .post, "\(settings.mpinAuthServerURL)/pass1", request))
        guard let y = Hex.decode(response.y), y.count == MPinSize.scalar else {
            throw SDKError(.responseParseError, "pass 1: y is not \(MPinSize.scalar) bytes in hex")
        }
        return y
    }

    /// Sends the proof; returns the server's answer, which has the same form for a right and a wrong PIN.
    private func pass2(
        _ v: [UInt8], _ credential: Credential, _ form: LoginForm, _ caller: Caller
    ) throws(SDKError) -> JSONValue {
        let request = Pass2Request(
            mpin_id: credential.mpinID, V: Hex.encode(v), WID: form.accessCode ?? "0", OTP: form.wantsOTP)
        let answer: JSONValue = try caller.decode(
            .pass2, try caller.send(.pass2, .post, "\(settings.mpinAuthServerURL)/pass2", request))
        guard case .object = answer else { throw SDKError(.responseParseError, "pass 2: not a JSON object") }
        return answer
    }

    /// The URL that completes the login. Throws if the backend has no such URL for a browser.
    private func authenticateURL(_ form: LoginForm) throws(SDKError) -> String {
        guard form.accessCode != nil else { return settings.authenticateURL }
        guard !settings.mobileAuthenticateURL.isEmpty else {
            throw SDKError(.flowError, "the backend has no logins for a browser")
        }
        return settings.mobileAuthenticateURL
    }

    func logOut(_ logout: User.Logout, _ caller: Caller) throws(SDKError) {
        _ = try caller.send(.logout, .post, settings.base + logout.path, logout.data)
    }

    func session(_ accessCode: String, _ caller: Caller) throws(SDKError) -> Session? {
        guard !settings.codeStatusURL.isEmpty else { return nil }
        let request = CodeStatusRequest(status: "wid", wid: accessCode)
        return try Session(
            caller.decode(.codeStatus, try caller.send(.codeStatus, .post, settings.codeStatusURL, request)))
    }

    func report(_ request: CodeStatusRequest, until deadline: Deadline?, _ caller: Caller) throws(SDKError) {
        guard !settings.codeStatusURL.isEmpty else { return }
        _ = try caller.send(.codeStatus, .post, settings.codeStatusURL, request, until: deadline)
    }
}

/// The requests of this wire.
extension Call {
    package static let verification = Call("verification", refusal: .verificationFailed)
    package static let verificationConfirmation = Call("confirmation of the user id", refusal: .verificationFailed)
    package static let register = Call("register", meanings: [403: .identityNotAuthorized])
    /// ``register`` at a MIRACL MFA server.
    package static let registerMFA = Call(
        "register", meanings: [403: .identityNotAuthorized, 404: .registrationExpired])
    package static let signature = Call(
        "first client secret share", meanings: [400: .identityNotVerified, 401: .identityNotVerified])
    /// ``signature`` at a MIRACL MFA server.
    package static let signatureMFA = Call(
        "first client secret share",
        meanings: [400: .identityNotVerified, 401: .identityNotVerified, 404: .registrationExpired])
    package static let secondClientSecret = Call(
        "second client secret share", isIdempotent: true, meanings: [408: .requestExpired])
    package static let setupDone = Call("end of the registration")
    package static let timePermit = Call("first time permit share", isIdempotent: true, meanings: [410: .revoked])
    /// Not repeated, because the second D-TA is asked instead.
    package static let permitStorage = Call("permit storage")
    package static let secondTimePermit = Call(
        "second time permit share", isIdempotent: true, meanings: [410: .revoked])
    package static let codeStatus = Call("code status")
    package static let pass1 = Call("pass 1")
    package static let pass2 = Call("pass 2")
    package static let authenticate = Call(
        "authenticate",
        meanings: [
            401: .incorrectPIN, 403: .identityNotAuthorized, 408: .requestExpired, 409: .clientSecretExpired,
            412: .incorrectAccessNumber,
        ], lastAttempt: 410)
    package static let logout = Call("logout")
    package static let signingRegister = Call("registration of the signing key", meanings: [408: .requestExpired])
    package static let secondSigningShare = Call(
        "second signing secret share", isIdempotent: true, meanings: [408: .requestExpired])
}

/// Throws if the share is not a point. Such a share must not be kept, because it would make all later steps fail.
func checkedShare(_ index: Int, _ share: SecretHex, _ call: Call) throws(SDKError) -> Share {
    guard share.secret.count == MPinSize.g1 else {
        throw SDKError(.responseParseError, "\(call.name): the share has not \(MPinSize.g1) bytes")
    }
    guard Server.isPoint(share.secret.span) else {
        throw SDKError(.cryptoError, "\(call.name): the share is no point")
    }
    return Share(index: index, share.secret)
}

/// Throws if the server names another curve for the key.
func checkCurve(_ name: String?, _ call: Call) throws(SDKError) {
    guard name == nil || name == "BN254CX" else {
        throw SDKError(.cryptoError, "\(call.name): keys on another curve than BN254CX")
    }
}

extension String {
    /// The bytes of the G1 point that this hex text contains; nil if it contains none.
    fileprivate var point: SecretBytes? { SecretBytes(utf8: self).point }
}

extension SecretBytes {
    /// The bytes of the G1 point that this hex text contains; nil if it contains none. White space around the text is
    /// ignored.
    fileprivate var point: SecretBytes? {
        let digits = span
        var (start, end) = (0, digits.count)
        while start < end, digits[start] <= 32 { start += 1 }
        while end > start, digits[end - 1] <= 32 { end -= 1 }
        guard end - start == 2 * MPinSize.g1 else { return nil }
        return SecretBytes(hex: digits.extracting(start..<end))
    }
}

extension Session {
    /// Reads the details of a code. Servers spell the member names in different ways, so upper and lower case count as
    /// equal, and if a member is empty, its other name is tried.
    init(_ answer: JSONValue) throws(SDKError) {
        guard case .object(let members) = answer else {
            throw SDKError(.responseParseError, "\(Call.codeStatus.name): not a JSON object")
        }
        func text(_ names: String...) -> String {
            for (name, value) in members {
                if case .string(let text) = value, !text.isEmpty, names.contains(name.lowercased()) { return text }
            }
            return ""
        }
        isRegistrationOnly = members["registerOnly"] == .bool(true)
        proposedUserID = text("prerollid")
        applicationName = text("appname")
        applicationIconURL = text("applogourl", "appiconurl")
        customerID = text("customerid")
        customerName = text("customername")
        customerIconURL = text("customerlogourl", "customericonurl")
        clientID = text("clientid")
        redirectURI = text("redirecturi")
        place = SessionPlace(
            screenAddress: text("browseraddress"), screenProgram: text("browserprogram"),
            siteAddress: text("siteaddress"))
    }
}

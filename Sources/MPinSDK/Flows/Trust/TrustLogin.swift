import MPinCrypto
import MPinHTTP
package import MPinSecrets
import MPinWire

/// Logins at a MIRACL Trust project (TRUST wire sections 4.8 to 4.12). PINs are passed as ASCII digits.
extension SDK {
    /// Logs in to the application itself and returns a JWT for its own server, as UTF-8. ``User/jwt`` has it, too.
    package func authenticate(_ user: User, pin: Span<UInt8>) throws(SDKError) -> SecretBytes {
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            let jwt = try core.logIn(user, pin, .jwt, caller).token()
            user.update { $0.jwt = jwt }
            return jwt.secret
        }
    }

    /// Logs in the session of a browser that shows a QR code, or that has opened this app by a link. First tells its
    /// page who is about to log in.
    package func authenticate(_ user: User, sessionURL: String, pin: Span<UInt8>) throws(SDKError) {
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            try core.logIn(user, pin, sessionURL: sessionURL, caller)
        }
    }

    /// Logs in the session of a browser that has sent a push message. `projectID` is nil if the message has none.
    package func authenticate(
        pushProjectID projectID: String?, userID: String, sessionURL: String, pin: Span<UInt8>
    ) throws(SDKError) {
        try perform(pinOf: nil, pin) { core, caller, pin throws(SDKError) in
            let project = try core.currentProject()
            guard projectID == nil || projectID == project.id else {
                throw SDKError(.projectMismatch, "the message is of another project")
            }
            guard let user = try core.user(userID, customerID: project.id, appID: nil), user.record.token != nil else {
                throw SDKError(.userNotFound, "this device has no such user")
            }
            defer { user.forgetFactors() }
            try core.logIn(user, pin, sessionURL: sessionURL, caller)
        }
    }

    /// Logs in and returns a QuickCode, with which the user registers another device.
    package func generateQuickCode(_ user: User, pin: Span<UInt8>) throws(SDKError) -> QuickCode {
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            let jwt = try core.logIn(user, pin, .quickCode, caller).token()
            return try QuickCode(try core.currentProject().quickCode(jwt, caller))
        }
    }

    /// Signs a hash of 1 to 256 bytes now. The server checks the PIN first and counts wrong ones.
    package func signTrust(
        _ user: User, hash: Span<UInt8>, pin: Span<UInt8>
    ) throws(SDKError) -> Signature {
        let hash = hash.withUnsafeBufferPointer { Array($0) }
        return try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            try core.sign(user, hash, pin, caller)
        }
    }

    /// Signs what a session's page asks for, and gives the signature to the page. `hash` is the one that the user has
    /// agreed to.
    package func signSession(
        _ user: User, sessionURL: String, hash: Span<UInt8>, pin: Span<UInt8>
    ) throws(SDKError) {
        let hash = hash.withUnsafeBufferPointer { Array($0) }
        try perform(pinOf: user, pin) { core, caller, pin throws(SDKError) in
            let accessID = try accessID(of: sessionURL)
            let signature = try core.sign(user, hash, pin, caller)
            let request = TrustCodeStatusRequest(
                wid: accessID, status: "signed", signature: try signature.sealed(hash))
            try core.currentProject().report(request, caller)
        }
    }
}

/// A code that registers another device of the same user at a MIRACL Trust project.
public struct QuickCode: Sendable, Equatable {
    /// The code, which the user types in on the other device.
    public let code: String
    /// When the code expires, in seconds since 1970.
    public let expireTime: Int64
    /// How long the code is valid, in seconds.
    public let ttlSeconds: Int32

    init(_ answer: TrustQuickCodeResponse) throws(SDKError) {
        // Programs print the code, and users type it.
        guard 1...63 ~= answer.code.utf8.count, answer.code.utf8.allSatisfy({ 33...126 ~= $0 }) else {
            throw SDKError(.responseParseError, "\(Call.trustQuickCode.name): no code")
        }
        code = answer.code
        expireTime = answer.expireTime
        ttlSeconds = Int32(clamping: answer.ttlSeconds)
    }
}

extension Core {
    /// A login that has succeeded: the server's answer, and the secret that it was done with, which a renewal may have
    /// made just now.
    struct TrustLogin {
        let answer: TrustAuthenticateResponse
        let credential: Credential
        let number: PINNumber

        /// The JWT. Throws if the server gave none.
        func token() throws(SDKError) -> SecretText {
            guard let jwt = answer.jwt, jwt.count > 0, jwt.isVisible else {
                throw SDKError(.responseParseError, "\(Call.trustAuthenticate.name): no jwt")
            }
            return jwt
        }
    }

    /// Logs in, and renews the secret if the server asks for it.
    func logIn(
        _ user: User, _ pin: SecretBytes, _ scope: TrustWire.Scope, accessID: String? = nil, _ caller: Caller
    ) throws(SDKError) -> TrustLogin {
        let factors = user.takeFactors()
        let project = try project(of: user, allows: .authenticationFinished)
        user.update { content in
            content.provenPIN = nil
            content.jwt = nil
        }
        let credential = try Credential(user.record)
        let number = try PINNumber(pin, factors, credential.mapping, length: user.record.pinLength)
        var login = TrustLogin(
            answer: try prove(user, credential, number, scope, accessID, project, caller), credential: credential,
            number: number)
        if let renewal = login.answer.dvsRegister {
            let number = try PINNumber(pin, factors, Self.renewedMapping, length: user.record.pinLength)
            login = try logInRenewed(user, credential, number, renewal, scope, accessID, project, caller)
        }
        // The hash is made outside of `update`, because the program's own random generator may read the user.
        let provenPIN = ProvenPIN(login.number, random: random)
        user.update { $0.provenPIN = provenPIN }
        return login
    }

    /// Does both passes, and records what the server said about the identity.
    private func prove(
        _ user: User, _ credential: Credential, _ number: PINNumber, _ scope: TrustWire.Scope, _ accessID: String?,
        _ project: TrustWire, _ caller: Caller
    ) throws(SDKError) -> TrustAuthenticateResponse {
        do throws(SDKError) {
            let proof = try Proof(credential, number, User.Login(), random: random)
            let answer = try project.logIn(proof, credential, scope, accessID: accessID, caller)
            setState(.registered, of: user)
            return answer
        } catch {
            if error.status == .incorrectPIN { setState(.registered, of: user) }
            guard error.status == .revoked, let failure = setState(.revoked, of: user) else { throw error }
            throw error.with(adding: failure.text)
        }
    }

    /// Stores the state, if it is another one. If the store fails, changes it in memory only and returns the error.
    @discardableResult
    private func setState(_ state: UserState, of user: User) -> SDKError? {
        guard user.state != state else { return nil }
        return change(user) { $0.state = state.name }
    }

    /// Renews the secret (TRUST wire section 4.11) and logs in with the new one. The PIN stays the same; `number` is its
    /// number under ``renewedMapping``.
    private func logInRenewed(
        _ user: User, _ former: Credential, _ number: PINNumber, _ renewal: TrustRenewal, _ scope: TrustWire.Scope,
        _ accessID: String?, _ project: TrustWire, _ caller: Caller
    ) throws(SDKError) -> TrustLogin {
        log?(.info, "the server asks for a new secret")
        guard renewal.curve == "BN254CX" else { throw TrustWire.unsupportedCurve(.trustAuthenticate) }
        let formerRecord = user.record
        let made = try enrol(user.id, renewal.token, project, caller)
        let signing = try made.key.signing(number, Self.renewedMapping)
        try save(user) { record throws(SDKError) in
            guard let stored = record, try Self.holds(stored, former) else {
                throw SDKError(.flowError, "the token has been changed meanwhile")
            }
            // The new M-Pin ID contains its own verification type.
            record?.verificationType = nil
            record?.setKeyPair(signing)
        }
        let credential = try Credential(signing)
        do throws(SDKError) {
            let proof = try Proof(credential, number, User.Login(), random: random)
            let answer = try project.logIn(proof, credential, scope, accessID: accessID, caller)
            guard answer.dvsRegister == nil else {
                throw SDKError(.responseParseError, "authenticate: a new secret is to be renewed again")
            }
            return TrustLogin(answer: answer, credential: credential, number: number)
        } catch {
            guard error.status == .incorrectPIN else { throw error }
            throw restoreSecrets(user, formerRecord, credential, error)
        }
    }

    fileprivate func logIn(
        _ user: User, _ pin: SecretBytes, sessionURL: String, _ caller: Caller
    ) throws(SDKError) {
        let accessID = try accessID(of: sessionURL)
        let project = try project(of: user, allows: .authenticationFinished)
        // A PIN that cannot be right is refused before anything is sent.
        try PINDigits.check(pin, length: user.record.pinLength)
        try announce(user, accessID, project, caller)
        _ = try logIn(user, pin, .browser, accessID: accessID, caller)
    }

    /// Tells the session's page who is about to log in. Takes at most half of the time that is left, and at most 5
    /// seconds. A failure does not matter, unless the session is gone: then no PIN is spent on it.
    private func announce(
        _ user: User, _ accessID: String, _ project: TrustWire, _ caller: Caller
    ) throws(SDKError) {
        let half = UInt32(clamping: min(caller.deadline.remainingMilliseconds() / 2, 5000))
        let request = TrustCodeStatusRequest(wid: accessID, status: "user", userID: user.id)
        do throws(SDKError) {
            try project.report(request, until: .after(milliseconds: half), caller)
        } catch {
            if error.status == .canceled || error.status == .sessionInvalid { throw error }
        }
    }

    /// Proves the PIN to the server, and then signs on this device.
    fileprivate func sign(
        _ user: User, _ hash: [UInt8], _ pin: SecretBytes, _ caller: Caller
    ) throws(SDKError) -> Signature {
        _ = try project(of: user, allows: .authenticationFinished)
        guard 1...256 ~= hash.count else { throw SDKError(.invalidArgument, "a hash has 1 to 256 bytes") }
        guard user.record.signing != nil else { throw SDKError(.flowError, "the user has no key pair to sign with") }
        let login = try logIn(user, pin, .signing, caller)
        let timestamp = try now() / 1000
        guard timestamp > 0, timestamp <= UInt32.max else {
            throw SDKError(.flowError, "the clock is not in seconds that can be signed")
        }
        return try signature(login.credential, login.number, hash, timestamp)
    }
}

extension Signature {
    /// The signature for a session's page: base64 of its JSON text (TRUST wire section 4.13).
    fileprivate func sealed(_ hash: [UInt8]) throws(SDKError) -> String {
        let message = TrustSignature(
            mpinId: mpinID, u: Hex.encode(u), v: Hex.encode(v), publicKey: Hex.encode(publicKey),
            hash: Hex.encode(hash), dtas: dtas, timestamp: timestamp)
        guard let text = try? JSON.encode(message) else { throw SDKError(.cryptoError, "signature: no JSON text") }
        return String(decoding: base64(text.plainBytes), as: UTF8.self)
    }
}

extension SecretText {
    /// Whether all characters are visible ASCII.
    fileprivate var isVisible: Bool {
        let bytes = secret.span
        return bytes.indices.allSatisfy { 33...126 ~= bytes[$0] }
    }
}

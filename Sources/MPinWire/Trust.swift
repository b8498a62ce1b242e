// The messages of the MIRACL Trust wire, generation 4 (TRUST wire section 4). Members that the server does not use are
// left out. Text members that a client leaves out are nil.

/// POST /rps/v2/session (TRUST wire section 4.1).
package struct TrustSessionRequest: Codable, Sendable {
    package var projectId: String?
    package var userId: String?
    package var description: String?
    /// What the phone is to sign, in hex.
    package var hash: String?

    package init(projectId: String?, userId: String?, description: String?, hash: String?) {
        self.projectId = projectId
        self.userId = userId
        self.description = description
        self.hash = hash
    }
}

/// The answer to ``TrustSessionRequest``.
package struct TrustSessionResponse: Codable, Sendable {
    package var webOTT: String
    package var accessURL: String
    package var qrURL: String

    package init(webOTT: String, accessURL: String, qrURL: String) {
        self.webOTT = webOTT
        self.accessURL = accessURL
        self.qrURL = qrURL
    }
}

/// POST /rps/v2/access (TRUST wire section 4.2).
package struct TrustAccessRequest: Codable, Sendable {
    package var webOTT: String
}

/// The answer to ``TrustAccessRequest``.
package struct TrustAccessResponse: Codable, Sendable {
    package var status: String
    package var statusCode = 0
    package var userId: String
    package var redirectURL: String?
    /// Base64 of the JSON text of a ``TrustSignature``, in sessions that are signed.
    package var signature: String?

    package init(status: String, userId: String, redirectURL: String? = nil, signature: String? = nil) {
        self.status = status
        self.userId = userId
        self.redirectURL = redirectURL
        self.signature = signature
    }
}

/// The member by which a page says which user it expects. Clients before client-js 6.2 write `prerollid`.
package struct TrustPreroll: Decodable, Sendable {
    /// Nil if the page expects nobody in particular.
    package let userID: String?

    fileprivate enum CodingKeys: String, CodingKey { case prerollId, prerollid }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        userID =
            try members.decodeIfPresent(String.self, forKey: .prerollId)
            ?? members.decodeIfPresent(String.self, forKey: .prerollid)
    }
}

/// POST /pushauth (TRUST wire section 4.3).
package struct TrustPushRequest: Decodable, Sendable {
    /// The user id.
    package let prerollId: String

    package init(from decoder: any Decoder) throws {
        guard let id = try TrustPreroll(from: decoder).userID else {
            let key = TrustPreroll.CodingKeys.prerollId
            throw DecodingError.keyNotFound(key, .init(codingPath: [], debugDescription: "missing"))
        }
        prerollId = id
    }
}

/// The answer to ``TrustPushRequest``.
package struct TrustPushResponse: Codable, Sendable {
    package var webOTT: String

    package init(webOTT: String) { self.webOTT = webOTT }
}

/// What a push brings to a phone (TRUST wire section 2.2), and the push token by which it gets there.
package struct TrustPush: Codable, Sendable {
    package var projectID: String
    package var userID: String
    package var qrURL: String
    package var pushToken: String

    package init(projectID: String, userID: String, qrURL: String, pushToken: String) {
        self.projectID = projectID
        self.userID = userID
        self.qrURL = qrURL
        self.pushToken = pushToken
    }
}

/// POST /rps/v2/codeStatus (TRUST wire section 4.13).
package struct TrustCodeStatusRequest: Codable, Sendable {
    package var wid: String
    package var status: String
    package var userId: String?
    /// Base64 of the JSON text of a ``TrustSignature``, with the status `signed`.
    package var signature: String?
}

/// The answer to a ``TrustCodeStatusRequest`` with the status `wid`. The members of the project are those that older
/// native clients need.
package struct TrustSessionDetails: Codable, Sendable, TellsPlace {
    package var description: String
    package var prerollId: String
    package var projectId: String
    package var hash: String
    package var projectName: String
    package var projectLogoURL = ""
    package var pinLength: Int
    package var verificationMethod = "standardEmail"
    package var verificationURL = ""
    package var verificationCustomText = ""
    package var identityType = "email"
    package var identityTypeLabel = ""
    package var enableRegistrationCode: Bool
    package var limitRegCodeVerified: Bool
    package var browserAddress: String?
    package var browserProgram: String?
    package var siteAddress: String?
    /// Our own members about who asks for the login: the name with which the operator has registered the client or project,
    /// and that one's words about the login, which nobody has checked. Each is absent if there is none.
    package var siteName: String?
    package var siteText: String?

    package init(
        description: String, prerollId: String, hash: String, projectId: String, projectName: String, pinLength: Int,
        enableRegistrationCode: Bool, limitRegCodeVerified: Bool
    ) {
        self.description = description
        self.prerollId = prerollId
        self.hash = hash
        self.projectId = projectId
        self.projectName = projectName
        self.pinLength = pinLength
        self.enableRegistrationCode = enableRegistrationCode
        self.limitRegCodeVerified = limitRegCodeVerified
    }
}

/// The answer to a ``TrustCodeStatusRequest`` with another status.
package struct TrustStatusResponse: Codable, Sendable {
    package var status = "OK"
    package var message: String

    package init(message: String = "") { self.message = message }
}

/// POST /verification/email (TRUST wire section 4.4).
package struct TrustVerificationRequest: Codable, Sendable {
    package var userId: String
    package var projectId: String?
    package var mpinId: String?
    package var accessId: String?
    package var deviceName: String?
    /// The OpenID scopes that the user registers for; empty without OpenID.
    package var scope: [String]?
    /// The OpenID client for which the user registers. Clients before client-js 7 name no project.
    package var clientId: String?
    /// What the client has made for this device; it shows the same at the registration.
    package var deviceTag: String?
}

/// The answer to ``TrustVerificationRequest``.
package struct TrustVerificationResponse: Codable, Sendable {
    /// The second since 1970 before which another mail is refused.
    package var backoff: Int64
    /// `link` or `code`.
    package var method: String

    package init(backoff: Int64, method: String) {
        self.backoff = backoff
        self.method = method
    }
}

/// POST /verification/confirmation (TRUST wire section 4.5).
package struct TrustConfirmationRequest: Codable, Sendable {
    package var userId: String
    package var code: String
}

/// The answer to ``TrustConfirmationRequest``.
package struct TrustConfirmationResponse: Codable, Sendable {
    package var projectId: String
    package var accessId: String
    package var actToken: String
    /// In seconds since 1970.
    package var expireTime: Int64

    package init(projectId: String, accessId: String, actToken: String, expireTime: Int64) {
        self.projectId = projectId
        self.accessId = accessId
        self.actToken = actToken
        self.expireTime = expireTime
    }
}

/// POST /registration (TRUST wire section 4.6).
package struct TrustRegistrationRequest: Codable, Sendable {
    package var userId: String
    package var deviceName: String?
    package var activationToken: String
    /// A G2 point: 128 bytes in hex.
    package var publicKey: String
    /// Where push messages reach the device.
    package var pushToken: String?
    /// What the client has made for this device.
    package var deviceTag: String?
}

/// The answer to ``TrustRegistrationRequest``.
package struct TrustRegistrationResponse: Codable, Sendable {
    package var mpinId: String
    package var projectId: String
    /// Base64 of a JSON list with a name for each D-TA, 64 hex digits.
    package var dtas: String
    package var curve = "BN254CX"
    package var secretUrls: [String]
    package var pinLength: Int
    /// `standardEmail`, or `fullCustom` if the project's back end has verified the user.
    package var verificationType: String
    package var nowTime: String

    package init(
        mpinId: String, projectId: String, dtas: String, secretUrls: [String], pinLength: Int,
        verificationType: String, nowTime: String
    ) {
        self.verificationType = verificationType
        self.mpinId = mpinId
        self.projectId = projectId
        self.dtas = dtas
        self.secretUrls = secretUrls
        self.pinLength = pinLength
        self.nowTime = nowTime
    }
}

/// The answer to GET of a secret URL (TRUST wire section 4.7).
package struct TrustSecretResponse: Codable, Sendable {
    /// One D-TA's share of the client secret, a G1 point of 65 bytes.
    package var dvsClientSecret: SecretHex
    /// In seconds since 1970.
    package var createdAt: Int64
    package var message = "OK"
    package var version = "1"

    package init(dvsClientSecret: SecretHex, createdAt: Int64) {
        self.dvsClientSecret = dvsClientSecret
        self.createdAt = createdAt
    }
}

/// POST /rps/v2/pass1 (TRUST wire section 4.8).
package struct TrustPass1Request: Codable, Sendable {
    package var scope: [String]
    package var mpin_id: String
    /// A G2 point: 128 bytes in hex. Empty or left out for identities without a key pair.
    package var publicKey: String?
    /// A G1 point: 65 bytes in hex.
    package var U: String
    /// The names of the D-TAs that made the secret, in base64.
    package var dtas: String?
    /// Empty, because this wire has no time permits.
    package var UT: String?
}

extension TrustPass1Request: PlainMessage {
    package init?(plain members: PlainMembers) {
        guard members.consist(ofTexts: ["mpin_id", "publicKey", "U", "dtas", "UT"], others: ["scope"]),
            case .array(let words) = members["scope"], let id = members.text("mpin_id"), let u = members.text("U")
        else { return nil }
        let scope = words.compactMap { if case .string(let word) = $0 { word } else { nil } }
        guard scope.count == words.count else { return nil }
        self.init(
            scope: scope, mpin_id: id, publicKey: members.text("publicKey"), U: u, dtas: members.text("dtas"),
            UT: members.text("UT"))
    }
}

/// The answer to ``TrustPass1Request``.
package struct TrustPass1Response: Codable, Sendable {
    package var y: String

    package init(y: String) { self.y = y }

    /// The answer as a value, which is written faster.
    package var json: JSONValue { .object(["y": .string(y)]) }
}

/// POST /rps/v2/pass2 (TRUST wire section 4.9).
package struct TrustPass2Request: Codable, Sendable {
    package var mpin_id: String
    /// A G1 point: 65 bytes in hex.
    package var V: String
    /// The access id of the session; left out or "0" if there is none.
    package var WID: String?
}

extension TrustPass2Request: PlainMessage {
    package init?(plain members: PlainMembers) {
        guard members.consist(ofTexts: ["mpin_id", "V", "WID"]), let id = members.text("mpin_id"),
            let v = members.text("V")
        else { return nil }
        self.init(mpin_id: id, V: v, WID: members.text("WID"))
    }
}

/// The answer to ``TrustPass2Request``.
package struct TrustPass2Response: Codable, Sendable {
    package var authOTT: String

    package init(authOTT: String) { self.authOTT = authOTT }

    /// The answer as a value, which is written faster.
    package var json: JSONValue { .object(["authOTT": .string(authOTT)]) }
}

/// POST /rps/v2/authenticate (TRUST wire section 4.10).
package struct TrustAuthenticateRequest: Codable, Sendable {
    package var authOTT: String
    /// The kind of the secrets that a renewal makes: `dvs`, those with a key pair. Clients that cannot renew their secret
    /// leave it out.
    package var wam: String?
}

extension TrustAuthenticateRequest: PlainMessage {
    package init?(plain members: PlainMembers) {
        guard members.consist(ofTexts: ["authOTT", "wam"]), let authOTT = members.text("authOTT") else { return nil }
        self.init(authOTT: authOTT, wam: members.text("wam"))
    }
}

/// The answer to ``TrustAuthenticateRequest`` after a right PIN.
package struct TrustAuthenticateResponse: Codable, Sendable {
    package var status = 200
    package var message = "OK"
    package var jwt: SecretText?
    /// The authorization code of a login with the scope `authcode`.
    package var code: String?
    /// The one-time password of a login with the scope `otp`, or the QuickCode of one with the scope `reg-code` for clients
    /// before client-js 8.4. Six digits.
    package var otp: SecretText?
    /// The same, under the name that it had at MIRACL.
    package var OTP: SecretText?
    /// When the one-time password ends, in milliseconds since 1970, as ``nowTime``. Nil if there is none.
    package var expireTime: Int64?
    package var ttlSeconds: Int?
    package var nowTime: Int64?
    /// If it is there, the device must register again, and then repeat the login.
    package var dvsRegister: TrustRenewal?

    /// A one-time password, which is good for some seconds from `now` (seconds since 1970) on.
    package struct Password {
        let text: String
        let seconds: Int
        let now: Int64

        package init(text: String, seconds: Int, now: Int64) {
            self.text = text
            self.seconds = seconds
            self.now = now
        }
    }

    package init(jwt: String?, code: String? = nil, password: Password? = nil) {
        self.jwt = jwt.map { SecretText($0) }
        self.code = code
        guard let password else { return }
        otp = SecretText(password.text)
        OTP = otp
        expireTime = (password.now + Int64(password.seconds)) * 1000
        ttlSeconds = password.seconds
        nowTime = password.now * 1000
    }

    package init(renewal token: String) {
        message = "renew"
        dvsRegister = TrustRenewal(token: token)
    }

    /// The answer as a value, which is written faster. It is for servers, because it is not wiped.
    package var json: JSONValue {
        var members: [String: JSONValue] = ["status": .int(status), "message": .string(message)]
        if let jwt { members["jwt"] = .string(jwt.plainText) }
        if let code { members["code"] = .string(code) }
        if let otp { members["otp"] = .string(otp.plainText) }
        if let OTP { members["OTP"] = .string(OTP.plainText) }
        if let expireTime { members["expireTime"] = .int(Int(expireTime)) }
        if let ttlSeconds { members["ttlSeconds"] = .int(ttlSeconds) }
        if let nowTime { members["nowTime"] = .int(Int(nowTime)) }
        if let dvsRegister {
            members["dvsRegister"] = .object(["token": .string(dvsRegister.token), "curve": .string(dvsRegister.curve)])
        }
        return .object(members)
    }
}

/// How a device renews its secret (TRUST wire section 4.11).
package struct TrustRenewal: Codable, Sendable {
    /// The activation token of the new registration.
    package var token: String
    package var curve = "BN254CX"

    package init(token: String) { self.token = token }
}

/// POST /verification/quickcode (TRUST wire section 4.12).
package struct TrustQuickCodeRequest: Codable, Sendable {
    package var projectId: String?
    /// The token of a login with the scope `reg-code`.
    package var jwt: SecretText
    package var deviceName: String?
}

/// The answer to ``TrustQuickCodeRequest``.
package struct TrustQuickCodeResponse: Codable, Sendable {
    /// Six digits.
    package var code: String
    /// In seconds since 1970.
    package var expireTime: Int64
    package var ttlSeconds: Int

    package init(code: String, expireTime: Int64, ttlSeconds: Int) {
        self.code = code
        self.expireTime = expireTime
        self.ttlSeconds = ttlSeconds
    }
}

/// The answer to a refused request (TRUST wire section 3).
package struct TrustErrorResponse: Codable, Sendable {
    package var requestID: String
    package var error: String
    package var info: String
    package var context: [String: String]?

    package init(requestID: String, error: String, info: String, context: [String: String]) {
        self.requestID = requestID
        self.error = error
        self.info = info
        self.context = context.isEmpty ? nil : context
    }
}

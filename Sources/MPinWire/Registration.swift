/// The version that every RPS answer carries.
package let wireVersion = "0.3"

/// PUT registerURL and PUT registerURL/<mpinId> (wire section 6.2).
package struct RegisterRequest: Codable, Sendable {
    /// Never empty.
    package var userId: String
    /// 1 for a mobile client, 0 for a browser; old clients may send it as text.
    package var mobile: LenientInt?
    package var deviceName: String?
    /// Opaque to the RPS, handed to the RPA.
    package var userData: String?
    /// The `regOTT`, 32 hex digits; required to restart a registration.
    package var registrationToken: SecretText?
    /// A registration code or an activation token; the oldest servers drop it.
    package var activateCode: String?
    /// A browser's session (MIRACL MFA).
    package var wid: String?
    /// Device identifier for push messages (MIRACL MFA).
    package var pushToken: String?

    package init(
        userId: String, mobile: Int = 1, deviceName: String? = nil, userData: String? = nil,
        registrationToken: SecretText? = nil, activateCode: String? = nil, wid: String? = nil, pushToken: String? = nil
    ) {
        self.userId = userId
        self.mobile = LenientInt(mobile)
        self.deviceName = deviceName
        self.userData = userData
        self.registrationToken = registrationToken
        self.activateCode = activateCode
        self.wid = wid
        self.pushToken = pushToken
    }

    private enum CodingKeys: String, CodingKey {
        case userId, mobile, deviceName, userData, activateCode, wid, pushToken
        case registrationToken = "regOTT"
    }
}

/// The answer to ``RegisterRequest``.
package struct RegisterResponse: Codable, Sendable {
    /// Hex of the M-Pin ID's JSON text.
    package var mpinId: String
    /// One-time token of this registration, the `regOTT`: 32 hex digits.
    package var registrationToken: SecretText
    /// Whether the identity is confirmed already.
    package var active: Bool
    /// ISO 8601 in UTC without a zone, with microseconds; see ``WireTime`` for what other servers write.
    package var expireTime: String?
    package var nowTime: String?
    /// Names of the customer and the application (MIRACL MFA).
    package var customerId: String?
    package var appId: String?
    /// Digits of a PIN (MIRACL MFA and Trust).
    package var pinLength: Int?
    /// How the user id was verified (MIRACL Trust).
    package var verificationType: String?
    /// For the person who registers; no old server says anything here.
    package var message: String?

    package init(
        mpinId: String, regOTT: String, active: Bool, expireTime: String, nowTime: String, message: String? = nil
    ) {
        self.mpinId = mpinId
        registrationToken = SecretText(regOTT)
        self.active = active
        self.expireTime = expireTime
        self.nowTime = nowTime
        self.message = message
    }

    /// What a registration can do without may be missing or of any type. Without `active` it waits for a confirmation.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        mpinId = try container.decode(String.self, forKey: .mpinId)
        registrationToken = try container.decode(SecretText.self, forKey: .registrationToken)
        active = (try? container.decode(Bool.self, forKey: .active)) ?? false
        expireTime = Self.text(container, .expireTime)
        nowTime = Self.text(container, .nowTime)
        customerId = Self.text(container, .customerId)
        appId = Self.text(container, .appId)
        verificationType = Self.text(container, .verificationType)
        message = Self.text(container, .message)
        pinLength = (try? container.decode(LenientInt.self, forKey: .pinLength))?.value
    }

    private enum CodingKeys: String, CodingKey {
        case mpinId, active, expireTime, nowTime, customerId, appId, pinLength, verificationType, message
        case registrationToken = "regOTT"
    }

    /// The token in memory that is not wiped.
    package var regOTT: String { registrationToken.plainText }

    private static func text(_ container: KeyedDecodingContainer<CodingKeys>, _ key: CodingKeys) -> String? {
        if let text = try? container.decode(String.self, forKey: key) { return text }
        return (try? container.decode(Int64.self, forKey: key)).map(String.init)
    }
}

/// GET signatureURL/<mpinId>?regOTT= (wire section 6.3): the first client secret share and the signed query for the
/// second one.
package struct SignatureResponse: Codable, Sendable {
    /// G1 point, 65 bytes.
    package var clientSecretShare: SecretHex
    /// URL-encoded query that the client appends unread to `certivoxURL + "clientSecret?"`.
    package var params: String
    /// True: the server wants to hear by ``SetupDoneRequest`` that the client has got everything. Old servers do not say.
    package var setupDone: Bool?

    package init(clientSecretShare: SecretHex, params: String, setupDone: Bool? = nil) {
        self.clientSecretShare = clientSecretShare
        self.params = params
        self.setupDone = setupDone
    }
}

/// POST setupDoneURL/<mpinId> (wire section 6.4): the client has its token, and nobody needs the shares any more. Old
/// clients send other bodies, or none.
package struct SetupDoneRequest: Codable, Sendable {
    /// The `regOTT`.
    package var registrationToken: SecretText

    package init(registrationToken: SecretText) { self.registrationToken = registrationToken }

    private enum CodingKeys: String, CodingKey { case registrationToken = "regOTT" }
}

/// What the hex of a M-Pin ID spells (wire section 4). Its hash is always taken over the bytes as they came, so an ID is
/// never written anew from this.
package struct MPinIDContent: Codable, Sendable {
    package var mobile: Int
    /// `YYYY-MM-DD HH:MM:SS.ffffff`, UTC.
    package var issued: String
    package var userID: String
    /// 16 random bytes in hex.
    package var salt: String

    package init(mobile: Int, issued: String, userID: String, salt: String) {
        self.mobile = mobile
        self.issued = issued
        self.userID = userID
        self.salt = salt
    }
}

/// POST RPAVerifyUserURL, from the RPS to the RPA (wire section 8.1).
package struct VerifyUserRequest: Codable, Sendable {
    package var userId: String
    package var mpinId: String
    package var mobile: Int
    /// Signature that activates the registration when the RPA hands it back.
    package var activateKey: String
    /// `YYYY-MM-DDTHH:MM:SSZ`.
    package var expireTime: String
    /// True for a restart.
    package var resend: Bool
    package var deviceName: String
    package var userData: String

    package init(
        userId: String, mpinId: String, mobile: Int, activateKey: String, expireTime: String, resend: Bool,
        deviceName: String, userData: String
    ) {
        self.userId = userId
        self.mpinId = mpinId
        self.mobile = mobile
        self.activateKey = activateKey
        self.expireTime = expireTime
        self.resend = resend
        self.deviceName = deviceName
        self.userData = userData
    }
}

/// The answer to ``VerifyUserRequest``; an empty body means not forced.
package struct VerifyUserResponse: Codable, Sendable {
    package var forceActivate: Bool?
    /// For the person who registers.
    package var message: String?

    package init(forceActivate: Bool, message: String? = nil) {
        self.forceActivate = forceActivate
        self.message = message
    }
}

/// Where a registration stands, for the page of its mail link.
package enum RegistrationState: String, Codable, Sendable {
    /// It waits for its confirmation.
    case pending
    /// It is confirmed, and the client has not fetched its shares.
    case confirmed
    /// The client has fetched them.
    case finished
    /// It has expired or was deleted, or never was.
    case none
}

/// The answer to private GET /registration/<mpinId>, from the RPS to the RPA; old servers do not know it.
package struct RegistrationStateResponse: Codable, Sendable {
    package var state: RegistrationState

    package init(state: RegistrationState) { self.state = state }
}

/// Private POST /user/<mpinId>, and POST /registration/<mpinId>, which deletes it instead, from the RPA to the RPS (wire section 7).
package struct ActivateRequest: Codable, Sendable {
    package var activateKey: String

    package init(activateKey: String) { self.activateKey = activateKey }
}

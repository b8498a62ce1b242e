/// The version in every answer of an RPS.
package let wireVersion = "0.3"

/// PUT registerURL and PUT registerURL/<mpinId> (wire section 6.2).
package struct RegisterRequest: Codable, Sendable {
    /// The user id; never empty.
    package var userId: String
    /// 1 for a mobile client, 0 for a browser; old clients may send it as text.
    package var mobile: LenientInt?
    package var deviceName: String?
    /// A text that the RPS passes on to the RPA without reading it.
    package var userData: String?
    /// The `regOTT`, 32 hex digits; required to restart a registration.
    package var registrationToken: SecretText?
    /// A registration code or an activation token, which replaces the confirmation by mail. The oldest servers ignore
    /// it.
    package var activateCode: String?
    /// The access code of a browser's session (MIRACL MFA).
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
    /// The M-Pin ID: the bytes of its JSON text in hex.
    package var mpinId: String
    /// The one-time token of this registration, the `regOTT`: 32 hex digits.
    package var registrationToken: SecretText
    /// Whether the identity needs no confirmation any more.
    package var active: Bool
    /// When the registration expires: ISO 8601 in UTC without a time zone, with microseconds. See ``WireTime`` for the
    /// forms that other servers use.
    package var expireTime: String?
    /// The time of the server's clock when it answered, in the same form.
    package var nowTime: String?
    /// Names of the customer and the application (MIRACL MFA).
    package var customerId: String?
    package var appId: String?
    /// The number of digits of a PIN (MIRACL MFA and Trust).
    package var pinLength: Int?
    /// How the user id was verified, such as `em` for a mail (MIRACL Trust).
    package var verificationType: String?
    /// A text for the person who registers. Old servers do not send it.
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

    /// Members that a registration does not need may be missing or have any type. If `active` is missing, the
    /// registration needs a confirmation.
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

    /// The member `registrationToken` as text, in memory that is not wiped.
    package var regOTT: String { registrationToken.plainText }

    private static func text(_ container: KeyedDecodingContainer<CodingKeys>, _ key: CodingKeys) -> String? {
        if let text = try? container.decode(String.self, forKey: key) { return text }
        return (try? container.decode(Int64.self, forKey: key)).map(String.init)
    }
}

/// GET signatureURL/<mpinId>?regOTT= (wire section 6.3): the first share of the client secret, and the signed query for
/// the second one.
package struct SignatureResponse: Codable, Sendable {
    /// The first share of the client secret, a G1 point of 65 bytes.
    package var clientSecretShare: SecretHex
    /// URL-encoded query, which the client appends unchanged to `certivoxURL + "clientSecret?"`.
    package var params: String
    /// True if the server wants a ``SetupDoneRequest`` when the client has all shares. Old servers do not send this
    /// member.
    package var setupDone: Bool?

    package init(clientSecretShare: SecretHex, params: String, setupDone: Bool? = nil) {
        self.clientSecretShare = clientSecretShare
        self.params = params
        self.setupDone = setupDone
    }
}

/// POST setupDoneURL/<mpinId> (wire section 6.4): reports that the client has its token and the shares are not needed
/// any more. Old clients send other bodies or none.
package struct SetupDoneRequest: Codable, Sendable {
    /// The one-time token of the registration, the `regOTT`.
    package var registrationToken: SecretText

    package init(registrationToken: SecretText) { self.registrationToken = registrationToken }

    private enum CodingKeys: String, CodingKey { case registrationToken = "regOTT" }
}

/// The content of an M-Pin ID (wire section 4). The hash is always computed from the received bytes, so an ID is never
/// encoded again from this value.
package struct MPinIDContent: Codable, Sendable {
    package var mobile: Int
    /// When the ID was made: `YYYY-MM-DD HH:MM:SS.ffffff`, UTC.
    package var issued: String
    package var userID: String
    /// 16 random bytes in hex, so that each ID is different.
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
    /// A signature of the RPS. The RPA sends it back to activate the registration.
    package var activateKey: String
    /// When the registration expires: `YYYY-MM-DDTHH:MM:SSZ`.
    package var expireTime: String
    /// True if the registration was restarted.
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

/// The answer to ``VerifyUserRequest``. An empty body means that the identity still needs its confirmation.
package struct VerifyUserResponse: Codable, Sendable {
    package var forceActivate: Bool?
    /// A text for the person who registers.
    package var message: String?

    package init(forceActivate: Bool, message: String? = nil) {
        self.forceActivate = forceActivate
        self.message = message
    }
}

/// The state of a registration, for the page of its mail link.
package enum RegistrationState: String, Codable, Sendable {
    /// The registration is not confirmed yet.
    case pending
    /// The registration is confirmed, but the client has not fetched its shares.
    case confirmed
    /// The client has fetched its shares.
    case finished
    /// There is no such registration: it has expired, was deleted, or never existed.
    case none
}

/// The answer to private GET /registration/<mpinId>, from the RPA to the RPS. Old servers do not have this request.
package struct RegistrationStateResponse: Codable, Sendable {
    package var state: RegistrationState
    /// The name of the device that registers, and the address from which it has begun. Nil if they are not known.
    package var deviceName: String?
    package var address: String?

    package init(state: RegistrationState, deviceName: String? = nil, address: String? = nil) {
        self.state = state
        self.deviceName = deviceName
        self.address = address
    }
}

/// Private POST /user/<mpinId>, which activates a registration, and POST /registration/<mpinId>, which deletes it; from
/// the RPA to the RPS (wire section 7).
package struct ActivateRequest: Codable, Sendable {
    package var activateKey: String
    /// Whether the key was only in a mail to the user. Milagro's RPA does not send it.
    package var mailed: Bool?

    package init(activateKey: String, mailed: Bool? = nil) {
        self.activateKey = activateKey
        self.mailed = mailed
    }
}

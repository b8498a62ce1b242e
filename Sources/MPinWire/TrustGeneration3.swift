// The messages of the MIRACL Trust wire that only the clients of generation 3 use (TRUST wire section 7.1).

/// The answer to GET /rps/v2/clientSettings.
package struct TrustSettingsResponse: Codable, Sendable {
    package var registerURL: String
    package var signatureURL: String
    package var mpinAuthServerURL: String
    package var pass1URL: String
    package var pass2URL: String
    package var authenticateURL: String
    package var dvsRegURL: String
    package var verificationURL: String
    package var codeStatusURL: String
    /// Random bytes in hex.
    package var seedValue: String

    /// `base`: the URL of the service.
    package init(base: String, seedValue: String) {
        let wire = base + "/rps/v2"
        registerURL = wire + "/user"
        signatureURL = wire + "/signature"
        mpinAuthServerURL = wire
        pass1URL = wire + "/pass1"
        pass2URL = wire + "/pass2"
        authenticateURL = wire + "/authenticate"
        dvsRegURL = wire + "/dvsregister"
        verificationURL = base + "/verification"
        codeStatusURL = wire + "/codeStatus"
        self.seedValue = seedValue
    }
}

/// PUT /rps/v2/user: the first step of a registration. Members that the server does not use are left out.
package struct TrustUserRequest: Codable, Sendable {
    package var userId: String
    package var deviceName: String?
    /// An activation token or a QuickCode.
    package var activateCode: String?
    /// Where push messages reach the device.
    package var pushToken: String?
}

/// The answer to ``TrustUserRequest``.
package struct TrustUserResponse: Codable, Sendable {
    package var mpinId: String
    /// The token for the second step, 16 bytes in hex.
    package var regOTT: String
    package var projectId: String
    /// Whether the user is verified. It is, because the request has an activation token.
    package var active = true
    package var appId = ""
    /// The older name of ``projectId``.
    package var customerId: String
    /// In seconds since 1970, as ``nowTime``.
    package var expireTime: Int64
    package var nowTime: Int64
    package var pinLength: Int
    /// `standardEmail`, or `fullCustom` if the project's back end has verified the user.
    package var verificationType: String

    package init(
        mpinId: String, regOTT: String, projectId: String, expireTime: Int64, nowTime: Int64, pinLength: Int,
        verificationType: String
    ) {
        self.mpinId = mpinId
        self.regOTT = regOTT
        self.projectId = projectId
        customerId = projectId
        self.expireTime = expireTime
        self.nowTime = nowTime
        self.pinLength = pinLength
        self.verificationType = verificationType
    }
}

/// POST /rps/v2/dvsregister: the renewal of a secret, or the registration of an identity for signatures.
package struct TrustRenewalRequest: Codable, Sendable {
    /// A G2 point: 128 bytes in hex.
    package var publicKey: String
    package var deviceName: String?
    /// The token of ``TrustRenewal``.
    package var dvsRegisterToken: String
}

/// The first share of a client secret: the answer to GET /rps/v2/signature/{mpinId}, and to ``TrustRenewalRequest``.
package struct TrustShareResponse: Codable, Sendable {
    /// The share of an identity with a key pair, a G1 point of 65 bytes.
    package var dvsClientSecretShare: SecretHex?
    /// The share of an identity without one, in its place.
    package var clientSecretShare: SecretHex?
    /// Where to get the second share: ``TrustSecretResponse``, or ``ClientSecretResponse`` without a key pair.
    package var cs2url: String
    package var curve = "BN254CX"
    /// Base64 of a JSON list with a name for each D-TA, 64 hex digits.
    package var dtas: String
    /// The M-Pin ID, in the answer to ``TrustRenewalRequest`` only.
    package var mpinId: String?

    package init(share: SecretHex, hasKeyPair: Bool, cs2url: String, dtas: String, mpinId: String? = nil) {
        dvsClientSecretShare = hasKeyPair ? share : nil
        clientSecretShare = hasKeyPair ? nil : share
        self.cs2url = cs2url
        self.dtas = dtas
        self.mpinId = mpinId
    }
}

/// Leave to register a signing key, in the answer to an authenticate request with scope `dvs` (MIRACL MFA).
package struct SigningLeave: Codable, Sendable {
    package var dvsRegister: Grant

    /// One-time token and the name of the curve that the key must be on.
    package struct Grant: Codable, Sendable {
        package var token: String
        package var curve: String?

        package init(token: String, curve: String? = nil) {
            self.token = token
            self.curve = curve
        }
    }

    package init(dvsRegister: Grant) { self.dvsRegister = dvsRegister }
}

/// POST mpinAuthServerURL/dvsregister (MIRACL MFA): registers a signing key.
package struct SigningRegisterRequest: Codable, Sendable {
    /// G2 point, 128 bytes in hex.
    package var publicKey: String
    package var deviceName: String?
    /// From ``SigningLeave``.
    package var dvsRegisterToken: String

    package init(publicKey: String, deviceName: String? = nil, dvsRegisterToken: String) {
        self.publicKey = publicKey
        self.deviceName = deviceName
        self.dvsRegisterToken = dvsRegisterToken
    }
}

/// The answer to ``SigningRegisterRequest``.
package struct SigningRegisterResponse: Codable, Sendable {
    /// Hex of the M-Pin ID that signs.
    package var mpinId: String
    /// D-TA 1's share: G1 point, 65 bytes.
    package var dvsClientSecretShare: SecretHex
    /// Where D-TA 2 hands out its share.
    package var cs2url: String
    package var curve: String?
    /// Which D-TAs made the shares: base64 of a JSON list.
    package var dtas: String

    package init(mpinId: String, dvsClientSecretShare: SecretHex, cs2url: String, curve: String?, dtas: String) {
        self.mpinId = mpinId
        self.dvsClientSecretShare = dvsClientSecretShare
        self.cs2url = cs2url
        self.curve = curve
        self.dtas = dtas
    }
}

/// GET cs2url: D-TA 2's share.
package struct SigningShareResponse: Codable, Sendable {
    /// G1 point, 65 bytes.
    package var dvsClientSecret: SecretHex

    package init(dvsClientSecret: SecretHex) { self.dvsClientSecret = dvsClientSecret }
}

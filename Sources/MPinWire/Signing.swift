/// The permission to register a signing key, in the answer to an authenticate request with scope `dvs` (MIRACL MFA).
package struct SigningPermission: Codable, Sendable {
    package var dvsRegister: Grant

    /// The one-time token, and the name of the curve for the key.
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

/// The answer to an authenticate request if the identity needs a new secret because the master secret was changed
/// (MIRACL). It contains the permission to register a key pair or, for an identity without one, the first share.
package struct RenewalAnswer: Decodable, Sendable {
    package var dvsRegister: SigningPermission.Grant?
    package var renewSecret: Share?

    /// The first share of the new secret. The PIN stays the same.
    package struct Share: Decodable, Sendable {
        /// The new M-Pin ID in hex; nil if it stays the same.
        package var mpinId: String?
        /// D-TA 1's share: G1 point, 65 bytes.
        package var clientSecretShare: SecretHex
        /// The URL for D-TA 2's share.
        package var cs2url: String
        package var curve: String?
    }

    /// Accepts any JSON value. If it asks for no renewal, both members are nil.
    package init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: CodingKeys.self) else { return }
        dvsRegister = try container.decodeIfPresent(SigningPermission.Grant.self, forKey: .dvsRegister)
        renewSecret = try container.decodeIfPresent(Share.self, forKey: .renewSecret)
    }

    private enum CodingKeys: String, CodingKey { case dvsRegister, renewSecret }
}

/// POST mpinAuthServerURL/dvsregister (MIRACL MFA): registers a signing key.
package struct SigningRegisterRequest: Codable, Sendable {
    /// The public key to register, a G2 point: 128 bytes in hex.
    package var publicKey: String
    package var deviceName: String?
    /// The token of the ``SigningPermission``.
    package var dvsRegisterToken: String

    package init(publicKey: String, deviceName: String? = nil, dvsRegisterToken: String) {
        self.publicKey = publicKey
        self.deviceName = deviceName
        self.dvsRegisterToken = dvsRegisterToken
    }
}

/// The answer to ``SigningRegisterRequest``.
package struct SigningRegisterResponse: Codable, Sendable {
    /// The M-Pin ID that signs, in hex.
    package var mpinId: String
    /// D-TA 1's share: G1 point, 65 bytes.
    package var dvsClientSecretShare: SecretHex
    /// The URL for D-TA 2's share.
    package var cs2url: String
    package var curve: String?
    /// The names of the D-TAs that made the shares: base64 of a JSON list.
    package var dtas: String

    package init(mpinId: String, dvsClientSecretShare: SecretHex, cs2url: String, curve: String?, dtas: String) {
        self.mpinId = mpinId
        self.dvsClientSecretShare = dvsClientSecretShare
        self.cs2url = cs2url
        self.curve = curve
        self.dtas = dtas
    }
}

/// The answer to GET cs2url: D-TA 2's share.
package struct SigningShareResponse: Codable, Sendable {
    /// The share, a G1 point of 65 bytes.
    package var dvsClientSecret: SecretHex

    package init(dvsClientSecret: SecretHex) { self.dvsClientSecret = dvsClientSecret }
}

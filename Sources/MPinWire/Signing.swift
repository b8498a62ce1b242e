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

/// The answer to an authenticate request where the identity needs a new secret, because the master secret was changed
/// (MIRACL): either a leave to register a key pair, or the first share for an identity without one.
package struct RenewalAnswer: Decodable, Sendable {
    package var dvsRegister: SigningLeave.Grant?
    package var renewSecret: Share?

    /// For the same PIN.
    package struct Share: Decodable, Sendable {
        /// Hex; nil where the M-Pin ID stays.
        package var mpinId: String?
        /// D-TA 1's share: G1 point, 65 bytes.
        package var clientSecretShare: SecretHex
        /// Where D-TA 2 hands out its share.
        package var cs2url: String
        package var curve: String?
    }

    /// Any JSON will do that holds neither.
    package init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: CodingKeys.self) else { return }
        dvsRegister = try container.decodeIfPresent(SigningLeave.Grant.self, forKey: .dvsRegister)
        renewSecret = try container.decodeIfPresent(Share.self, forKey: .renewSecret)
    }

    private enum CodingKeys: String, CodingKey { case dvsRegister, renewSecret }
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

/// The answer to GET D-TA/serverSecret (wire section 9).
package struct ServerSecretResponse: Codable, Sendable {
    /// The D-TA's share of the server secret, a G2 point of 128 bytes.
    package var serverSecret: SecretHex
    /// The time when the master share was made, `YYYY-MM-DDTHH:MM:SSZ`.
    package var startTime: String?
    /// The id of the master secret. Old D-TAs have only one and send no id.
    package var keyID: String?
    package var message: String?

    package init(serverSecret: SecretHex, startTime: String, keyID: String) {
        self.serverSecret = serverSecret
        self.startTime = startTime
        self.keyID = keyID
        message = "OK"
    }
}

/// The answer to GET D-TA/keys, for the RPS: the master secrets that the D-TA uses now, oldest first.
package struct MasterKeysResponse: Codable, Sendable {
    package struct Key: Codable, Sendable, Equatable {
        /// A decimal number. Both D-TAs use the same one.
        package var id: String
        /// When the D-TA stops using this master secret because a new one replaces it, `YYYY-MM-DDTHH:MM:SSZ`. Nil for
        /// the current master secret.
        package var servedUntil: String?
        /// SHA-256 of the D-TA's share of the server secret, in hex, which shows whether the share is still the same.
        /// Old D-TAs do not send it.
        package var fingerprint: String?

        package init(id: String, servedUntil: String?, fingerprint: String? = nil) {
            self.id = id
            self.servedUntil = servedUntil
            self.fingerprint = fingerprint
        }
    }

    package var keys: [Key]
    package var message: String?

    package init(keys: [Key]) {
        self.keys = keys
        message = "OK"
    }
}

/// The answer to GET D-TA/clientSecret (wire section 9).
package struct ClientSecretResponse: Codable, Sendable {
    /// The D-TA's share of the client secret, a G1 point of 65 bytes.
    package var clientSecret: SecretHex
    /// The id of the master secret.
    package var keyID: String?
    package var message: String?
    /// In seconds since 1970. The clients of MIRACL expect it, and ``version`` (TRUST wire section 7.2).
    package var createdAt: Int64?
    package var version: String?

    package init(clientSecret: SecretHex, keyID: String, createdAt: Int64) {
        self.clientSecret = clientSecret
        self.keyID = keyID
        self.createdAt = createdAt
        message = "OK"
        version = wireVersion
    }

    private enum CodingKeys: String, CodingKey { case clientSecret, keyID, message, createdAt, version }

    /// Ignores the member `message`, and members that only other servers send.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        clientSecret = try container.decode(SecretHex.self, forKey: .clientSecret)
        keyID = try? container.decode(String.self, forKey: .keyID)
    }
}

/// The answer to GET D-TA/timePermit (wire section 9): the share for today.
package struct TimePermitResponse: Codable, Sendable {
    /// The D-TA's share of the time permit, a G1 point: 65 bytes in hex.
    package var timePermit: String
    /// The id of the master secret.
    package var keyID: String?
    package var message: String?

    package init(timePermit: String, keyID: String) {
        self.timePermit = timePermit
        self.keyID = keyID
        message = "OK"
    }
}

/// The answer to GET D-TA/timePermits (wire section 9): shares by date, from today on.
package struct TimePermitsResponse: Codable, Sendable {
    /// The key is the number of days since 1970-01-01 UTC, in decimal. The value is a G1 point, 65 bytes in hex.
    package var timePermits: [String: String]
    /// The id of the master secret.
    package var keyID: String?
    package var message: String?

    package init(timePermits: [String: String], keyID: String) {
        self.timePermits = timePermits
        self.keyID = keyID
        message = "OK"
    }
}

/// The answer to GET timePermitsURL/<mpinId> at the RPS (wire section 6.5): D-TA 1's share for today, and what D-TA 2
/// requires for its share.
package struct RPSTimePermitResponse: Codable, Sendable {
    /// The day of the time permit, in days since 1970-01-01 UTC.
    package var date: Int32
    /// The signature with which the client asks D-TA 2 for its share of this day.
    package var signature: String
    /// The hash of the M-Pin ID in hex. The permit storage keeps the share of this M-Pin ID under this name.
    package var storageId: String
    /// D-TA 1's share of the time permit, a G1 point: 65 bytes in hex.
    package var timePermit: String
    package var message: String?
    package var version: String?

    package init(date: Int32, signature: String, storageId: String, timePermit: String) {
        self.date = date
        self.signature = signature
        self.storageId = storageId
        self.timePermit = timePermit
        message = "M-Pin Time Permit Generated"
        version = wireVersion
    }
}

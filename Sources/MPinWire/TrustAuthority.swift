/// GET D-TA/serverSecret (wire section 9).
package struct ServerSecretResponse: Codable, Sendable {
    /// G2 point, 128 bytes.
    package var serverSecret: SecretHex
    /// When the master share was made, `YYYY-MM-DDTHH:MM:SSZ`.
    package var startTime: String?
    /// Which master secret it belongs to; old D-TAs know only one.
    package var keyID: String?
    package var message: String?

    package init(serverSecret: SecretHex, startTime: String, keyID: String) {
        self.serverSecret = serverSecret
        self.startTime = startTime
        self.keyID = keyID
        message = "OK"
    }
}

/// GET D-TA/keys, for the RPS: the master secrets that the D-TA serves now, oldest first.
package struct MasterKeysResponse: Codable, Sendable {
    package struct Key: Codable, Sendable, Equatable {
        /// A decimal number, the same at both D-TAs.
        package var id: String
        /// `YYYY-MM-DDTHH:MM:SSZ` for one that is being replaced; nothing for the current one.
        package var servedUntil: String?
        /// SHA-256 of the D-TA's server secret share in hex: tells that the share is still the same. Old D-TAs do not say.
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

/// GET D-TA/clientSecret (wire section 9).
package struct ClientSecretResponse: Codable, Sendable {
    /// G1 point, 65 bytes.
    package var clientSecret: SecretHex
    /// Which master secret it belongs to.
    package var keyID: String?
    package var message: String?

    package init(clientSecret: SecretHex, keyID: String) {
        self.clientSecret = clientSecret
        self.keyID = keyID
        message = "OK"
    }

    private enum CodingKeys: String, CodingKey { case clientSecret, keyID, message }

    /// The message is not looked at; other servers' answers have more members.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        clientSecret = try container.decode(SecretHex.self, forKey: .clientSecret)
        keyID = try? container.decode(String.self, forKey: .keyID)
    }
}

/// GET D-TA/timePermit (wire section 9): the share for today.
package struct TimePermitResponse: Codable, Sendable {
    /// G1 point, 65 bytes in hex.
    package var timePermit: String
    /// Which master secret it belongs to.
    package var keyID: String?
    package var message: String?

    package init(timePermit: String, keyID: String) {
        self.timePermit = timePermit
        self.keyID = keyID
        message = "OK"
    }
}

/// GET D-TA/timePermits (wire section 9): shares by date, from today on.
package struct TimePermitsResponse: Codable, Sendable {
    /// Days since 1970-01-01 UTC in decimal -> G1 point, 65 bytes in hex.
    package var timePermits: [String: String]
    /// Which master secret they belong to.
    package var keyID: String?
    package var message: String?

    package init(timePermits: [String: String], keyID: String) {
        self.timePermits = timePermits
        self.keyID = keyID
        message = "OK"
    }
}

/// GET timePermitsURL/<mpinId> at the RPS (wire section 6.5): D-TA 1's share for today and what D-TA 2 wants to see.
package struct RPSTimePermitResponse: Codable, Sendable {
    /// Days since 1970-01-01 UTC.
    package var date: Int32
    /// Lets the client ask D-TA 2 for its share of that day.
    package var signature: String
    /// The hash of the M-Pin ID in hex: its name at the permit storage.
    package var storageId: String
    /// G1 point, 65 bytes in hex.
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

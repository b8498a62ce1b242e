/// GET D-TA/serverSecret (wire section 9).
package struct ServerSecretResponse: Codable, Sendable {
    /// G2 point, 128 bytes.
    package var serverSecret: SecretHex
    /// When the master share was made, `YYYY-MM-DDTHH:MM:SSZ`.
    package var startTime: String?
    package var message: String?

    package init(serverSecret: SecretHex, startTime: String) {
        self.serverSecret = serverSecret
        self.startTime = startTime
        message = "OK"
    }
}

/// GET D-TA/clientSecret (wire section 9).
package struct ClientSecretResponse: Codable, Sendable {
    /// G1 point, 65 bytes.
    package var clientSecret: SecretHex
    package var message: String?

    package init(clientSecret: SecretHex) {
        self.clientSecret = clientSecret
        message = "OK"
    }
}

/// GET D-TA/timePermit (wire section 9): the share for today.
package struct TimePermitResponse: Codable, Sendable {
    /// G1 point, 65 bytes in hex.
    package var timePermit: String
    package var message: String?

    package init(timePermit: String) {
        self.timePermit = timePermit
        message = "OK"
    }
}

/// GET D-TA/timePermits (wire section 9): shares by date, from today on.
package struct TimePermitsResponse: Codable, Sendable {
    /// Days since 1970-01-01 UTC in decimal -> G1 point, 65 bytes in hex.
    package var timePermits: [String: String]
    package var message: String?

    package init(timePermits: [String: String]) {
        self.timePermits = timePermits
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

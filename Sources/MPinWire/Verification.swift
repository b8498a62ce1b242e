/// POST verification (MIRACL MFA): requests a mail with a code that verifies the user id.
package struct VerificationRequest: Codable, Sendable {
    package var userId: String
    package var clientId: String
    /// The access code of the browser's session.
    package var accessId: String?
    package var deviceName: String?

    package init(userId: String, clientId: String, accessId: String? = nil, deviceName: String? = nil) {
        self.userId = userId
        self.clientId = clientId
        self.accessId = accessId
        self.deviceName = deviceName
    }
}

/// POST verification/confirmation (MIRACL MFA and Trust): sends the code from the mail.
package struct ConfirmationRequest: Codable, Sendable {
    package var userId: String
    package var code: String

    package init(userId: String, code: String) {
        self.userId = userId
        self.code = code
    }
}

/// The answer to ``ConfirmationRequest``.
package struct ConfirmationResponse: Codable, Sendable {
    /// The access code of the session that requested the mail; empty or missing if there is none.
    package var accessId: String?
    /// The token with which a registration can be started.
    package var actToken: String
    /// When the token expires, in seconds since 1970.
    package var expireTime: Int64?

    package init(accessId: String? = nil, actToken: String, expireTime: Int64? = nil) {
        self.accessId = accessId
        self.actToken = actToken
        self.expireTime = expireTime
    }
}

// The messages of the projects' back ends on the MIRACL Trust wire (TRUST wire sections 6.1 and 6.3).

/// POST /verification.
package struct TrustCustomVerificationRequest: Codable, Sendable {
    package var projectId: String?
    package var userId: String
    package var accessId: String?
    /// When the URL ends, in seconds since 1970.
    package var expiration: Int64?
    /// `no`, or left out: the back end hands the URL to the user.
    package var delivery: String?
}

/// The answer to ``TrustCustomVerificationRequest``.
package struct TrustCustomVerificationResponse: Codable, Sendable {
    package var verificationURL: String

    package init(verificationURL: String) { self.verificationURL = verificationURL }
}

/// POST /api/v1/projects/{id}/mpinids/{mpinId}/revocation.
package struct TrustRevocationRequest: Codable, Sendable {
    package var reason: String?
}

/// GET /.well-known/project-configuration.
package struct TrustProjectConfiguration: Codable, Sendable {
    package var id: String

    package init(id: String) { self.id = id }
}

/// GET /api/v1/projects/{id}/audit.
package struct TrustAuditPage: Codable, Sendable {
    /// Lines of the audit log, oldest first.
    package var events: [JSONValue]
    /// What to ask for next (`cursor`), also if there is nothing yet.
    package var cursor: String

    package init(events: [JSONValue], cursor: String) {
        self.events = events
        self.cursor = cursor
    }
}

/// POST /activate/initiate.
package struct TrustInitiationRequest: Codable, Sendable {
    package var userId: String
    package var projectId: String?
}

/// What a project's back end gets when somebody wants to register over generation 1. The vendor's SDK takes it.
package struct TrustNewUser: Codable, Sendable {
    /// A JWT with the claim `events.newUser`.
    package var new_user_token: String

    package init(new_user_token: String) { self.new_user_token = new_user_token }
}

/// POST /activate/user.
package struct TrustActivationRequest: Codable, Sendable {
    package var hashMPinId: String
    package var activateKey: String
}

/// The answer to ``TrustInitiationRequest``.
package struct TrustInitiationResponse: Codable, Sendable {
    package var mpinId: String
    package var hashMPinId: String
    /// The activation token of the registration.
    package var actToken: String
    /// In seconds since 1970.
    package var expireTime: Int64

    package init(mpinId: String, hashMPinId: String, actToken: String, expireTime: Int64) {
        self.mpinId = mpinId
        self.hashMPinId = hashMPinId
        self.actToken = actToken
        self.expireTime = expireTime
    }
}

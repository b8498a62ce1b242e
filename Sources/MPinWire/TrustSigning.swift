// The messages of signatures on the MIRACL Trust wire (TRUST wire sections 1.9, 4.13, 4.14 and 6.2).

/// A one-pass signature. All members but the time are hex.
package struct TrustSignature: Codable, Sendable {
    package var mpinId: String
    package var u: String
    package var v: String
    package var publicKey: String
    /// What was signed.
    package var hash: String
    package var dtas: String?
    /// In seconds since 1970. Left out where it stands beside the signature.
    package var timestamp: Int64?

    package init(
        mpinId: String, u: String, v: String, publicKey: String, hash: String, dtas: String?, timestamp: Int64?
    ) {
        self.mpinId = mpinId
        self.u = u
        self.v = v
        self.publicKey = publicKey
        self.hash = hash
        self.dtas = dtas
        self.timestamp = timestamp
    }
}

/// POST /dvs/verify (TRUST wire section 6.2).
package struct TrustVerifyRequest: Codable, Sendable {
    package var signature: TrustSignature
    package var timestamp: Int64
    package var type: String?
}

/// The answer to ``TrustVerifyRequest``.
package struct TrustVerifyResponse: Codable, Sendable {
    /// A JWS with the members `cAt`, `exp` and `hash`.
    package var certificate: String

    package init(certificate: String) { self.certificate = certificate }
}

/// POST /dvs/session (TRUST wire section 4.14).
package struct TrustSigningSessionRequest: Codable, Sendable {
    package var projectID: String?
    package var userID: String?
    package var hash: String
    package var description: String?
}

/// The answer to ``TrustSigningSessionRequest``. With the token the page asks for the signature (TRUST wire section 4.2).
package struct TrustSigningSessionResponse: Codable, Sendable {
    package var id: String
    package var qrURL: String
    package var webOTT: String
    package var accessURL: String

    package init(id: String, qrURL: String, webOTT: String, accessURL: String) {
        self.id = id
        self.qrURL = qrURL
        self.webOTT = webOTT
        self.accessURL = accessURL
    }
}

/// POST /dvs/session/details and DELETE /dvs/session.
package struct TrustSigningSessionName: Codable, Sendable {
    package var id: String
}

/// The answer to POST /dvs/session/details.
package struct TrustSigningSessionDetails: Encodable, Sendable {
    private let project: TrustSessionDetails
    private let status: String
    private let expireTime: Int64

    /// `expireTime` is in seconds since 1970.
    package init(_ project: TrustSessionDetails, isSigned: Bool, expireTime: Int64) {
        self.project = project
        status = isSigned ? "signed" : "active"
        self.expireTime = expireTime
    }

    private enum CodingKeys: String, CodingKey { case userID, projectID, status, expireTime }

    package func encode(to encoder: any Encoder) throws {
        try project.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(project.prerollId, forKey: .userID)
        try members.encode(project.projectId, forKey: .projectID)
        try members.encode(status, forKey: .status)
        try members.encode(expireTime, forKey: .expireTime)
    }
}

/// PUT /dvs/session.
package struct TrustSigningSessionUpdate: Codable, Sendable {
    package var id: String
    package var signature: TrustSignature
    package var timestamp: Int64
}

/// The answer to PUT and DELETE /dvs/session.
package struct TrustSigningSessionStatus: Codable, Sendable {
    package var status: String

    package init(status: String) { self.status = status }
}

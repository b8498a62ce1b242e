package import MPinSecrets
package import MPinStore

/// A D-TA, which keeps one share of each master secret. Each wire has its own way to ask it.
package protocol Authority: Sendable {
    /// The name in logs and errors.
    var name: String { get }
    /// The index of the share that it keeps of each master secret, from 1 on.
    var index: Int { get }
    /// Whether it gives permits for its own current day only. That day may have begun after the request was sent.
    var givesPermitsOfToday: Bool { get }

    /// The master secrets that it serves. Throws ``AuthorityFailure`` for an answer without a list of them.
    func keys() async throws -> [MasterKey]

    /// Its share of the server secret: G2 point, 128 bytes.
    func serverSecretShare(keyID: String) async throws -> SecretBytes

    /// Its share of a client secret: G1 point, 65 bytes.
    func clientSecretShare(_ id: MPinID, keyID: String) async throws -> SecretBytes

    /// The request for its share of the client secret. The client passes it on without reading it.
    func clientSecretTicket(_ id: MPinID, keyID: String) -> String

    /// Its share of the time permit: G1 point, 65 bytes.
    func permitShare(_ permit: Permit) async throws -> SecretBytes

    /// The same share, asked for at the URL and in the form that clients use.
    func permitShareForClient(_ permit: Permit) async throws -> SecretBytes

    /// The request for its share of the time permit. The client passes it on without reading it.
    func permitTicket(_ permit: Permit) -> String

    /// The hash that the permit share is made for, 32 bytes. For an unregistered ID it is one that no ID has.
    func holder(_ permit: Permit) -> [UInt8]
}

/// A request for a share of a D-TA. The client passes it on without reading it.
package struct Ticket: Sendable {
    /// The index of the D-TA and of its share.
    package let index: Int
    package let text: String
}

/// A master secret that a D-TA serves.
package struct MasterKey: Sendable {
    /// A decimal number. All D-TAs use the same one.
    package let id: String
    /// When the D-TA stops to serve it; nil for the current one.
    package let servedUntil: Moment?
    /// SHA-256 of the D-TA's server secret share in hex. Nil if the D-TA is an old one, which does not tell it.
    package let fingerprint: String?

    package init(id: String, servedUntil: Moment?, fingerprint: String?) {
        self.id = id
        self.servedUntil = servedUntil
        self.fingerprint = fingerprint
    }
}

/// A time permit of one identity and one day.
package struct Permit: Sendable {
    /// SHA-256 of the M-Pin ID, 32 bytes.
    package let hash: [UInt8]
    /// Whether the identity was never registered. Its permit is then useless.
    package let isStranger: Bool
    /// The master secret that the permit is made with.
    package let keyID: String
    /// The day of the permit, as days since 1970-01-01.
    package let date: Int32

    package init(hash: [UInt8], isStranger: Bool = false, keyID: String, date: Int32) {
        self.hash = hash
        self.isStranger = isStranger
        self.keyID = keyID
        self.date = date
    }
}

/// An answer of a D-TA that does not contain what was asked for.
package struct AuthorityFailure: Error, CustomStringConvertible {
    package enum Kind: Sendable {
        /// The D-TA refused: the keys or the clocks do not agree.
        case refusal
        /// The D-TA agreed, but its answer contains no valid share.
        case invalidShare
        case failure
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

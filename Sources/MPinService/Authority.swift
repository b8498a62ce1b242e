package import MPinSecrets
package import MPinStore

/// A D-TA as the service sees it: the keeper of one share of each master secret. How it is asked is a matter of a wire.
package protocol Authority: Sendable {
    /// For logs and errors.
    var name: String { get }
    /// Which share of each master secret it keeps, from 1 on.
    var index: Int { get }
    /// Whether it gives permits of its own day only, which may have begun since they were asked for.
    var givesPermitsOfToday: Bool { get }

    /// The master secrets that it serves. Throws ``AuthorityAnswer`` for an answer that is none.
    func keys() async throws -> [MasterKey]

    /// Its share of the server secret: G2 point, 128 bytes.
    func serverSecretShare(keyID: String) async throws -> SecretBytes

    /// Its share of a client secret: G1 point, 65 bytes.
    func clientSecretShare(_ id: MPinID, keyID: String) async throws -> SecretBytes

    /// What a client takes to it for its share of the client secret, unread.
    func clientSecretTicket(_ id: MPinID, keyID: String) -> String

    /// Its share of the time permit: G1 point, 65 bytes.
    func permitShare(_ permit: Permit) async throws -> SecretBytes

    /// The same on the way that clients take, and in their words.
    func permitShareForClient(_ permit: Permit) async throws -> SecretBytes

    /// What a client takes to it for its share of the time permit, unread.
    func permitTicket(_ permit: Permit) -> String

    /// Whom the share is made for, 32 bytes: that of a stranger is for a hash that nobody has.
    func holder(_ permit: Permit) -> [UInt8]
}

/// What a client takes to a D-TA, unread, for a share.
package struct Ticket: Sendable {
    /// Of the D-TA and of the share.
    package let index: Int
    package let text: String
}

/// A master secret that a D-TA serves.
package struct MasterKey: Sendable {
    /// A decimal number, the same at every D-TA.
    package let id: String
    /// Nil for the current one.
    package let servedUntil: Moment?
    /// SHA-256 of the D-TA's server secret share in hex. Nil: an old D-TA, which does not say.
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
    /// Whether the identity is unknown: its permit opens nothing.
    package let isStranger: Bool
    /// The master secret that it is made of.
    package let keyID: String
    /// Days since 1970-01-01.
    package let date: Int32

    package init(hash: [UInt8], isStranger: Bool = false, keyID: String, date: Int32) {
        self.hash = hash
        self.isStranger = isStranger
        self.keyID = keyID
        self.date = date
    }
}

/// The D-TA answered, but not with what was asked for.
package struct AuthorityAnswer: Error, CustomStringConvertible {
    package enum Kind: Sendable {
        /// It says no: keys or clocks do not agree.
        case refusal
        /// It says yes, and what it gives is no share.
        case nonsense
        case failure
    }

    package let kind: Kind
    package let description: String

    package init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}

package import MPinSecrets
package import MPinStore

/// A D-TA, which keeps one share of each master secret. Each wire protocol has its own way to ask a D-TA.
package protocol Authority: Sendable {
    /// The name in logs and errors.
    var name: String { get }
    /// The index of the share that it keeps of each master secret, from 1 on.
    var index: Int { get }
    /// Whether the D-TA gives permits only for its own current day, which may have begun after the request was sent.
    var givesPermitsOfToday: Bool { get }

    /// Asks for the master secrets that the D-TA serves. Throws ``AuthorityFailure`` for an answer without a list of
    /// them.
    func keys() async throws -> [MasterKey]

    /// Asks for the D-TA's share of the server secret: a G2 point, 128 bytes.
    func serverSecretShare(keyID: String) async throws -> SecretBytes

    /// Asks for the D-TA's share of a client secret: a G1 point, 65 bytes.
    func clientSecretShare(_ id: MPinID, keyID: String) async throws -> SecretBytes

    /// Makes the request for the D-TA's share of a client secret. The client sends it to the D-TA without reading it.
    func clientSecretTicket(_ id: MPinID, keyID: String) -> String

    /// Makes the request for the D-TA's share of the client secret of an identity with a key pair. `publicKey` has 128
    /// bytes.
    func keyedSecretTicket(_ id: MPinID, publicKey: [UInt8], keyID: String) -> String

    /// Asks for the D-TA's share of the client secret of an identity with a key pair: a G1 point, 65 bytes. `publicKey`
    /// has 128 bytes.
    func keyedSecretShare(_ id: MPinID, publicKey: [UInt8], keyID: String) async throws -> SecretBytes

    /// Asks for the D-TA's share of a time permit: a G1 point, 65 bytes.
    func permitShare(_ permit: Permit) async throws -> SecretBytes

    /// Asks for the share of ``permitShare(_:)``, but at the URL and in the form that clients use.
    func permitShareForClient(_ permit: Permit) async throws -> SecretBytes

    /// Makes the request for the D-TA's share of a time permit. The client sends it to the D-TA without reading it.
    func permitTicket(_ permit: Permit) -> String

    /// The hash for which the permit share is made, 32 bytes: the hash of the M-Pin ID or, if the ID is unregistered, a
    /// hash that belongs to no ID.
    func holder(_ permit: Permit) -> [UInt8]
}

/// A request for a share of a D-TA. The client sends it to the D-TA without reading it.
package struct Ticket: Sendable {
    /// The index of the D-TA, which is also the index of its share.
    package let index: Int
    package let text: String
}

/// A master secret that a D-TA serves.
package struct MasterKey: Sendable {
    /// A decimal number, which is the same at all D-TAs.
    package let id: String
    /// When the D-TA stops serving this master secret; nil for the current one.
    package let servedUntil: Moment?
    /// SHA-256 of the D-TA's server secret share in hex. Nil if the D-TA is an old one, which does not report it.
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
        /// The D-TA accepted the request, but its answer contains no valid share.
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

package import MPinSecrets

/// A message between two parts of the system and its HMAC-SHA256 tag.
///
/// The message consists of a label and fields, each preceded by its length in four bytes. So different lists of fields
/// never give the same bytes, nor do messages of different kinds. Clients pass `params` and `signature` on without
/// reading them (wire section 6.3), so the server is free to choose this form.
package struct SignedMessage: Sendable {
    private let bytes: [UInt8]

    /// Makes a message of these bytes, for signatures in the form of Milagro's servers.
    package init(bytes: [UInt8]) { self.bytes = bytes }

    private init(_ label: String, _ fields: [String]) {
        var bytes: [UInt8] = []
        for field in ["libmpin " + label] + fields {
            let text = Array(field.utf8)
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: text.count).bigEndian) { bytes += $0 }
            bytes += text
        }
        self.bytes = bytes
    }

    /// The tag in lower-case hex, 64 digits.
    package func signature(key: SecretBytes) -> String { Hex.encode(tag(key: key)) }

    /// The tag: HMAC-SHA256, 32 bytes.
    package func tag(key: SecretBytes) -> [UInt8] { HMACSHA256.tag(bytes, key: key) }

    /// Whether `signature` is the tag in hex, in either case. Compares in constant time.
    package func isSigned(_ signature: String, key: SecretBytes) -> Bool {
        guard let tag = Hex.decode(signature) else { return false }
        return HMACSHA256.isValid(tag, for: bytes, key: key)
    }
}

extension SignedMessage {
    /// RPS to a D-TA: asks which master secrets it serves; valid until `expires`.
    package static func keys(appID: String, expires: String) -> SignedMessage {
        SignedMessage("keys", [appID, expires])
    }

    /// RPS to a D-TA: asks for its share of the server secret under one master secret; valid until `expires`.
    package static func serverSecret(appID: String, keyID: String, expires: String) -> SignedMessage {
        SignedMessage("serverSecret", [appID, keyID, expires])
    }

    /// RPS or client to a D-TA: asks for the client secret share of one identity under one master secret; valid until
    /// `expires`.
    package static func clientSecret(
        appID: String, keyID: String, hashID: String, hashUser: String, expires: String
    ) -> SignedMessage {
        SignedMessage("clientSecret", [appID, keyID, hashID, hashUser, expires])
    }

    /// Client to a D-TA: asks for the client secret share of one identity with a key pair under one master secret; valid
    /// until `expires`. `hashID` is the hash of M-Pin ID and public key together, `identity` that of the M-Pin ID.
    package static func keyedSecret(
        appID: String, keyID: String, hashID: String, identity: String, expires: String
    ) -> SignedMessage {
        SignedMessage("keyed client secret", [appID, keyID, hashID, identity, expires])
    }

    /// Client to a D-TA: asks for the time permit share of one identity under one master secret, for the day `date`
    /// only.
    package static func timePermit(keyID: String, hashID: String, date: Int32) -> SignedMessage {
        SignedMessage("timePermit", [keyID, hashID, String(date)])
    }

    /// Client to a D-TA: asks for the time permit share of an unregistered ID. The answer looks like that to
    /// ``timePermit(keyID:hashID:date:)`` but is a useless permit.
    package static func strangerPermit(keyID: String, hashID: String, date: Int32) -> SignedMessage {
        SignedMessage("stranger permit", [keyID, hashID, String(date)])
    }

    /// RPS to a D-TA: asks for the permit shares of several days under one master secret; valid until `expires`.
    package static func timePermits(keyID: String, hashID: String, count: Int, expires: String) -> SignedMessage {
        SignedMessage("timePermits", [keyID, hashID, String(count), expires])
    }

    /// The activation key of one registration. The RPS makes and checks it; the mail and the RPA carry it. It is valid
    /// as long as the registration. It signs `regOTTHash` because the RPS does not store the regOTT.
    package static func activation(id: MPinID, regOTTHash: [UInt8]) -> SignedMessage {
        SignedMessage("activate", [id.hex, Hex.encode(regOTTHash)])
    }

    /// An activation link of the RPA: signs its expiry and key together with the identity.
    package static func activationLink(id: String, expires: String, activateKey: String) -> SignedMessage {
        SignedMessage("activation link", [id, expires, activateKey])
    }

    /// Lets a phone end one session of the website.
    package static func logout(session: String) -> SignedMessage { SignedMessage("logout", [session]) }

    /// The token in the website's forms for one browser. It shows that a request comes from such a form and not from
    /// another website.
    package static func form(session: String) -> SignedMessage { SignedMessage("form", [session]) }

    /// The tag of this message replaces the hash of an unregistered M-Pin ID when its permit is made. No ID has that
    /// hash.
    package static func stranger(hashID: String) -> SignedMessage { SignedMessage("stranger", [hashID]) }

    /// The tag of this message is the bearer token with which the RPS calls the RPA.
    package static let fromRPS = SignedMessage("bearer RPS to RPA", [])
    /// The tag of this message is the bearer token with which the RPA calls the RPS.
    package static let fromRPA = SignedMessage("bearer RPA to RPS", [])
}

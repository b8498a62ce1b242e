import MPinHTTP
import MPinSecrets
import MPinService

/// The link in an activation mail (wire section 8.4). It contains the identity, the expiry, and 128 hex digits: the
/// RPS's activation key, followed by the RPA's signature of identity, expiry and activation key, so that none of these
/// can be changed.
struct ActivationLink: Codable, Sendable {
    let id: String
    let expires: String
    let activateKey: String

    func url(base: String, key: SecretBytes) -> String {
        let members = [("i", id), ("e", expires), ("s", activateKey + message.signature(key: key))]
        return base + "/mpinActivate?" + percentEncodedQuery(members)
    }

    init(id: String, expires: String, activateKey: String) {
        self.id = id
        self.expires = expires
        self.activateKey = activateKey
    }

    /// Reads a link of ``url(base:key:)``; nil for anything else.
    init?(i: String, e: String, s: String, key: SecretBytes) {
        guard s.utf8.count == 128 else { return nil }
        self.init(id: i, expires: e, activateKey: String(s.prefix(64)))
        guard message.isSigned(String(s.suffix(64)), key: key) else { return nil }
    }

    private var message: SignedMessage {
        .activationLink(id: id, expires: expires, activateKey: activateKey)
    }
}

import Foundation
package import MPinOpenID
package import MPinSecrets

/// What a back end sends to prove for which project it calls (TRUST wire section 6): the value of the header
/// `Authorization`.
package struct ProjectCredentials {
    private enum Proof {
        /// The secret itself.
        case secret(String)
        /// The tag of a document's hash under the secret.
        case tag([UInt8], document: String)
    }

    /// The name of the service token, or the id of the OpenID client. Nil if the secret alone is sent.
    package let id: String?
    private let proof: Proof

    /// Nil if the header has none of the forms that are known. `document` is the hash of the document, in hex, that an
    /// HMAC is made of; without it there is none.
    package init?(_ header: String, document: String? = nil) {
        let words = header.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 2, let scheme = words.first?.lowercased(), let text = words.last, !text.isEmpty else {
            return nil
        }
        switch (scheme, document) {
        case ("bearer", _): (id, proof) = (nil, .secret(text))
        case ("basic", _):
            guard let halves = Self.halves(text) else { return nil }
            (id, proof) = (halves.0, .secret(halves.1))
        case ("maas-hmac-sha256", let document?):
            guard let halves = Self.halves(text), let tag = Hex.decode(halves.1), tag.count == HMACSHA256.size else {
                return nil
            }
            (id, proof) = (halves.0, .tag(tag, document: document))
        default: return nil
        }
    }

    /// Two texts that are joined by a colon, in base64.
    private static func halves(_ text: String) -> (String, String)? {
        guard let bytes = Data(base64Encoded: text) else { return nil }
        let halves = String(decoding: bytes, as: UTF8.self).split(
            separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, let id = halves.first, let rest = halves.last, !id.isEmpty else { return nil }
        return (String(id), String(rest))
    }

    /// Whether the secret is the one with this hash. An HMAC can be checked only if the secret has more than 64 bytes,
    /// because its key is then the hash (RFC 2104 section 2), which `seal` opens for its owner.
    package func proves(_ hash: SecretHash, _ seal: HashSeal, owner: String) -> Bool {
        switch proof {
        case .secret(let text): hash.matches(text)
        case .tag: hash.key(seal, owner: owner).map(proves(key:)) ?? false
        }
    }

    /// Whether an HMAC is one under this key. False for other credentials.
    package func proves(key: SecretBytes) -> Bool {
        guard case .tag(let tag, let document) = proof else { return false }
        return HMACSHA256.isValid(tag, for: Array(document.utf8), key: key)
    }
}

import MPinSecrets
package import MPinStore

/// What is kept of a client's secret.
package struct ClientSecret: Sendable, Equatable, Codable {
    /// An operator's own secret has so many characters at least, all of them visible ASCII.
    package static let minCharacters = 32
    package static let maxCharacters = 256

    /// SHA-256 of the secret, in hex: secrets are random, or long, so a slow hash would only cost the server.
    package let hash: String
    package let created: Moment
    /// The end of one that another has taken the place of; nil: none.
    package var expires: Moment?

    package init(hash: String, created: Moment, expires: Moment? = nil) {
        self.hash = hash
        self.created = created
        self.expires = expires
    }

    package init(of secret: String, created: Moment) {
        self.init(hash: Hex.encode(SHA256.hash(Array(secret.utf8))), created: created)
    }

    /// A new secret: 32 random bytes in base64url, 43 characters.
    package static func random() throws -> String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        var (bits, count) = (UInt32(0), UInt32(0))
        for byte in try randomBytes(32) {
            (bits, count) = (bits << 8 | UInt32(byte), count + 8)
            while count >= 6 {
                count -= 6
                text.append(alphabet[Int(bits >> count & 63)])
            }
        }
        if count > 0 { text.append(alphabet[Int(bits << (6 - count) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether an operator may choose `secret`.
    package static func isAcceptable(_ secret: String) -> Bool {
        (minCharacters...maxCharacters).contains(secret.utf8.count)
            && secret.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// In a time that does not depend on where the two differ.
    func matches(_ hash: [UInt8], at now: Moment) -> Bool {
        let isLive = expires.map { $0 > now } ?? true
        let own = Array(self.hash.utf8)
        return constantTimeEqual(own.span, hash.span) && isLive
    }
}

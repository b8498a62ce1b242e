package import MPinSecrets

/// 32 random bytes that name something at this server: a code, a browser session, a login transaction, or one half of a
/// refresh token. The store has only the hash, so a copy of the store gives nobody a valid token.
package struct OpaqueToken: Sendable {
    package static let size = 32
    /// Base64url without padding, 43 characters.
    package let text: String

    package static func random() throws(RandomFailure) -> OpaqueToken {
        OpaqueToken(text: Base64URL.encode(try randomBytes(size)))
    }

    /// A token that operators can type as the argument of a command, because it does not begin with a hyphen.
    package static func randomName() throws(RandomFailure) -> OpaqueToken {
        var token = try random()
        while token.text.hasPrefix("-") { token = try random() }
        return token
    }

    private init(text: String) { self.text = text }

    /// Nil if `text` does not have the form of such a token.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == 43, text.utf8.allSatisfy(Self.isDigit) else { return nil }
        self.text = String(text)
    }

    /// The SHA-256 of ``text`` in hex. Stores and signed tokens contain only this.
    package var key: String { Hex.encode(SHA256.hash(Array(text.utf8))) }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x5f: true
        default: false
        }
    }
}

package import MPinSecrets
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
    package static func random() throws(RandomFailure) -> String { try OpaqueToken.random().text }

    /// Whether an operator may choose `secret`.
    static func isAcceptable(_ secret: String) -> Bool {
        (minCharacters...maxCharacters).contains(secret.utf8.count)
            && secret.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// A secret of the operator's own: the one line of a file that nobody else may read.
    package static func load(_ path: String) throws -> String {
        let text = try SecretFile.load(path, limit: maxCharacters + 2).plainText
        return try accepted(text, from: path)
    }

    /// `text` without the line's end. Throws where it is no good secret; `source` says whose it is.
    package static func accepted(_ text: String, from source: String) throws(ClientFault) -> String {
        let line = text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard isAcceptable(line) else {
            throw ClientFault(
                source, "a secret has \(minCharacters) to \(maxCharacters) characters of ASCII, without blanks")
        }
        return line
    }

    /// In a time that does not depend on where the two differ.
    package func matches(_ hash: [UInt8], at now: Moment) -> Bool {
        let isLive = expires.map { $0 > now } ?? true
        let own = Array(self.hash.utf8)
        return constantTimeEqual(own.span, hash.span) && isLive
    }
}

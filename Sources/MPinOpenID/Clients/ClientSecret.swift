package import MPinSecrets
package import MPinStore

/// What the store keeps of a client's secret: its hash and its times.
package struct ClientSecret: Sendable, Equatable {
    /// The least number of characters of a secret that an operator chooses. All must be visible ASCII.
    package static let minCharacters = 32
    package static let maxCharacters = 256

    /// A slow password hash is not needed, because secrets are random or long, and it would cost the server time at each
    /// request.
    package let hash: SecretHash
    package let created: Moment
    /// When the secret ends. It is set when a new secret replaces this one; nil means that it does not end.
    package var expires: Moment?

    package init(hash: SecretHash, created: Moment, expires: Moment? = nil) {
        self.hash = hash
        self.created = created
        self.expires = expires
    }

    package init(of secret: String, created: Moment) {
        self.init(hash: SecretHash(of: secret), created: created)
    }

    /// A new secret: 32 random bytes in base64url, 43 characters.
    package static func random() throws(RandomFailure) -> String { try OpaqueToken.random().text }

    /// Returns whether an operator may choose `secret`: it has the right length, and only visible ASCII.
    static func isAcceptable(_ secret: String) -> Bool {
        (minCharacters...maxCharacters).contains(secret.utf8.count)
            && secret.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// Reads an operator's own secret from a file. The file must have one line, and nobody but its owner may read it.
    package static func load(_ path: String) throws -> String {
        let text = try SecretFile.load(path, limit: maxCharacters + 2).plainText
        return try accepted(text, from: path)
    }

    /// Returns `text` without its line end. Throws if it is not an acceptable secret; `source` names the place that the
    /// error message begins with.
    package static func accepted(_ text: String, from source: String) throws(ClientFault) -> String {
        let line = text.hasSuffix("\r\n") || text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard isAcceptable(line) else {
            throw ClientFault(
                source, "a secret has \(minCharacters) to \(maxCharacters) characters of ASCII, without blanks")
        }
        return line
    }

    /// Returns whether `digest` is ``SecretHash/digest`` of this secret, and the secret has not ended.
    func matches(digest: [UInt8], at now: Moment) -> Bool { hash.matches(digest: digest) && isLive(at: now) }

    /// The same with its hash sealed, for the client with this id. Without a seal it stays as it is.
    package func sealed(by seal: HashSeal?, of client: String) throws -> ClientSecret {
        ClientSecret(hash: try hash.sealed(by: seal, owner: Self.owner(client)), created: created, expires: expires)
    }

    /// The owner of the hashes of a client's secrets.
    package static func owner(_ client: String) -> String { "clients/\(client)" }

    package func isLive(at now: Moment) -> Bool { expires.map { $0 > now } ?? true }
}

/// The members of the hash stand beside the others.
extension ClientSecret: Codable {
    private enum CodingKeys: String, CodingKey { case created, expires }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            hash: try SecretHash(from: decoder), created: try members.decode(Moment.self, forKey: .created),
            expires: try members.decodeIfPresent(Moment.self, forKey: .expires))
    }

    package func encode(to encoder: any Encoder) throws {
        try hash.encode(to: encoder)
        var members = encoder.container(keyedBy: CodingKeys.self)
        try members.encode(created, forKey: .created)
        try members.encodeIfPresent(expires, forKey: .expires)
    }
}

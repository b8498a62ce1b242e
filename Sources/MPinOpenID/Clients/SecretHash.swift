package import MPinSecrets

/// What a store keeps of a secret by which a program proves who it is. The secret is random or long.
///
/// SHA-256 of a secret with more than 64 bytes is the key that HMAC-SHA256 makes of it (RFC 2104 section 2), so whoever has
/// this hash can prove as much as with the secret. Therefore the store has the SHA-256 of the hash, which is enough to
/// compare, and the hash only sealed.
package enum SecretHash: Sendable, Equatable {
    /// The hash itself, 32 bytes: in a file of the operator, and as long as servers of the version before read the store.
    case open([UInt8])
    /// SHA-256 of the hash, 32 bytes, and the hash in a ``SealedBox``.
    case sealed(digest: [UInt8], box: [UInt8])

    /// The hash is known to others, who could use it as a key, so it is only for comparing.
    static func comparedOnly(_ hash: [UInt8]) -> SecretHash { .sealed(digest: SHA256.hash(hash), box: []) }

    package init(of secret: String) { self = .open(SHA256.hash(Array(secret.utf8))) }

    /// SHA-256 of the hash, 32 bytes. It is equal for equal secrets.
    package var digest: [UInt8] {
        switch self {
        case .open(let hash): SHA256.hash(hash)
        case .sealed(let digest, _): digest
        }
    }

    /// Returns whether it is that of this secret, compared in constant time.
    package func matches(_ secret: String) -> Bool { matches(digest: SecretHash(of: secret).digest) }

    func matches(digest: [UInt8]) -> Bool { constantTimeEqual(self.digest.span, digest.span) }

    /// The same with the hash sealed. `owner` names the item and its table, so that the box is worth nothing in another one.
    /// Without a seal, or if it is sealed already, it stays as it is.
    package func sealed(by seal: HashSeal?, owner: String) throws -> SecretHash {
        guard let seal, case .open(let hash) = self else { return self }
        return .sealed(digest: digest, box: try seal.box(hash, owner: owner))
    }

    /// The hash, which is the key of an HMAC. Nil if it was sealed under another key or for another owner.
    package func key(_ seal: HashSeal, owner: String) -> SecretBytes? {
        switch self {
        case .open(let hash): return SecretBytes(copying: hash.span)
        case .sealed(let digest, let box):
            guard let hash = seal.opened(box, owner: owner) else { return nil }
            var own = [UInt8](repeating: 0, count: SHA256.size)
            var ownSpan = own.mutableSpan
            SHA256.hash(hash.span, into: &ownSpan)
            return constantTimeEqual(own.span, digest.span) ? hash : nil
        }
    }
}

/// Stored beside other members of an object: `hash`, as the version before has it, or `digest` and `sealed`; all in hex.
extension SecretHash: Codable {
    private enum CodingKeys: String, CodingKey { case hash, digest, sealed }

    package init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func bytes(_ key: CodingKeys, count: Int) throws -> [UInt8] {
            guard let bytes = Hex.decode(try members.decode(String.self, forKey: key)), bytes.count == count else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: members, debugDescription: "\(count) bytes in hex")
            }
            return bytes
        }
        guard members.contains(.hash) else {
            let box = try bytes(.sealed, count: SHA256.size + SealedBox.overhead)
            self = .sealed(digest: try bytes(.digest, count: SHA256.size), box: box)
            return
        }
        self = .open(try bytes(.hash, count: SHA256.size))
    }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .open(let hash): try members.encode(Hex.encode(hash), forKey: .hash)
        case .sealed(let digest, let box):
            try members.encode(Hex.encode(digest), forKey: .digest)
            try members.encode(Hex.encode(box), forKey: .sealed)
        }
    }
}

/// Seals the hashes of secrets under a key that is derived from the server's own key, which no store has.
package struct HashSeal: Sendable {
    private let key: SecretBytes

    /// `key`: the server's own key, 32 bytes.
    package init(from key: SecretBytes) {
        self.key = SecretBytes(copying: HMACSHA256.tag(Array("libmpin hashes of secrets".utf8), key: key).span)
    }

    fileprivate func box(_ hash: [UInt8], owner: String) throws(SealedBox.Failure) -> [UInt8] {
        try SealedBox.seal(hash.span, key: key, associatedData: Self.purpose(owner))
    }

    fileprivate func opened(_ box: [UInt8], owner: String) -> SecretBytes? {
        try? SealedBox.open(box, key: key, associatedData: Self.purpose(owner))
    }

    private static func purpose(_ owner: String) -> [UInt8] { Array("hash of a secret of \(owner)".utf8) }
}

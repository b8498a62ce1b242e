import MPinSecrets
package import MPinStore

/// The code challenge of an authorization request (RFC 7636, method S256 only). It is the SHA-256 of a secret verifier.
/// The client later shows the verifier to redeem the code, which proves that the code was issued to it.
package struct PKCE: Sendable, Equatable, Codable {
    /// 32 bytes in base64url, 43 characters.
    package let challenge: String

    /// Nil if the text is not a SHA-256 in base64url.
    package init?(challenge: String) {
        guard Base64URL.decode(challenge)?.count == SHA256.size else { return nil }
        self.challenge = challenge
    }

    /// Returns whether `verifier` has 43 to 128 unreserved characters and its SHA-256 is the challenge. The comparison
    /// takes constant time.
    package func admits(_ verifier: String) -> Bool {
        guard (43...128).contains(verifier.utf8.count), verifier.utf8.allSatisfy(RequestParameters.isUnreserved) else {
            return false
        }
        let computed = Array(Base64URL.encode(SHA256.hash(Array(verifier.utf8))).utf8)
        return constantTimeEqual(computed.span, Array(challenge.utf8).span)
    }
}

extension PKCE: Packable {
    package init(packed members: inout Unpacker) throws { challenge = try members.text() }

    package func pack(into members: inout Packer) { members.put(challenge) }
}

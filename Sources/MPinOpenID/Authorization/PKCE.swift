import MPinSecrets

/// The challenge of an authorization request (RFC 7636, S256 only): SHA-256 of the verifier that the client shows for its
/// code.
package struct PKCE: Sendable, Equatable, Codable {
    /// 32 bytes in base64url, 43 characters.
    package let challenge: String

    /// nil for what is no SHA-256 in base64url.
    package init?(challenge: String) {
        guard Base64URL.decode(challenge)?.count == SHA256.size else { return nil }
        self.challenge = challenge
    }

    /// Whether `verifier` is the one of 43 to 128 unreserved characters that was hashed. Compared in constant time.
    package func admits(_ verifier: String) -> Bool {
        guard (43...128).contains(verifier.utf8.count), verifier.utf8.allSatisfy(RequestParameters.isUnreserved) else {
            return false
        }
        let computed = Array(Base64URL.encode(SHA256.hash(Array(verifier.utf8))).utf8)
        return constantTimeEqual(computed.span, Array(challenge.utf8).span)
    }
}

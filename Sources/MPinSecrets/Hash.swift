import CSodium

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// The size of a digest in bytes.
    package static let size = 32

    /// Writes the digest of `message` into `digest`, 32 bytes. False if `digest` has another length.
    @discardableResult
    package static func hash(_ message: Span<UInt8>, into digest: inout MutableSpan<UInt8>) -> Bool {
        let empty: [UInt8] = []
        return hash(message, empty.span, into: &digest)
    }

    /// Writes the digest of `first` followed by `second` into `digest`, 32 bytes. False if `digest` has another length.
    @discardableResult
    package static func hash(
        _ first: Span<UInt8>, _ second: Span<UInt8>, into digest: inout MutableSpan<UInt8>
    ) -> Bool {
        guard digest.count == size else { return false }
        var state = crypto_hash_sha256_state()
        crypto_hash_sha256_init(&state)
        first.withBytes { _ = crypto_hash_sha256_update(&state, $0, $1) }
        second.withBytes { _ = crypto_hash_sha256_update(&state, $0, $1) }
        digest.withUnsafeMutableBufferPointer { buffer in
            if let base = buffer.baseAddress { crypto_hash_sha256_final(&state, base) }
        }
        withUnsafeMutableBytes(of: &state) { sodium_memzero($0.baseAddress, $0.count) }
        return true
    }

    /// The digest of `message`, 32 bytes.
    package static func hash(_ message: [UInt8]) -> [UInt8] {
        var result = [UInt8](repeating: 0, count: size)
        var digest = result.mutableSpan
        hash(message.span, into: &digest)
        return result
    }
}

/// HMAC-SHA256 (RFC 2104) with a key of any length.
package enum HMACSHA256 {
    /// The size of a tag in bytes.
    package static let size = 32

    /// The tag of `message`, 32 bytes.
    package static func tag(_ message: [UInt8], key: SecretBytes) -> [UInt8] {
        var state = crypto_auth_hmacsha256_state()
        key.span.withBytes { _ = crypto_auth_hmacsha256_init(&state, $0, Int($1)) }
        _ = crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
        var tag = [UInt8](repeating: 0, count: size)
        _ = crypto_auth_hmacsha256_final(&state, &tag)
        withUnsafeMutableBytes(of: &state) { sodium_memzero($0.baseAddress, $0.count) }
        return tag
    }

    /// Whether `tag` is the tag of `message`, compared in constant time.
    package static func isValid(_ tag: [UInt8], for message: [UInt8], key: SecretBytes) -> Bool {
        constantTimeEqual(tag.span, self.tag(message, key: key).span)
    }
}

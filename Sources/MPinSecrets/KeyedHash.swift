import CSodium

/// Keyed BLAKE2b (RFC 7693) with tags of 16 bytes. It costs a fraction of HMAC-SHA256.
package struct KeyedHash: Sendable {
    /// The size of a tag in bytes.
    package static let size = 16

    /// A tag. Comparing two takes the same time, whatever they are.
    package struct Tag: Sendable, Equatable {
        fileprivate var words: (UInt64, UInt64) = (0, 0)

        fileprivate init() {}

        /// Reads a tag from the first 16 bytes. Nil if there are fewer.
        package init?(_ bytes: UnsafeRawBufferPointer) {
            guard bytes.count >= KeyedHash.size else { return nil }
            withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: .init(rebasing: bytes[..<KeyedHash.size])) }
        }

        /// The 16 bytes of the tag.
        package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            withUnsafeBytes(of: words) { body($0) }
        }

        package static func == (left: Tag, right: Tag) -> Bool {
            (left.words.0 ^ right.words.0) | (left.words.1 ^ right.words.1) == 0
        }
    }

    private let key: SecretBytes

    /// Derives the key, 32 bytes, from `secret`, 32 bytes, for one `purpose`.
    package init(from secret: SecretBytes, purpose: String) {
        let (derived, text) = (SecretBytes(count: 32), Array(purpose.utf8))
        var bytes = derived.mutableSpan
        secret.span.withBytes { secret, length in
            bytes.withUnsafeMutableBufferPointer { derived in
                guard let target = derived.baseAddress else { return }
                _ = crypto_generichash(target, derived.count, text, UInt64(text.count), secret, Int(length))
            }
        }
        key = derived
    }

    /// Returns the tag of the `count` bytes that `fill` writes. They need no memory of the heap if they are few.
    package func tag(count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) -> Tag {
        var tag = Tag()
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { message in
            fill(message)
            let bytes = message.bindMemory(to: UInt8.self)
            key.span.withBytes { key, length in
                withUnsafeMutableBytes(of: &tag.words) { words in
                    guard let target = words.bindMemory(to: UInt8.self).baseAddress else { return }
                    _ = crypto_generichash(target, Self.size, bytes.baseAddress, UInt64(count), key, Int(length))
                }
            }
        }
        return tag
    }
}

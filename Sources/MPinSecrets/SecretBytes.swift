import CSodium

/// Bytes that must be erased after use: a PIN, a token, a share, a key.
///
/// The memory is between guard pages and, where the system allows it, excluded from swap and core dumps. The bytes are
/// wiped when the object is freed, compared in constant time, and never printed.
package final class SecretBytes: Sendable {
    nonisolated(unsafe) private let storage: UnsafeMutableBufferPointer<UInt8>
    private let isGuarded: Bool

    /// The number of bytes.
    package var count: Int { storage.count }

    /// Makes `count` zero bytes.
    package init(count: Int) {
        // sodium_malloc fails when the process has used up its memory mappings. Then plain memory is used, so that
        // logins still work.
        let guarded = sodium_init() >= 0 ? sodium_malloc(count)?.assumingMemoryBound(to: UInt8.self) : nil
        isGuarded = guarded != nil
        storage = .init(start: guarded ?? .allocate(capacity: count), count: count)
        storage.initialize(repeating: 0)
    }

    /// Copies `bytes`. The caller must wipe the original.
    package convenience init(copying bytes: Span<UInt8>) {
        self.init(count: bytes.count)
        bytes.withUnsafeBufferPointer { _ = storage.update(fromContentsOf: $0) }
    }

    /// Copies `text` in UTF-8. The original is not wiped.
    package convenience init(utf8 text: String) {
        let bytes = Array(text.utf8)
        self.init(copying: bytes.span)
    }

    /// Copies `text` in UTF-8 into memory that is wiped when the object is freed, but has no guard pages. This costs
    /// none of the six calls of the system that guard pages cost, and is for texts that lie in a `String` anyway.
    package init(unguarded text: String) {
        let bytes = Array(text.utf8)
        isGuarded = false
        storage = .allocate(capacity: bytes.count)
        _ = storage.initialize(from: bytes)
    }

    /// Copies `parts` in order, without separators.
    package convenience init(joining parts: [SecretBytes]) {
        self.init(count: parts.reduce(0) { $0 + $1.count })
        var end = 0
        for part in parts {
            _ = UnsafeMutableBufferPointer(rebasing: storage[end...]).update(fromContentsOf: part.storage)
            end += part.count
        }
    }

    /// Decodes `hex`, an even number of digits in either case. Nil for anything else.
    package convenience init?(hex: Span<UInt8>) {
        self.init(count: hex.count / 2)
        var bytes = mutableSpan
        guard Hex.decode(hex, into: &bytes) else { return nil }
    }

    deinit {
        sodium_memzero(storage.baseAddress, count)
        if isGuarded { sodium_free(storage.baseAddress) } else { storage.deallocate() }
    }

    /// The bytes for reading.
    package var span: Span<UInt8> {
        @_lifetime(borrow self) get { _overrideLifetime(storage.span, borrowing: self) }
    }

    /// The bytes for writing. Only the code that has just made the object may use it.
    package var mutableSpan: MutableSpan<UInt8> {
        @_lifetime(borrow self) get { _overrideLifetime(storage.mutableSpan, borrowing: self) }
    }

    /// The bytes in lower-case hex, two digits each, in memory that is wiped.
    package var hexDigits: SecretBytes {
        let text = SecretBytes(count: 2 * count)
        var digits = text.mutableSpan
        Hex.encode(span, into: &digits)
        return text
    }

    /// The bytes in lower-case hex as a text, for callers that need a String. The text is not wiped.
    package func hex() -> String { Hex.encode(span) }
}

extension SecretBytes: Equatable {
    /// Compares in a time that depends only on the lengths, which are not secret.
    package static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        constantTimeEqual(left.span, right.span)
    }
}

extension SecretBytes: CustomStringConvertible {
    /// A description that contains the length only.
    package var description: String { "SecretBytes(\(count))" }
}

// Embedded Swift has no mirrors, so nothing can look into the object there.
#if !hasFeature(Embedded)
    extension SecretBytes: CustomReflectable {
        /// Hides the content from `dump` and debuggers.
        package var customMirror: Mirror { Mirror(self, children: []) }
    }
#endif

/// Whether two byte strings are equal. The time depends only on their lengths.
package func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return left.withBytes { left, count in right.withBytes { right, _ in sodium_memcmp(left, right, Int(count)) == 0 } }
}

/// Overwrites bytes with zeros. The compiler cannot optimise this away.
package func wipe(_ bytes: inout MutableSpan<UInt8>) {
    bytes.withUnsafeMutableBufferPointer { buffer in
        if let base = buffer.baseAddress { sodium_memzero(base, buffer.count) }
    }
}

extension Span<UInt8> {
    /// Calls `body` with the address and the number of the bytes. The address is never null, because some C functions
    /// reject a null pointer even for no bytes.
    func withBytes<Result>(_ body: (UnsafePointer<UInt8>, UInt64) -> Result) -> Result {
        withUnsafeBufferPointer { buffer in
            if let base = buffer.baseAddress { return body(base, UInt64(buffer.count)) }
            var nothing: UInt8 = 0
            return withUnsafePointer(to: &nothing) { body($0, 0) }
        }
    }
}

// Copies that are not wiped, for bytes that turned out not to be secret.
extension SecretBytes {
    /// A copy of the bytes in ordinary memory.
    package var plainBytes: [UInt8] { span.withUnsafeBufferPointer { Array($0) } }
    /// The bytes as UTF-8 text. Bytes that are not UTF-8 become replacement characters.
    package var plainText: String { span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) } }
}

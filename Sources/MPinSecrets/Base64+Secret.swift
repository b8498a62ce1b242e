import CSodium

extension Base64 {
    /// The encoding of a secret, in memory that is wiped. The time depends only on its length.
    package static func encode(_ secret: SecretBytes) -> SecretBytes {
        // libsodium adds a NUL.
        let text = SecretBytes(count: (secret.count + 2) / 3 * 4 + 1)
        var room = text.mutableSpan
        room.withUnsafeMutableBufferPointer { room in
            room.withMemoryRebound(to: CChar.self) { room in
                guard let base = room.baseAddress else { return }
                _ = secret.span.withBytes { bytes, count in
                    sodium_bin2base64(base, room.count, bytes, Int(count), Int32(sodium_base64_VARIANT_ORIGINAL))
                }
            }
        }
        return SecretBytes(copying: text.span.extracting(0..<text.count - 1))
    }
}

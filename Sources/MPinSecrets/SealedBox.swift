import CSodium

/// Authenticated encryption at rest: XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) under a random 24-byte nonce.
///
/// A box is `nonce (24) || ciphertext || tag (16)`.
package enum SealedBox {
    /// Bytes of a key.
    package static let keySize = 32
    private static let nonceSize = 24
    private static let tagSize = 16

    /// Why a box could not be made or opened.
    package enum Failure: Error {
        /// The key has not 32 bytes.
        case keySize
        /// The random generator did not deliver.
        case random
        /// Damaged, cut, sealed under another key, or for another purpose.
        case notAuthentic
    }

    /// Seals `plaintext`. `associatedData` names the purpose and place of the box; the same must be given to open it.
    package static func seal(
        _ plaintext: Span<UInt8>, key: SecretBytes, associatedData: [UInt8], random: RandomSource = systemRandom
    ) throws(Failure) -> [UInt8] {
        guard key.count == keySize else { throw .keySize }
        var box: [UInt8]
        do { box = try randomBytes(nonceSize, from: random) } catch { throw .random }
        let nonce = box
        var sealed = [UInt8](repeating: 0, count: plaintext.count + tagSize)
        plaintext.withBytes { plaintext, count in
            key.span.withBytes { key, _ in
                _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
                    &sealed, nil, plaintext, count, associatedData, UInt64(associatedData.count), nil, nonce, key)
            }
        }
        box += sealed
        return box
    }

    /// Opens a box that ``seal(_:key:associatedData:)`` made.
    package static func open(
        _ box: [UInt8], key: SecretBytes, associatedData: [UInt8]
    ) throws(Failure) -> SecretBytes {
        guard key.count == keySize else { throw .keySize }
        guard box.count >= nonceSize + tagSize else { throw .notAuthentic }
        let nonce = [UInt8](box.prefix(nonceSize))
        let sealed = [UInt8](box.dropFirst(nonceSize))
        let plaintext = SecretBytes(count: sealed.count - tagSize)
        var bytes = plaintext.mutableSpan
        let status = bytes.withUnsafeMutableBufferPointer { bytes in
            key.span.withBytes { key, _ in
                crypto_aead_xchacha20poly1305_ietf_decrypt(
                    bytes.baseAddress, nil, nil, sealed, UInt64(sealed.count),
                    associatedData, UInt64(associatedData.count), nonce, key)
            }
        }
        guard status == 0 else { throw .notAuthentic }
        return plaintext
    }
}

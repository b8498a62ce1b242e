import CSodium

/// Authenticated encryption of stored data: XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) with a random nonce of 24
/// bytes.
///
/// The format of a box is `nonce (24) || ciphertext || tag (16)`.
package enum SealedBox {
    /// The size of a key in bytes.
    package static let keySize = 32
    private static let nonceSize = 24
    private static let tagSize = 16
    /// How many bytes a box is longer than its plaintext.
    package static let overhead = nonceSize + tagSize

    /// Why a box could not be made or opened.
    package enum Failure: Error {
        /// The key is not 32 bytes long.
        case keySize
        /// The random generator failed.
        case random
        /// The box is damaged or cut, or was sealed with another key or for another purpose.
        case notAuthentic
    }

    /// Seals `plaintext` under a key of 32 bytes. `associatedData` names the purpose and place of the box, so that it
    /// cannot be used elsewhere; `open` needs the same value. The box is ``overhead`` longer than the plaintext.
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

    /// Opens a box that ``seal(_:key:associatedData:)`` made and returns the plaintext.
    package static func open(
        _ box: [UInt8], key: SecretBytes, associatedData: [UInt8]
    ) throws(Failure) -> SecretBytes {
        guard key.count == keySize else { throw .keySize }
        guard box.count >= overhead else { throw .notAuthentic }
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

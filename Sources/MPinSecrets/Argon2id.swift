import CSodium

/// Derives a key from a passphrase: Argon2id version 1.3 (RFC 9106), one lane, by libsodium. The parameters are not
/// secret. They are stored with the sealed data, so that a later version can use larger ones.
package struct Argon2id: Sendable, Equatable {
    /// The number of passes over the memory.
    package let passes: UInt32
    /// The size of the memory in KiB.
    package let kibibytes: UInt32
    /// The salt, 16 random bytes.
    package let salt: [UInt8]

    /// The size of a salt in bytes.
    package static let saltSize = 16
    private static let keySize = 32
    /// The accepted numbers of passes. They are limited, because otherwise a damaged file could block the caller for
    /// minutes.
    private static let passesAllowed: ClosedRange<UInt32> = 1...20
    private static let kibibytesAllowed: ClosedRange<UInt32> = 8...1 << 20
    /// The second recommendation of RFC 9106 section 4: three passes over 64 MiB.
    private static let recommended: (passes: UInt32, kibibytes: UInt32) = (3, 1 << 16)

    /// Takes parameters that were stored with sealed data. Nil if one of them is out of range.
    package init?(passes: UInt32, kibibytes: UInt32, salt: [UInt8]) {
        guard Self.passesAllowed.contains(passes), Self.kibibytesAllowed.contains(kibibytes),
            salt.count == Self.saltSize
        else { return nil }
        self.passes = passes
        self.kibibytes = kibibytes
        self.salt = salt
    }

    /// The recommended parameters with a new random salt.
    package init(random: RandomSource = systemRandom) throws(RandomFailure) {
        (passes, kibibytes) = Self.recommended
        salt = try randomBytes(Self.saltSize, from: random)
    }

    /// Whether the recommended parameters cost more than these.
    package var isOutdated: Bool { passes < Self.recommended.passes || kibibytes < Self.recommended.kibibytes }

    /// Derives the key from the passphrase, 32 bytes. Nil if there is not enough memory.
    package func key(_ passphrase: SecretBytes) -> SecretBytes? {
        let key = SecretBytes(count: Self.keySize)
        var bytes = key.mutableSpan
        let status = bytes.withUnsafeMutableBufferPointer { key in
            passphrase.span.withBytes { passphrase, count in
                passphrase.withMemoryRebound(to: CChar.self, capacity: Int(count)) { passphrase in
                    key.baseAddress.map {
                        crypto_pwhash(
                            $0, UInt64(key.count), passphrase, count, salt, UInt64(passes), Int(kibibytes) * 1024,
                            crypto_pwhash_ALG_ARGON2ID13)
                    }
                }
            }
        }
        return status == 0 ? key : nil
    }
}

import CSodium

/// A key made from a passphrase: Argon2id version 1.3 (RFC 9106), one lane, as libsodium computes it. The parameters
/// are no secret and are kept with what the key seals, so that those of tomorrow can be larger.
package struct Argon2id: Sendable, Equatable {
    /// Passes over the memory.
    package let passes: UInt32
    /// Memory in KiB.
    package let kibibytes: UInt32
    /// 16 bytes.
    package let salt: [UInt8]

    /// Bytes of a salt.
    package static let saltSize = 16
    private static let keySize = 32
    /// What a store may ask for: beyond it, a damaged header would hold up the caller for minutes.
    private static let passesAllowed: ClosedRange<UInt32> = 1...20
    private static let kibibytesAllowed: ClosedRange<UInt32> = 8...1 << 20
    /// The second choice of RFC 9106 section 4: three passes over 64 MiB.
    private static let recommended: (passes: UInt32, kibibytes: UInt32) = (3, 1 << 16)

    /// Nil for parameters that are out of range.
    package init?(passes: UInt32, kibibytes: UInt32, salt: [UInt8]) {
        guard Self.passesAllowed.contains(passes), Self.kibibytesAllowed.contains(kibibytes),
            salt.count == Self.saltSize
        else { return nil }
        self.passes = passes
        self.kibibytes = kibibytes
        self.salt = salt
    }

    /// The parameters of today with a salt of their own.
    package init(random: RandomSource = systemRandom) throws(RandomFailure) {
        (passes, kibibytes) = Self.recommended
        salt = try randomBytes(Self.saltSize, from: random)
    }

    /// Whether those of today ask for more work.
    package var isOutdated: Bool { passes < Self.recommended.passes || kibibytes < Self.recommended.kibibytes }

    /// 32 bytes; nil when there is not enough memory.
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

import MPinSecrets

/// Tells whether a PIN is the one that a login has proved, without keeping the PIN.
struct ProvenPIN {
    private let key: SecretBytes
    private let digest: SecretBytes

    /// Nil where the random generator fails.
    init?(_ number: PINNumber, random: RandomSource) {
        guard let key = try? SecretBytes.random(count: SHA256.size, from: random) else { return nil }
        self.key = key
        digest = Self.digest(number, key)
    }

    /// In constant time.
    func isOf(_ number: PINNumber) -> Bool { Self.digest(number, key) == digest }

    private static func digest(_ number: PINNumber, _ key: SecretBytes) -> SecretBytes {
        let digest = SecretBytes(count: SHA256.size)
        var octets = digest.mutableSpan
        SHA256.hash(key.span, number.scalar.span, into: &octets)
        return digest
    }
}

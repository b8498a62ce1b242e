import MPinSecrets

/// A secret with these bytes.
func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes.span) }

/// The bytes of a secret.
func bytes(_ secret: SecretBytes) -> [UInt8] { secret.span.withUnsafeBufferPointer { Array($0) } }

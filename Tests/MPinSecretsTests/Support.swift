import MPinSecrets

/// Returns a secret with these bytes.
func secret(_ bytes: [UInt8]) -> SecretBytes { SecretBytes(copying: bytes.span) }

/// Returns the bytes of a secret.
func bytes(_ secret: SecretBytes) -> [UInt8] { secret.span.withUnsafeBufferPointer { Array($0) } }

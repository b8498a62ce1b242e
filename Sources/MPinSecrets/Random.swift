import CSodium

/// A function that fills its argument with random bytes. Returns false on failure.
package typealias RandomSource = @Sendable (inout MutableSpan<UInt8>) -> Bool

/// The random generator failed.
package struct RandomFailure: Error {}

/// The system's random generator, through libsodium (getrandom on Linux).
package let systemRandom: RandomSource = { bytes in
    guard sodium_init() >= 0 else { return false }
    bytes.withUnsafeMutableBufferPointer { buffer in
        if let base = buffer.baseAddress { randombytes_buf(base, buffer.count) }
    }
    return true
}

extension SecretBytes {
    /// New secret memory with `count` random bytes.
    package static func random(count: Int, from source: RandomSource = systemRandom) throws(RandomFailure)
        -> SecretBytes
    {
        let secret = SecretBytes(count: count)
        var bytes = secret.mutableSpan
        guard source(&bytes) else { throw RandomFailure() }
        return secret
    }
}

/// `count` random bytes in ordinary memory, for a salt, a nonce or a one-time token.
package func randomBytes(_ count: Int, from source: RandomSource = systemRandom) throws(RandomFailure) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: count)
    var bytes = result.mutableSpan
    guard source(&bytes) else { throw RandomFailure() }
    return result
}

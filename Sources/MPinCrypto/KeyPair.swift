import BN254CX
package import MPinSecrets

/// The key pair of an identity that signs (designated verifier signature, as on the MIRACL Trust platform): z and Pa =
/// z^-1 Q. No D-TA can impersonate such an identity, because its client secret is z (s1 A + s2 A) and only the client
/// knows z.
///
/// A is the point of the M-Pin ID followed by the 128 bytes of the public key. This concatenation is the `id` of every
/// function. To verify a proof, the server uses the public key in place of Q.
package enum KeyPair {
    /// Writes a new key pair: z, 32 bytes, and the public key, 128 bytes.
    package static func generate(
        z: inout MutableSpan<UInt8>, publicKey: inout MutableSpan<UInt8>, random: RandomSource
    ) throws(MPinError) {
        guard z.count == MPinSize.scalar, publicKey.count == MPinSize.g2 else { throw .wrongParameter }
        try RandomScalar.generate(into: &z, random: random)
        try KeyPair.publicKey(z: z.span, into: &publicKey)
    }

    /// Writes the public key z^-1 Q, 128 bytes, for z in 1..<r, 32 bytes.
    package static func publicKey(z: Span<UInt8>, into key: inout MutableSpan<UInt8>) throws(MPinError) {
        guard key.count == MPinSize.g2 else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let z = try arena.decodeScalar(z)
            z.invert(z, arena.scratch)
            let point = arena.g2()
            point.setGenerator()
            point.multiply(point, by: z, bits: 256, arena.scratch)
            try arena.encode(point, into: &key)
        }
    }

    /// Writes z P, 65 bytes, for a point P of 65 bytes and z in 1..<r. With P the sum of the shares, this is the client
    /// secret of an identity with a key pair; with P = A, it is a commitment of M-Pin Full, Z = r A or T = w A.
    package static func multiple(
        z: Span<UInt8>, of point: Span<UInt8>, into product: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard product.count == MPinSize.g1 else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let z = try arena.decodeScalar(z)
            let point = try arena.decodeG1(point)
            point.multiply(point, by: z, bits: 256, arena.scratch)
            try arena.encode(point, into: &product)
        }
    }
}

import BN254CX
package import MPinSecrets

/// The key pair of an identity that signs (designated verifier signature, as on the MIRACL Trust platform): the secret
/// number z and the public key Pa = z^-1 Q, where Q is the generator of G2. The client secret of such an identity is
/// z * (s1 A + s2 A), with the shares s1 A and s2 A of the D-TAs. Only the client knows z, so no D-TA can impersonate
/// the identity.
///
/// A is the point to which the M-Pin ID followed by the 128 bytes of the public key maps. These bytes together are the
/// `id` of every function. To verify a proof, the server uses the public key in place of Q.
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

    /// Writes z * P, 65 bytes, for a point P of 65 bytes and z in 1..<r. If P is the sum of the shares, the result is
    /// the client secret of an identity with a key pair. If P is A, the result is a commitment of M-Pin Full: Z = r A
    /// or T = w A.
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

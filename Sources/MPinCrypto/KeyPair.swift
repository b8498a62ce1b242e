import BN254CX
package import MPinSecrets

/// The key pair of an identity that signs (designated verifier signature, as on the MIRACL Trust platform): z and
/// Pa = z^-1 Q. No D-TA can act for such an identity, because its client secret is z (s1 A + s2 A).
///
/// A is the point of the M-Pin ID followed by the 128 bytes of the public key: this concatenation is the `id` of every
/// function. In the check of a proof the public key stands in the place of Q.
package enum KeyPair {
    /// A new pair: z, 32 bytes, and the public key, 128 bytes.
    package static func generate(
        z: inout MutableSpan<UInt8>, publicKey: inout MutableSpan<UInt8>, random: RandomSource
    ) throws(MPinError) {
        guard z.count == MPinSize.scalar, publicKey.count == MPinSize.g2 else { throw .wrongParameter }
        try RandomScalar.generate(into: &z, random: random)
        try KeyPair.publicKey(z: z.span, into: &publicKey)
    }

    /// The public key z^-1 Q, 128 bytes, for z in 1..<r.
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

    /// z P, 65 bytes, for a point P and z in 1..<r: the client secret of an identity with a key pair from the sum of its
    /// shares, and the commitments Z = r A and T = w A of M-Pin Full.
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

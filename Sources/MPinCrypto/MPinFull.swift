import BN254CX
import MPinSecrets

/// M-Pin Full: in addition to the proof, both sides agree on a key (Scott, "M-Pin: a multi-factor zero knowledge
/// authentication protocol", the section on M-Pin FULL). The client draws a number r and sends Z = r A. The server
/// draws a number w and sends T = w A, or T = w (A + D) with a time permit. A is the point of the M-Pin ID, D that of
/// the M-Pin ID and the date. `KeyPair.multiple` computes Z and T.
///
/// The key is the first 16 bytes of SHA-256(trace || W.x || W.y). The trace is the trace to Fp4, 128 bytes, of a value
/// of the pairing that both sides compute. W is the point x T = w U, 64 bytes; U = x A is the commitment of pass 1.
package enum MPinFull {
    /// The size of a key in bytes.
    package static let keySize = 16

    /// Writes what the client can compute before the user enters the PIN: g1 = e(Q, token) and g2 = e(Q, A), 384 bytes
    /// each. Q is the generator of G2, A the point to which `hashID` maps (the hash of the M-Pin ID, 32 bytes). g1 is
    /// as secret as the token.
    package static func precompute(
        token: Span<UInt8>, hashID: Span<UInt8>, g1: inout MutableSpan<UInt8>, g2: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard hashID.count == MPinSize.hash, g1.count == MPinSize.gt, g2.count == MPinSize.gt else {
            throw .wrongParameter
        }
        try withArena { arena throws(MPinError) in
            let token = try arena.decodeG1(token)
            let a = try arena.mapToG1(hash: hashID)
            let q = arena.g2(), value = arena.gt()
            q.setGenerator()
            Pairing.pairing(value, q.affine, token.affine, arena.scratch)
            try arena.encode(value, into: &g1)
            Pairing.pairing(value, q.affine, a.affine, arena.scratch)
            try arena.encode(value, into: &g2)
        }
    }

    /// Writes the client's key, 16 bytes, derived from (g1 g2^pin)^r and x T.
    ///
    /// The PIN is the scalar of `PINMapping`, as in every other function. (Milagro's library did not reduce the PIN
    /// here.) `r` is below the group order. The value 0 is accepted, but then the key differs from the server's. (For
    /// small values Milagro's library did not terminate.) The time depends on `pinBits` only.
    package static func clientKey(
        g1: Span<UInt8>, g2: Span<UInt8>, pinScalar: Span<UInt8>, pinBits: Int, r: Span<UInt8>, x: Span<UInt8>,
        t: Span<UInt8>, into key: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard key.count == keySize else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let pin = try arena.decodeScalar(pinScalar, bits: pinBits)
            let r = try arena.decodeScalarOrZero(r)
            let x = try arena.decodeScalar(x)
            let point = try arena.decodeG1(t)
            let g1 = try arena.decodeGT(g1)
            let value = try arena.decodeGT(g2)
            value.power(value, by: pin, bits: pinBits, arena.scratch)
            value.multiply(g1, value, arena.scratch)
            value.power(value, by: r, bits: 256, arena.scratch)
            point.multiply(point, by: x, bits: 256, arena.scratch)
            try arena.deriveKey(value, point, into: &key)
        }
    }

    /// Writes the server's key, 16 bytes, derived from e(sQ, Z) and w U; sQ is the server secret. With a time permit,
    /// `ut` takes the place of `u`.
    package static func serverKey(
        z: Span<UInt8>, serverSecret: Span<UInt8>, w: Span<UInt8>, u: Span<UInt8>, ut: Span<UInt8>?,
        into key: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard key.count == keySize else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let z = try arena.decodeG1(z)
            let secret = try arena.decodeG2(serverSecret)
            let w = try arena.decodeScalar(w)
            var point = try arena.decodeG1(u)
            if let ut { point = try arena.decodeG1(ut) }
            let value = arena.gt()
            Pairing.pairing(value, secret.affine, z.affine, arena.scratch)
            point.multiply(point, by: w, bits: 256, arena.scratch)
            try arena.deriveKey(value, point, into: &key)
        }
    }
}

extension Arena {
    /// Writes the first 16 bytes of SHA-256(trace || W.x || W.y), with the trace of `value` and the point W = `w`.
    fileprivate mutating func deriveKey(
        _ value: GT, _ w: G1, into key: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        let trace = octets(GT.traceOctets), point = octets(MPinSize.g1), digest = octets(MPinSize.hash)
        var traceSpan = trace.mutableSpan, pointSpan = point.mutableSpan, digestSpan = digest.mutableSpan
        guard value.encodeTrace(into: &traceSpan, scratch) else { throw .wrongParameter }
        try encode(w, into: &pointSpan)
        SHA256.hash(trace.span, point.span.extracting(1..<MPinSize.g1), into: &digestSpan)
        for i in 0..<key.count { key[i] = digest[i] }
    }
}

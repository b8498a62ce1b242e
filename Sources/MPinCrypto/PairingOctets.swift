import BN254CX

/// The pairing on octets. Points of G2 have 128 bytes, points of G1 65 bytes, values of the pairing 384 bytes.
package enum PairingOctets {
    /// Writes e(q, p).
    package static func pairing(
        q: Span<UInt8>, p: Span<UInt8>, into value: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard value.count == MPinSize.gt else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let q = try arena.decodeG2(q)
            let p = try arena.decodeG1(p)
            let result = arena.gt()
            Pairing.pairing(result, q.affine, p.affine, arena.scratch)
            try arena.encode(result, into: &value)
        }
    }

    /// Writes the product of two pairings, e(q1, p1) e(q2, p2).
    package static func product(
        q1: Span<UInt8>, p1: Span<UInt8>, q2: Span<UInt8>, p2: Span<UInt8>, into value: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard value.count == MPinSize.gt else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let q1 = try arena.decodeG2(q1)
            let p1 = try arena.decodeG1(p1)
            let q2 = try arena.decodeG2(q2)
            let p2 = try arena.decodeG1(p2)
            let result = arena.gt()
            Pairing.product(result, q1.affine, p1.affine, q2.affine, p2.affine, arena.scratch)
            try arena.encode(result, into: &value)
        }
    }
}

import BN254CX

/// What a D-TA computes from its master share s (32 bytes, 1..<r, where r is the order of the group).
package enum TrustAuthority {
    /// Writes the share s A of a client secret, 65 bytes. A is the point to which `hashID` maps, the hash of an M-Pin
    /// ID, 32 bytes.
    package static func clientSecretShare(
        master: Span<UInt8>, hashID: Span<UInt8>, into share: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard hashID.count == MPinSize.hash, share.count == MPinSize.g1 else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let s = try arena.decodeScalar(master)
            let point = try arena.mapToG1(hash: hashID)
            point.multiply(point, by: s, bits: 256, arena.scratch)
            try arena.encode(point, into: &share)
        }
    }

    /// Writes the share s Q of the server secret, 128 bytes. Q is the generator of G2.
    package static func serverSecretShare(
        master: Span<UInt8>, into share: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard share.count == MPinSize.g2 else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let s = try arena.decodeScalar(master)
            let point = arena.g2()
            point.setGenerator()
            point.multiply(point, by: s, bits: 256, arena.scratch)
            try arena.encode(point, into: &share)
        }
    }

    /// Writes the share s D of a time permit, 65 bytes. D is the point of `hashID`, the hash of an M-Pin ID (32 bytes),
    /// and `date`, a day counted from 1970-01-01 (1 or later).
    package static func timePermitShare(
        master: Span<UInt8>, date: Int32, hashID: Span<UInt8>, into share: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard date > 0, hashID.count == MPinSize.hash, share.count == MPinSize.g1 else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let s = try arena.decodeScalar(master)
            let point = try arena.permitPoint(date: date, hashID: hashID)
            point.multiply(point, by: s, bits: 256, arena.scratch)
            try arena.encode(point, into: &share)
        }
    }
}

/// Checks a D-TA's share of a time permit against its share of the server secret.
package enum PermitCheck {
    /// Whether `share`, 65 bytes, is s D(date) with the same s as in `serverSecretShare`, 128 bytes, which is s Q. The
    /// test is e(Q, share) = e(s Q, D(date)). False also if `share` is not a point of G1.
    ///
    /// `date` is a day counted from 1970-01-01, 1 or later. `hashID` is the hash of an M-Pin ID, 32 bytes. Variable
    /// time, because permit shares are public: a D-TA gives them to everybody.
    package static func isTimePermit(
        _ share: Span<UInt8>, date: Int32, hashID: Span<UInt8>, serverSecretShare: Span<UInt8>
    ) throws(MPinError) -> Bool {
        guard date > 0, hashID.count == MPinSize.hash else { throw .wrongParameter }
        guard Server.isPoint(share) else { return false }
        return try withArena { arena throws(MPinError) in
            let secret = try arena.decodeG2(serverSecretShare)
            let permit = try arena.decodeG1(share)
            let day = try arena.permitPoint(date: date, hashID: hashID)
            day.negate(day)
            let generator = arena.g2()
            generator.setGenerator()
            let value = arena.gt()
            Pairing.product(
                value, generator.affine, permit.affine, secret.affine, day.affine, arena.scratch)
            return value.isOne(arena.scratch)
        }
    }
}

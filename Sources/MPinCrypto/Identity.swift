import BN254CX
import MPinSecrets

/// Maps an identity to points of G1 (wire section 3): A = map(SHA-256(ID)) and, for a day, D = map(SHA-256(date ||
/// SHA-256(ID))). Variable time, because identities and dates are public.
package enum Identity {
    /// Writes SHA-256 of the M-Pin ID, 32 bytes. The bytes of the ID are hashed as they are.
    package static func hash(id: Span<UInt8>, into hash: inout MutableSpan<UInt8>) throws(MPinError) {
        guard SHA256.hash(id, into: &hash) else { throw .wrongParameter }
    }

    /// Writes the point, 65 bytes, to which a hash of 32 bytes maps.
    package static func mapToG1(hash: Span<UInt8>, into point: inout MutableSpan<UInt8>) throws(MPinError) {
        guard hash.count == MPinSize.hash, point.count == MPinSize.g1 else { throw .wrongParameter }
        try withG1Arena { arena throws(MPinError) in
            let mapped = try arena.mapToG1(hash: hash)
            try arena.encode(mapped.affine, into: &point)
        }
    }

    /// Writes the point A of an identity, 65 bytes.
    package static func point(id: Span<UInt8>, into point: inout MutableSpan<UInt8>) throws(MPinError) {
        guard point.count == MPinSize.g1 else { throw .wrongParameter }
        try withG1Arena { arena throws(MPinError) in
            let a = try arena.identityPoints(id: id, date: 0).a
            try arena.encode(a.affine, into: &point)
        }
    }

    /// Writes SHA-256(date as four big-endian bytes || hash of the ID), 32 bytes. If the date is zero or below, only
    /// the hash of the ID is hashed.
    package static func hashDate(
        date: Int32, hashID: Span<UInt8>, into hash: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard hashID.count == MPinSize.hash, hash.count == MPinSize.hash else { throw .wrongParameter }
        let bits = UInt32(bitPattern: date)
        let prefix: InlineArray<4, UInt8> = [
            UInt8(truncatingIfNeeded: bits >> 24), UInt8(truncatingIfNeeded: bits >> 16),
            UInt8(truncatingIfNeeded: bits >> 8), UInt8(truncatingIfNeeded: bits),
        ]
        SHA256.hash(date > 0 ? prefix.span : prefix.span.extracting(first: 0), hashID, into: &hash)
    }
}

extension Arena {
    /// The point to which a hash of 32 bytes maps.
    mutating func mapToG1(hash: Span<UInt8>) throws(MPinError) -> G1 {
        let point = g1()
        guard point.mapVartime(hash: hash, scratch) else { throw .wrongParameter }
        return point
    }

    /// The points A = map(SHA-256(id)) and, if the date is above zero, D = map(SHA-256(date || SHA-256(id))). `point` is
    /// A, 65 bytes, if it is known.
    mutating func identityPoints(
        id: Span<UInt8>, point: Span<UInt8>? = nil, date: Int32
    ) throws(MPinError) -> (a: G1, d: G1?) {
        guard date >= 0 else { throw .wrongParameter }
        if let point, date == 0 { return (try decodeG1(point), nil) }
        var hash = InlineArray<32, UInt8>(repeating: 0)
        var hashSpan = hash.mutableSpan
        try Identity.hash(id: id, into: &hashSpan)
        let a = if let point { try decodeG1(point) } else { try mapToG1(hash: hash.span) }
        guard date > 0 else { return (a, nil) }
        return (a, try permitPoint(date: date, hashID: hash.span))
    }

    /// The point D = map(SHA-256(date || hashID)).
    mutating func permitPoint(date: Int32, hashID: Span<UInt8>) throws(MPinError) -> G1 {
        var hash = InlineArray<32, UInt8>(repeating: 0)
        var hashSpan = hash.mutableSpan
        try Identity.hashDate(date: date, hashID: hashID, into: &hashSpan)
        return try mapToG1(hash: hash.span)
    }
}

import BN254CX

/// Factors besides the PIN. A factor is a number f: f A is subtracted from the token and added back at a login. The
/// order of several factors does not matter.
///
/// Factors are 32 bytes, below 2^bits, with bits in 1...256; all functions run in constant time in them. All points are
/// 65 bytes. A result at infinity is `invalidPoint`.
package enum Factor {
    /// Writes token - f A.
    package static func extract(
        id: Span<UInt8>, factor: Span<UInt8>, bits: Int, token: Span<UInt8>, into result: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        try Client.extractPIN(id: id, pinScalar: factor, pinBits: bits, clientSecret: token, into: &result)
    }

    /// Writes token + f A, which undoes `extract`.
    package static func restore(
        id: Span<UInt8>, factor: Span<UInt8>, bits: Int, token: Span<UInt8>, into result: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard result.count == MPinSize.g1 else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let f = try arena.decodeScalar(factor, bits: bits)
            let token = try arena.decodeG1(token)
            let a = try arena.identityPoints(id: id, date: 0).a
            a.multiply(a, by: f, bits: bits, arena.scratch)
            a.add(token, a, arena.scratch)
            try arena.encode(a, into: &result)
        }
    }

    /// Writes the token for a new PIN: token + old A - new A. The two PINs may have different mappings, each with its
    /// own width in bits.
    ///
    /// This function cannot check the old PIN. After a wrong one, neither the old nor the new PIN fits the token.
    package static func changePIN(
        id: Span<UInt8>, old: Span<UInt8>, oldBits: Int, new: Span<UInt8>, newBits: Int, token: Span<UInt8>,
        into result: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard result.count == MPinSize.g1 else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let old = try arena.decodeScalar(old, bits: oldBits)
            let new = try arena.decodeScalar(new, bits: newBits)
            let token = try arena.decodeG1(token)
            let a = try arena.identityPoints(id: id, date: 0).a
            let point = arena.g1()
            point.multiply(a, by: old, bits: oldBits, arena.scratch)
            token.add(token, point, arena.scratch)
            point.multiply(a, by: new, bits: newBits, arena.scratch)
            point.negate(point)
            token.add(token, point, arena.scratch)
            try arena.encode(token, into: &result)
        }
    }
}

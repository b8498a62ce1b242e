import BN254CX

/// Factors besides the PIN. A factor is a number f. At the registration, f A is subtracted from the token, where A is
/// the point of the M-Pin ID; at a login it is added again. The order of several factors does not matter.
///
/// A factor has 32 bytes and is below 2^bits, with `bits` in 1...256. The time of a function does not depend on the
/// factors' values. All points have 65 bytes. If a result is the point at infinity, the error is `invalidPoint`.
package enum Factor {
    /// Subtracts the factor f: writes token - f A, where A is the point of `id`.
    package static func extract(
        id: Span<UInt8>, factor: Span<UInt8>, bits: Int, token: Span<UInt8>, into result: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        try Client.extractPIN(id: id, pinScalar: factor, pinBits: bits, clientSecret: token, into: &result)
    }

    /// Adds the factor f that `extract` has subtracted: writes token + f A, where A is the point of `id`.
    package static func restore(
        id: Span<UInt8>, factor: Span<UInt8>, bits: Int, token: Span<UInt8>, into result: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard result.count == MPinSize.g1 else { throw .wrongParameter }
        try withG1Arena { arena throws(MPinError) in
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
    /// This function cannot check the old PIN. If `old` is wrong, afterwards neither the old nor the new PIN fits the
    /// token.
    package static func changePIN(
        id: Span<UInt8>, old: Span<UInt8>, oldBits: Int, new: Span<UInt8>, newBits: Int, token: Span<UInt8>,
        into result: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard result.count == MPinSize.g1 else { throw .wrongParameter }
        try withG1Arena { arena throws(MPinError) in
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

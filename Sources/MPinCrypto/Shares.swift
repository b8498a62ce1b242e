import BN254CX

/// Adds shares. A sum at infinity has no encoding and is `invalidPoint`.
package enum Shares {
    /// Writes the sum, 65 bytes, of two shares of a client secret or of a time permit.
    package static func recombineG1(
        _ first: Span<UInt8>, _ second: Span<UInt8>, into sum: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard sum.count == MPinSize.g1 else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let a = try arena.decodeG1(first)
            let b = try arena.decodeG1(second)
            a.add(a, b, arena.scratch)
            try arena.encode(a, into: &sum)
        }
    }

    /// Writes the sum, 128 bytes, of two shares of the server secret.
    package static func recombineG2(
        _ first: Span<UInt8>, _ second: Span<UInt8>, into sum: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard sum.count == MPinSize.g2 else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let a = try arena.decodeG2(first)
            let b = try arena.decodeG2(second)
            a.add(a, b, arena.scratch)
            try arena.encode(a, into: &sum)
        }
    }
}

import BN254CX
package import MPinSecrets

/// What one of several authorities gives towards a secret that nobody but the receiver of all shares can know.
package struct Share: Sendable {
    /// Which authority it is of: 1, 2 and so on.
    package let index: Int
    /// What it counts in the sum: a number in 1..<r, 32 bytes; nil: one. Shares of which some are enough have the
    /// coefficients of Lagrange's polynomials at 0 there.
    package let weight: [UInt8]?
    /// G1 point, 65 bytes.
    package let octets: SecretBytes

    package init(index: Int, weight: [UInt8]? = nil, _ octets: SecretBytes) {
        self.index = index
        self.weight = weight
        self.octets = octets
    }
}

/// Adds shares. A sum at infinity has no encoding and is `invalidPoint`.
package enum Shares {
    /// More authorities than anybody has.
    private static let maxCount = 16

    /// The client secret or the time permit, 65 bytes, that the shares make: the sum of each times its weight. No share at
    /// all, and two of one authority, are `wrongParameter`.
    package static func assemble(_ shares: [Share], into sum: inout MutableSpan<UInt8>) throws(MPinError) {
        guard sum.count == MPinSize.g1, 1...maxCount ~= shares.count, Set(shares.map(\.index)).count == shares.count
        else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let total = arena.g1()
            total.setInfinity()
            for share in shares {
                let term = try arena.decodeG1(share.octets.span)
                if let weight = share.weight {
                    term.multiply(term, by: try arena.decodeScalar(weight.span), bits: 256, arena.scratch)
                }
                total.add(total, term, arena.scratch)
            }
            try arena.encode(total, into: &sum)
        }
    }

    /// Writes the sum, 65 bytes, of two shares of a client secret or of a time permit, as the C API has it.
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

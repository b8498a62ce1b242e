import BN254CX
package import MPinSecrets

/// One authority's share of a secret. Only the receiver of all shares can compute the secret.
package struct Share: Sendable {
    /// The number of the authority: 1, 2 and so on.
    package let index: Int
    /// The number by which the share is multiplied in the sum: 32 bytes, in 1..<r; nil means one. In a scheme where
    /// some of the shares suffice, the weights are the values of Lagrange's polynomials at 0.
    package let weight: [UInt8]?
    /// The share: a G1 point, 65 bytes.
    package let octets: SecretBytes

    package init(index: Int, weight: [UInt8]? = nil, _ octets: SecretBytes) {
        self.index = index
        self.weight = weight
        self.octets = octets
    }
}

/// Adds shares. If the sum is the point at infinity, which has no encoding, the error is `invalidPoint`.
package enum Shares {
    /// The largest number of shares that is accepted.
    private static let maxCount = 16

    /// Writes the client secret or the time permit, 65 bytes: the sum of the shares, each times its weight. If there is no
    /// share, or if two are of the same authority, the error is `wrongParameter`.
    package static func assemble(_ shares: [Share], into sum: inout MutableSpan<UInt8>) throws(MPinError) {
        guard sum.count == MPinSize.g1, 1...maxCount ~= shares.count, Set(shares.map { $0.index }).count == shares.count
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

    /// Writes the sum, 65 bytes, of two shares of a client secret or of a time permit, for the C API.
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

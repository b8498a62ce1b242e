import BN254CX
package import MPinSecrets

/// Random scalars: master shares, x, y.
package enum RandomScalar {
    /// 32 bytes, uniform in 1..<r.
    ///
    /// Candidates of 254 bits are drawn until one fits (NIST SP 800-56A revision 3, section 5.6.1.2.2, testing
    /// candidates): more than half of them do, and how many were refused says nothing about the one that is kept. A
    /// generator that fails 256 times is broken.
    package static func generate(
        into scalar: inout MutableSpan<UInt8>, random: RandomSource
    ) throws(MPinError) {
        guard scalar.count == MPinSize.scalar else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let candidate = arena.scalar()
            for _ in 0..<256 {
                guard random(&scalar) else { throw .randomFailed }
                scalar[0] &= 0x3F
                if candidate.decode(scalar.span, arena.scratch) { return }
            }
            throw .randomFailed
        }
    }
}

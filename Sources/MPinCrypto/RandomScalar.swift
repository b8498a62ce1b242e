import BN254CX
package import MPinSecrets

/// Random scalars: master shares, x, and the server's challenge y.
package enum RandomScalar {
    /// Writes 32 bytes, uniform in 1..<r.
    ///
    /// It draws candidates of 254 bits until one is in the range (NIST SP 800-56A revision 3, section 5.6.1.2.2,
    /// testing candidates). More than half of all candidates are. The number of rejected ones reveals nothing about the
    /// result. After 256 rejections the generator is regarded as broken: `randomFailed`.
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

    /// Writes the challenge y of a login, 32 bytes: a + b lambda in 1..<r for random a and b of 64 bits, where lambda
    /// is the endomorphism of G1 (`ScalarSplit`). With this form, y A needs half as many doublings as with any other y.
    ///
    /// There are 2^128 - 1 different challenges. A client that does not know the PIN can answer at most one of them, so
    /// a challenge need not be longer than the desired security level (Schnorr, "Efficient signature generation by
    /// smart cards", J. Cryptology 1991, section 2; challenges of this form: Bowe, Grigg, Hopwood, "Recursive proof
    /// composition without a trusted setup", eprint 2019/1021).
    package static func generateChallenge(
        into challenge: inout MutableSpan<UInt8>, random: RandomSource
    ) throws(MPinError) {
        guard challenge.count == MPinSize.scalar else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let halves = arena.scalar(), y = arena.scalar()
            for _ in 0..<256 {
                guard random(&challenge), halves.load(challenge.span) else { throw .randomFailed }
                y.setShort(halves.limbs[0], halves.limbs[1])
                if y.encode(into: &challenge), halves.decode(challenge.span, arena.scratch) { return }
            }
            throw .randomFailed
        }
    }
}

import BN254CX
package import MPinSecrets

/// Random scalars: master shares, the client's x, and the server's challenge y. r is the order of the group.
package enum RandomScalar {
    /// Writes a random number in 1..<r, 32 bytes, all equally likely.
    ///
    /// Draws candidates of 254 bits until one is in the range (NIST SP 800-56A revision 3, section 5.6.1.2.2, testing
    /// candidates). More than half of all candidates are in the range. The number of rejected candidates reveals
    /// nothing about the result. After 256 rejections the generator must be broken, and the error is `randomFailed`.
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

    /// Writes the challenge y of a login, 32 bytes: y = a + b lambda mod r, other than 0, for random a and b of 64
    /// bits. A fast map of G1 multiplies by the constant lambda (`ScalarSplit`), so y A needs half as many doublings as
    /// for an arbitrary y.
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

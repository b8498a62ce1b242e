import BN254CX
package import MPinSecrets

/// What a server needs to judge a proof.
package struct LoginProof: Sendable {
    /// The M-Pin ID; for an identity with a key pair followed by its public key (`KeyPair`).
    package let id: [UInt8]
    /// The day of the time permit; 0 without one.
    package let date: Int32
    /// The commitment, 65 bytes: U without a date, UT with a date.
    package let u: [UInt8]
    /// The challenge, 32 bytes in 1..<r.
    package let y: [UInt8]
    /// The proof V, 65 bytes.
    package let v: [UInt8]
    /// The public key, 128 bytes; empty for an identity without a key pair. Whether it has order r is not checked, so
    /// a result counts only for a key that was checked when it was registered.
    package let publicKey: [UInt8]

    package init(id: [UInt8], date: Int32, u: [UInt8], y: [UInt8], v: [UInt8], publicKey: [UInt8] = []) {
        self.id = id
        self.date = date
        self.u = u
        self.y = y
        self.v = v
        self.publicKey = publicKey
    }
}

extension ServerContext {
    /// The largest number of proofs that `areAllRight` takes.
    package static let jointProofs = 8

    /// Whether all proofs are right. Of wrong ones it does not tell which they are. Four proofs without a key pair cost
    /// less than two `verify`, because all of them need only one product of two pairings. A proof with a key pair adds
    /// a Miller loop of its own; four of them cost about two and a half `verify`.
    ///
    /// The test is e(Q, sum d V) e(sQ, sum d (U' + y T)) = 1 with a random d for each proof (small exponents test:
    /// Bellare, Garay, Rabin, "Fast batch verification for modular exponentiation and digital signatures", EUROCRYPT
    /// 1998, theorem 3.2). For a proof with a key pair there is a factor e(Pa, d V) with its public key Pa in place of
    /// a part of the first sum. Every proof is right on its own if the product of its two pairings is 1. All these
    /// products have order r or 1, and a product other than 1 is cancelled by the others for at most one of the 2^128
    /// values of its d, whatever the others are: also if the key of one of them has another order. d is drawn here,
    /// after the proofs have arrived. It has the form a + b lambda with halves of 64 bits (`Scalar.setShort`), so that
    /// d V needs half as many doublings as for an arbitrary number.
    ///
    /// Variable time, because all values but sQ were sent over the wire and each d is used once. Throws if there are more
    /// than `jointProofs` proofs or a value is not valid.
    package func areAllRight(_ proofs: [LoginProof], random: RandomSource) throws(MPinError) -> Bool {
        guard proofs.count <= ServerContext.jointProofs else { throw .wrongParameter }
        return try withArena { arena throws(MPinError) in
            let weights = arena.take(Scalar.count &* ServerContext.jointProofs)
            for i in proofs.indices {
                try arena.drawWeight(Scalar(weights + Scalar.count &* i), random)
            }
            let left = arena.g1(), right = arena.g1()
            try arena.sumOfPoints(right, proofs, weights)
            let hasKeyless = try arena.sumOfProofs(left, proofs, weights)
            let pairs = try arena.pairsOfKeys(proofs, weights, and: hasKeyless ? left : nil)
            if pairs.isEmpty { return isOne(&arena, v: left, point: right) }
            return isOne(&arena, pairs, point: right)
        }
    }
}

// Each function works on a copy of the arena, so that the next one uses the same limbs again.
extension Arena {
    /// Draws d = a + b lambda mod r for random a and b of 64 bits.
    fileprivate func drawWeight(_ weight: Scalar, _ random: RandomSource) throws(MPinError) {
        var octets = InlineArray<32, UInt8>(repeating: 0)
        var span = octets.mutableSpan
        guard random(&span), weight.load(octets.span) else { throw .randomFailed }
        weight.setShort(weight.limbs[0], weight.limbs[1])
    }

    /// r = sum d V over the proofs without a key pair. Returns whether there are any.
    fileprivate func sumOfProofs(_ r: G1, _ proofs: [LoginProof], _ weights: Limbs) throws(MPinError) -> Bool {
        var arena = self, hasAny = false
        var sum = G1Sum(arena.take(G1Sum.count(terms: proofs.count)))
        for (i, proof) in proofs.enumerated() where proof.publicKey.isEmpty {
            var inner = arena
            let v = try inner.decodeG1(proof.v.span)
            sum.add(v, by: Scalar(weights + Scalar.count &* i), inner.scratch)
            hasAny = true
        }
        sum.store(in: r, arena.scratch)
        return hasAny
    }

    /// The pairs (Pa, d V) of the proofs with a key pair. If there are any, and also a `sum` of the others, (Q, `sum`)
    /// is one of the pairs.
    fileprivate mutating func pairsOfKeys(
        _ proofs: [LoginProof], _ weights: Limbs, and sum: G1?
    ) throws(MPinError) -> MillerPairs {
        var pairs = MillerPairs(take(MillerPairs.count(ServerContext.jointProofs &+ 1)))
        for (i, proof) in proofs.enumerated() where !proof.publicKey.isEmpty {
            var inner = self
            let key = try inner.decodeG2(proof.publicKey.span, checksOrder: false), v = try inner.decodeG1(proof.v.span)
            v.multiplyVartime(v, by: Scalar(weights + Scalar.count &* i), inner.scratch)
            try inner.makeAffine(v.limbs, count: 1)
            pairs.append(key.affine, v.affine)
        }
        if let sum, !pairs.isEmpty {
            var inner = self
            let q = inner.g2()
            q.setGenerator()
            try inner.makeAffine(sum.limbs, count: 1)
            pairs.append(q.affine, sum.affine)
        }
        return pairs
    }

    /// r = sum d U' + (d y) T.
    fileprivate func sumOfPoints(_ r: G1, _ proofs: [LoginProof], _ weights: Limbs) throws(MPinError) {
        var arena = self
        var sum = G1Sum(arena.take(G1Sum.count(terms: 2 &* proofs.count)))
        for (i, proof) in proofs.enumerated() {
            var inner = arena
            let weight = Scalar(weights + Scalar.count &* i)
            let y = try inner.decodeScalar(proof.y.span)
            let u = try inner.decodeG1(proof.u.span)
            let (a, d) = try inner.identityPoints(id: proof.id.span, date: proof.date)
            if let d { a.add(a, d, inner.scratch) }
            sum.add(u, by: weight, inner.scratch)
            y.multiplyVartime(y, weight, inner.scratch)
            sum.add(a, by: y, inner.scratch)
        }
        sum.store(in: r, arena.scratch)
    }
}

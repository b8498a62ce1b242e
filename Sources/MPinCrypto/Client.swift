import BN254CX

/// The client's side of a login (wire section 3). In the formulas, A is the point to which the M-Pin ID maps, D(date)
/// is the point of the M-Pin ID and a day, r is the order of the group, and e is the PIN scalar from
/// `PINMapping.scalar`. `pinBits` is the width of the PIN's mapping in bits. IDs have any length, points have 65 bytes,
/// scalars 32 bytes. A wrong length or a number out of range is `wrongParameter`.
package enum Client {
    /// Writes the token, 65 bytes: the client secret minus e A, for a PIN scalar e below 2^pinBits.
    package static func extractPIN(
        id: Span<UInt8>, pinScalar: Span<UInt8>, pinBits: Int, clientSecret: Span<UInt8>,
        into token: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard token.count == MPinSize.g1 else { throw .wrongParameter }
        try withG1Arena { arena throws(MPinError) in
            let e = try arena.decodeScalar(pinScalar, bits: pinBits)
            let secret = try arena.decodeG1(clientSecret)
            let a = try arena.identityPoints(id: id, date: 0).a
            a.multiply(a, by: e, bits: pinBits, arena.scratch)
            a.negate(a)
            a.add(secret, a, arena.scratch)
            try arena.encode(a, into: &token)
        }
    }

    /// Pass 1. Writes sec = token + e A, plus the permit if there is one; the commitment u = x A; and with a date the
    /// commitment ut = x (A + D(date)). Each of these points has 65 bytes; the random number x is in 1..<r.
    ///
    /// A date above 0 requires `permit` and 65 bytes for `ut`. A date of 0 requires that `permit` is nil and `ut` has
    /// length 0. The error is `invalidPoint` if an output is the point at infinity, for example because the token
    /// belongs to another identity.
    ///
    /// `point` is A, 65 bytes, if the caller has kept it since the registration: then the ID is not mapped again, which
    /// saves a tenth of a login.
    package static func pass1(
        date: Int32, id: Span<UInt8>, point: Span<UInt8>? = nil, x: Span<UInt8>, pinScalar: Span<UInt8>, pinBits: Int,
        token: Span<UInt8>, permit: Span<UInt8>?, sec: inout MutableSpan<UInt8>, u: inout MutableSpan<UInt8>,
        ut: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard sec.count == MPinSize.g1, u.count == MPinSize.g1, ut.count == (date > 0 ? MPinSize.g1 : 0),
            date > 0 || permit == nil
        else { throw .wrongParameter }
        try withG1Arena { arena throws(MPinError) in
            let x = try arena.decodeScalar(x)
            let e = try arena.decodeScalar(pinScalar, bits: pinBits)
            let secret = try arena.decodeG1(token)
            let (a, d) = try arena.identityPoints(id: id, point: point, date: date)
            let multiples = arena.multiples(of: a)
            let points = arena.take((d == nil ? 2 : 3) &* G1.count)
            let sum = G1(points), commitment = G1(points + G1.count)
            multiples.multiply(sum, by: e, bits: pinBits, arena.scratch)
            sum.add(sum, secret, arena.scratch)
            multiples.multiply(commitment, by: x, bits: 256, arena.scratch)
            guard let d else {
                try arena.makeAffine(points, count: 2)
                try arena.encode(sum.affine, into: &sec)
                return try arena.encode(commitment.affine, into: &u)
            }
            guard let permit else { throw .wrongParameter }
            sum.add(sum, try arena.decodeG1(permit), arena.scratch)
            let timed = G1(points + 2 &* G1.count)
            timed.add(a, d, arena.scratch)
            timed.multiply(timed, by: x, bits: 256, arena.scratch)
            try arena.makeAffine(points, count: 3)
            try arena.encode(sum.affine, into: &sec)
            try arena.encode(commitment.affine, into: &u)
            try arena.encode(timed.affine, into: &ut)
        }
    }

    /// Writes y mod r, 32 bytes, for the server's challenge y of 32 bytes. The challenge may be larger than r, because
    /// some servers send 256 random bits (TRUST wire section 1.2).
    package static func challenge(_ y: Span<UInt8>, into reduced: inout MutableSpan<UInt8>) throws(MPinError) {
        try withG1Arena { arena throws(MPinError) in
            let value = arena.scalar()
            guard value.load(y) else { throw .wrongParameter }
            value.reduce()
            guard value.encode(into: &reduced) else { throw .wrongParameter }
        }
    }

    /// Pass 2. Writes the proof v = -(x + y) sec, 65 bytes, for x and y in 1..<r and the `sec` that pass 1 has written.
    package static func pass2(
        x: Span<UInt8>, y: Span<UInt8>, sec: Span<UInt8>, into v: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard v.count == MPinSize.g1 else { throw .wrongParameter }
        try withG1Arena { arena throws(MPinError) in
            let x = try arena.decodeScalar(x)
            let y = try arena.decodeScalar(y)
            let point = try arena.decodeG1(sec)
            x.add(x, y)
            point.multiply(point, by: x, bits: 256, arena.scratch)
            point.negate(point)
            try arena.encode(point, into: &v)
        }
    }
}

extension Arena {
    /// Makes a table of multiples of `point`, so that several multiplications of the same point are faster.
    mutating func multiples(of point: G1) -> G1Multiples {
        let multiples = G1Multiples(take(G1Multiples.count))
        multiples.fill(point, scratch)
        return multiples
    }
}

import BN254CX

/// A server secret sQ, prepared for verification. Every check needs the line functions of two points of G2, the
/// generator Q and the secret sQ, so they are computed once and kept. Many threads can use a context at the same time.
package final class ServerContext: Sendable {
    private let generator: PreparedG2
    private let secret: PreparedG2

    /// Reads a server secret of 128 bytes. If it is a point outside the subgroup of order r, the error is `wrongOrder`.
    package init(serverSecret: Span<UInt8>) throws(MPinError) {
        (generator, secret) = try withArena { arena throws(MPinError) in
            let q = try arena.decodeG2(serverSecret)
            let secret = PreparedG2(q.affine, arena.scratch)
            q.setGenerator()
            return (PreparedG2(q.affine, arena.scratch), secret)
        }
    }

    /// Whether the proof V (`v`) is that of a client that has the token for `id` and knew the PIN. The test is e(Q, V)
    /// e(sQ, U' + y T) = 1. Here T is A, the point of `id`, or for a date above 0 A + D(date) (wire section 3). `u` is
    /// the commitment U': U without a date, UT with a date. False if the PIN, the token or the permit is wrong.
    ///
    /// `publicKey`, 128 bytes, takes the place of Q for an identity with a key pair (`KeyPair`). `checksKey`: whether a
    /// key that does not have order r is refused as `wrongOrder`. The check takes a twelfth of the time; a caller may
    /// leave it out that accepts the result only for a key that was checked when it was registered.
    ///
    /// Sizes: `u` and `v` 65 bytes, `y` 32 bytes in 1..<r.
    package func verify(
        id: Span<UInt8>, date: Int32, u: Span<UInt8>, y: Span<UInt8>, v: Span<UInt8>, publicKey: Span<UInt8>? = nil,
        checksKey: Bool = true
    ) throws(MPinError) -> Bool {
        try withArena { arena throws(MPinError) in
            let y = try arena.decodeScalar(y)
            let u = try arena.decodeG1(u)
            let v = try arena.decodeG1(v)
            let (a, d) = try arena.identityPoints(id: id, date: date)
            if let d { a.add(a, d, arena.scratch) }
            let key: G2? = if let publicKey { try arena.decodeG2(publicKey, checksOrder: checksKey) } else { nil }
            let point = arena.challenged(a, y: y, commitment: u)
            return check(&arena, point: point, v: v, key: key).isOne(arena.scratch)
        }
    }

    /// Verifies V with the points that pass 1 has computed: `hid` = A and, with a date, `htid` = T. If the proof is
    /// wrong, writes e = e(Q, V) e(sQ, U' + y T) and f = e(Q, y A + U) and throws `badPIN`. From e and f, `Kangaroo`
    /// computes how far the PIN was from the right one: e = f^-(entered - registered).
    ///
    /// A date above 0 requires `htid` = T and `ut` = UT, otherwise `u` is required. `e` and `f` both have 384 bytes, or
    /// both have length 0 if they are not wanted; if they are wanted, `u` is required too. `publicKey` takes the place
    /// of Q, as in `verify`. If a point is not valid, the error is `invalidPoint` or `wrongOrder`.
    package func pass2(
        date: Int32, hid: Span<UInt8>, htid: Span<UInt8>?, y: Span<UInt8>, u: Span<UInt8>?, ut: Span<UInt8>?,
        v: Span<UInt8>, publicKey: Span<UInt8>? = nil, e: inout MutableSpan<UInt8>, f: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard date >= 0, e.count == f.count, e.count == 0 || e.count == MPinSize.gt else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let y = try arena.decodeScalar(y)
            let v = try arena.decodeG1(v)
            let a = try arena.decodeG1(hid)
            let plain: G1? = if let u { try arena.decodeG1(u) } else { nil }
            let (identity, commitment) = try arena.decodeTimed(date: date, htid: htid, ut: ut) ?? (a, plain)
            guard let commitment, e.count == 0 || plain != nil else { throw .wrongParameter }
            let key: G2? = if let publicKey { try arena.decodeG2(publicKey) } else { nil }
            let point = arena.challenged(identity, y: y, commitment: commitment)
            let value = check(&arena, point: point, v: v, key: key)
            if value.isOne(arena.scratch) { return }
            if let plain, e.count > 0 {
                try arena.encode(value, into: &e)
                let base = date == 0 ? point : arena.challenged(a, y: y, commitment: plain)
                if let key {
                    Pairing.pairingOfAnyZ(value, key.affine, base, arena.scratch)
                } else {
                    Pairing.pairing(value, generator, base, arena.scratch)
                }
                try arena.encode(value, into: &f)
            }
            throw .badPIN
        }
    }

    /// Whether e(Q, V) e(sQ, point) is 1.
    func isOne(_ arena: inout Arena, v: G1, point: G1) -> Bool {
        check(&arena, point: point, v: v, key: nil).isOne(arena.scratch)
    }

    /// Whether the product of the pairings of `pairs`, times e(sQ, point), is 1.
    func isOne(_ arena: inout Arena, _ pairs: MillerPairs, point: G1) -> Bool {
        let value = arena.gt()
        Pairing.product(value, secret, point, pairs, arena.scratch)
        return value.isOne(arena.scratch)
    }

    /// The value e(key, V) e(sQ, point). If `key` is nil, Q is used instead.
    private func check(_ arena: inout Arena, point: G1, v: G1, key: G2?) -> GT {
        let value = arena.gt()
        if let key {
            Pairing.product(value, secret, point, key.affine, v.affine, arena.scratch)
        } else {
            Pairing.product(value, generator, v, secret, point, arena.scratch)
        }
        return value
    }
}

extension Arena {
    /// The point commitment + y * identity. Variable time, because all three values were sent over the wire.
    fileprivate mutating func challenged(_ identity: G1, y: Scalar, commitment: G1) -> G1 {
        let point = g1()
        point.multiplyVartime(identity, by: y, scratch)
        point.add(point, commitment, scratch)
        return point
    }

    /// Decodes the points T (`htid`) and UT for a date above 0. Nil if the date is 0.
    fileprivate mutating func decodeTimed(
        date: Int32, htid: Span<UInt8>?, ut: Span<UInt8>?
    ) throws(MPinError) -> (G1, G1?)? {
        guard date > 0 else { return nil }
        guard let htid, let ut else { throw .wrongParameter }
        return (try decodeG1(htid), try decodeG1(ut))
    }
}

/// The server's first pass. The second pass is `ServerContext.verify` or `ServerContext.pass2`.
package enum Server {
    /// Writes hid = A, the point of the M-Pin ID `id`, and for a date above 0 htid = A + D(date); 65 bytes each. For a
    /// date of 0, `htid` has length 0.
    package static func pass1(
        date: Int32, id: Span<UInt8>, hid: inout MutableSpan<UInt8>, htid: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard hid.count == MPinSize.g1, htid.count == (date > 0 ? MPinSize.g1 : 0) else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let (a, d) = try arena.identityPoints(id: id, date: date)
            try arena.encode(a.affine, into: &hid)
            guard let d else { return }
            d.add(a, d, arena.scratch)
            try arena.encode(d, into: &htid)
        }
    }

    /// Whether the octets that a client sent as U, UT or V are a point of G1: 65 bytes, `04`, both coordinates below p,
    /// on the curve.
    package static func isPoint(_ octets: Span<UInt8>) -> Bool {
        do throws(MPinError) {
            _ = try withArena { arena throws(MPinError) in try arena.decodeG1(octets) }
            return true
        } catch { return false }
    }

    /// Whether the octets that a client sent as its public key are a point of G2 of order r: 128 bytes, all coordinates
    /// below p, on the curve and in the subgroup (TRUST wire section 10). Infinity has no encoding.
    package static func isPublicKey(_ octets: Span<UInt8>) -> Bool {
        do throws(MPinError) {
            _ = try withArena { arena throws(MPinError) in try arena.decodeG2(octets) }
            return true
        } catch { return false }
    }
}

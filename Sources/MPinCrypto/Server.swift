import BN254CX

/// The server's first pass. `ServerContext` has the second.
package enum Server {
    /// Writes hid = A and, with a date above 0, htid = A + D(date); 65 bytes each. With a date of 0, `htid` has length
    /// 0.
    package static func pass1(
        date: Int32, id: Span<UInt8>, hid: inout MutableSpan<UInt8>, htid: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        guard hid.count == MPinSize.g1, htid.count == (date > 0 ? MPinSize.g1 : 0) else { throw .wrongParameter }
        try withArena { arena throws(MPinError) in
            let (a, d) = try arena.identityPoints(id: id, date: date)
            try arena.encodeAffine(a, into: &hid)
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
}

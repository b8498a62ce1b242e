import MPinCrypto

extension ProtocolBench {
    /// Times making and checking a proof for which the server sends no challenge, with the right PIN and without a time
    /// permit. The server's context already exists, as in the row `server_2`; the row `server_context_new` shows the
    /// cost of making one.
    func measureOnePass(_ benchmark: inout Benchmark) throws(MPinError) {
        let message = Sample.bytes(32, seed: 14)
        var proofs: [[UInt8]] = []
        for user in sessions {
            proofs.append(
                try filled(65) { v throws(MPinError) in try prove(user, message: message.span, v: &v) })
        }
        benchmark.time("get_y") {
            let user = turn()
            write(32) { y throws(MPinError) in
                try OnePass.y(time: time, u: user.u.span, message: message.span, into: &y)
            }
        }
        benchmark.time("client") {
            let user = turn()
            write(65) { v throws(MPinError) in try prove(user, message: message.span, v: &v) }
        }
        benchmark.time("server") {
            let index = turnIndex()
            check(sessions[index], message: message, v: proofs[index])
        }
    }

    /// The time of the proof, in seconds since 1970.
    private var time: Int64 { 1_700_000_000 }

    private func prove(
        _ user: Session, message: Span<UInt8>, v: inout MutableSpan<UInt8>
    ) throws(MPinError) {
        var u = second.mutableSpan, timed = none.mutableSpan
        try OnePass.prove(
            date: 0, id: user.id.span, x: user.x.span, pinScalar: user.pin.span, pinBits: 14, token: user.token.span,
            permit: nil, time: time, message: message, u: &u, ut: &timed, v: &v)
    }

    private func check(_ user: Session, message: [UInt8], v: [UInt8]) {
        var e = none.mutableSpan, f = none.mutableSpan
        do throws(MPinError) {
            try context.onePass(
                date: 0, id: user.id.span, u: user.u.span, ut: nil, v: v.span, time: time, message: message.span,
                publicKey: nil, e: &e, f: &f)
        } catch {
            fatalError("refused: \(error)")
        }
    }
}

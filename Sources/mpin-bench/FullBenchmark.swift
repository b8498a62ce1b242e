import MPinCrypto

extension ProtocolBench {
    /// Times M-Pin Full, where both sides agree on a key.
    func measureFull(_ benchmark: inout Benchmark) throws(MPinError) {
        var agreements: [Agreement] = []
        for user in sessions { agreements.append(try Agreement(user)) }
        let secret = serverSecret
        benchmark.time("precompute") {
            let user = turn()
            var g1 = e.mutableSpan, g2 = f.mutableSpan
            write(0) { _ throws(MPinError) in
                try MPinFull.precompute(token: user.token.span, hashID: user.hash.span, g1: &g1, g2: &g2)
            }
        }
        benchmark.time("client_key") {
            let index = turnIndex()
            write(MPinFull.keySize) { key throws(MPinError) in try agreements[index].clientKey(into: &key) }
        }
        benchmark.time("server_key") {
            let index = turnIndex()
            write(MPinFull.keySize) { key throws(MPinError) in
                try agreements[index].serverKey(secret.span, into: &key)
            }
        }
        for agreement in agreements {
            let client = try filled(MPinFull.keySize) { key throws(MPinError) in
                try agreement.clientKey(into: &key)
            }
            let server = try filled(MPinFull.keySize) { key throws(MPinError) in
                try agreement.serverKey(secret.span, into: &key)
            }
            if client != server { fatalError("the keys differ") }
        }
    }
}

/// The inputs of both sides of one session for deriving the key.
private struct Agreement {
    let user: Session
    let r: [UInt8], w: [UInt8], z: [UInt8], t: [UInt8], g1: [UInt8], g2: [UInt8]

    init(_ user: Session) throws(MPinError) {
        let r = Sample.scalar(seed: 15), w = Sample.scalar(seed: 16)
        z = try filled(65) { out throws(MPinError) in
            try KeyPair.multiple(z: r.span, of: user.hid.span, into: &out)
        }
        t = try filled(65) { out throws(MPinError) in
            try KeyPair.multiple(z: w.span, of: user.hid.span, into: &out)
        }
        var second = [UInt8](repeating: 0, count: 384)
        var g2 = second.mutableSpan
        g1 = try filled(384) { g1 throws(MPinError) in
            try MPinFull.precompute(token: user.token.span, hashID: user.hash.span, g1: &g1, g2: &g2)
        }
        (self.user, self.r, self.w, self.g2) = (user, r, w, second)
    }

    func clientKey(into key: inout MutableSpan<UInt8>) throws(MPinError) {
        try MPinFull.clientKey(
            g1: g1.span, g2: g2.span, pinScalar: user.pin.span, pinBits: 14, r: r.span, x: user.x.span, t: t.span,
            into: &key)
    }

    func serverKey(_ serverSecret: Span<UInt8>, into key: inout MutableSpan<UInt8>) throws(MPinError) {
        try MPinFull.serverKey(
            z: z.span, serverSecret: serverSecret, w: w.span, u: user.u.span, ut: nil, into: &key)
    }
}

import MPinCrypto
import MPinSecrets

extension ProtocolBench {
    /// Times the operations on identities with a key pair of their own.
    func measureKeyPair(_ benchmark: inout Benchmark) throws(MPinError) {
        var signers: [Signer] = []
        for (number, user) in sessions.enumerated() {
            signers.append(try Signer(user, z: Sample.scalar(seed: 3000 + number), master: master))
        }
        let z = Sample.scalar(seed: 13)
        benchmark.time("get_dvs_keypair") {
            var z = UnsafeMutableBufferPointer(rebasing: second[..<32]).mutableSpan
            write(128) { key throws(MPinError) in
                try KeyPair.generate(z: &z, publicKey: &key, random: systemRandom)
            }
        }
        benchmark.time("get_dvs_public_key") {
            write(128) { key throws(MPinError) in try KeyPair.publicKey(z: z.span, into: &key) }
        }
        benchmark.time("get_g1_multiple") {
            let user = turn()
            write(65) { out throws(MPinError) in
                try KeyPair.multiple(z: z.span, of: user.clientSecret.span, into: &out)
            }
        }
        benchmark.time("client_1_dvs") { client1(signers[turnIndex()]) }
        benchmark.time("server_verify_dvs") {
            let signer = signers[turnIndex()]
            let isRight = try? context.verify(
                id: signer.id.span, date: 0, u: signer.u.span, y: signer.y.span, v: signer.v.span,
                publicKey: signer.publicKey.span)
            if isRight != true { fatalError("a right PIN was refused") }
        }
    }
}

extension ProtocolBench {
    /// Pass 1 with a PIN of six digits and the point that was kept since the registration, as in a login at a project
    /// of MIRACL Trust.
    private func client1(_ signer: Signer) {
        var u = second.mutableSpan, timed = none.mutableSpan
        write(65) { sec throws(MPinError) in
            try Client.pass1(
                date: 0, id: signer.id.span, point: signer.point.span, x: signer.x.span,
                pinScalar: signer.longPIN.span, pinBits: 20, token: signer.token.span, permit: nil, sec: &sec, u: &u,
                ut: &timed)
        }
    }
}

/// A proof of an identity whose key pair has the secret `z`.
private struct Signer {
    let publicKey: [UInt8], id: [UInt8], u: [UInt8], y: [UInt8], v: [UInt8]
    let point: [UInt8], x: [UInt8], longPIN: [UInt8], token: [UInt8]

    init(_ user: Session, z: [UInt8], master: [UInt8]) throws(MPinError) {
        let key = try filled(128) { out throws(MPinError) in try KeyPair.publicKey(z: z.span, into: &out) }
        let id = user.id + key
        let hash = try Session.hash(id)
        let shares = try filled(65) { out throws(MPinError) in
            try TrustAuthority.clientSecretShare(master: master.span, hashID: hash.span, into: &out)
        }
        let secret = try filled(65) { out throws(MPinError) in
            try KeyPair.multiple(z: z.span, of: shares.span, into: &out)
        }
        let token = try filled(65) { out throws(MPinError) in
            try Client.extractPIN(
                id: id.span, pinScalar: user.pin.span, pinBits: 14, clientSecret: secret.span, into: &out)
        }
        let proof = try Session.login(id, user.x, user.y, user.pin, token, nil)
        (publicKey, self.id, u, y, v) = (key, id, proof.u, user.y, proof.v)
        point = try filled(65) { out throws(MPinError) in try Identity.point(id: id.span, into: &out) }
        let digits = Array("654321".utf8)
        longPIN = try filled(32) { out throws(MPinError) in
            try PINMapping.decimal6.scalar(pin: digits.span, into: &out)
        }
        (x, self.token) = (user.x, token)
    }
}

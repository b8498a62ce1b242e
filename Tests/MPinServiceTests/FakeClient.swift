import MPinCrypto
import MPinSecrets
import MPinService
import XCTest

/// The computations of a client, without time permits.
struct FakeClient {
    /// The key pair of an identity that has one.
    struct KeyPair {
        let z: [UInt8]
        let publicKey: [UInt8]

        init() throws {
            var (z, key) = ([UInt8](repeating: 0, count: MPinSize.scalar), [UInt8](repeating: 0, count: MPinSize.g2))
            var zSpan = z.mutableSpan
            var keySpan = key.mutableSpan
            try MPinCrypto.KeyPair.generate(z: &zSpan, publicKey: &keySpan, random: systemRandom)
            (self.z, publicKey) = (z, key)
        }
    }

    let id: MPinID
    /// Empty for an identity without a key pair.
    private let publicKey: [UInt8]
    /// A G1 point of 65 bytes.
    private let token: [UInt8]

    /// The bytes that the functions of the protocol take as the identity.
    private var name: [UInt8] { id.bytes + publicKey }

    /// Computes the token from the shares of the client secret.
    init(_ id: MPinID, _ shares: [Share], pin: String, pair: KeyPair? = nil) throws {
        self.id = id
        publicKey = pair?.publicKey ?? []
        let (scalar, name) = (try Self.scalar(pin), id.bytes + publicKey)
        let sum = try Self.output(MPinSize.g1) { sum throws(MPinError) in
            try Shares.assemble(shares, into: &sum)
        }
        let secret =
            try pair.map { pair in
                try Self.output(MPinSize.g1) { product throws(MPinError) in
                    try MPinCrypto.KeyPair.multiple(z: pair.z.span, of: sum.span, into: &product)
                }
            } ?? sum
        token = try Self.output(MPinSize.g1) { token throws(MPinError) in
            try Client.extractPIN(
                id: name.span, pinScalar: scalar.span, pinBits: PINMapping.decimal4.bits,
                clientSecret: secret.span, into: &token)
        }
    }

    /// Makes pass 1 and pass 2. Returns the one-time token.
    func prove(_ pin: String, to service: AuthenticationService, wid: String = "0") async throws -> String {
        let x = try Self.output(MPinSize.scalar) { x throws(MPinError) in
            try RandomScalar.generate(into: &x, random: systemRandom)
        }
        let (sec, u) = try commitment(x, pin)
        let challenge = try await service.challenge(id, u: Hex.encode(u), ut: nil, registersDevice: false)
        let y = try XCTUnwrap(Hex.decode(challenge))
        let v = try Self.output(MPinSize.g1) { v throws(MPinError) in
            try Client.pass2(x: x.span, y: y.span, sec: sec.span, into: &v)
        }
        let proof = AuthenticationService.Proof(id: id, v: Hex.encode(v), wid: wid, wantsDigits: false)
        return try await service.judge(proof, ServiceUnderTest.logger).token
    }

    /// A proof with a random challenge, for a check without the service.
    func proof(_ pin: String) throws -> LoginProof {
        func random() throws -> [UInt8] {
            try Self.output(MPinSize.scalar) { x throws(MPinError) in
                try RandomScalar.generate(into: &x, random: systemRandom)
            }
        }
        let (x, y) = (try random(), try random())
        let (sec, u) = try commitment(x, pin)
        let v = try Self.output(MPinSize.g1) { v throws(MPinError) in
            try Client.pass2(x: x.span, y: y.span, sec: sec.span, into: &v)
        }
        return LoginProof(id: name, date: 0, u: u, y: y, v: v, publicKey: publicKey)
    }

    private func commitment(_ x: [UInt8], _ pin: String) throws -> (sec: [UInt8], u: [UInt8]) {
        let scalar = try Self.scalar(pin)
        var (sec, u) = ([UInt8](repeating: 0, count: 65), [UInt8](repeating: 0, count: 65))
        var none: [UInt8] = []
        var secSpan = sec.mutableSpan
        var uSpan = u.mutableSpan
        var utSpan = none.mutableSpan
        try Client.pass1(
            date: 0, id: name.span, x: x.span, pinScalar: scalar.span, pinBits: PINMapping.decimal4.bits,
            token: token.span, permit: nil, sec: &secSpan, u: &uSpan, ut: &utSpan)
        return (sec, u)
    }

    private static func scalar(_ pin: String) throws -> [UInt8] {
        try output(MPinSize.scalar) { scalar throws(MPinError) in
            try PINMapping.decimal4.scalar(pin: Array(pin.utf8).span, into: &scalar)
        }
    }

    private static func output(
        _ count: Int, _ fill: (inout MutableSpan<UInt8>) throws(MPinError) -> Void
    ) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        try fill(&span)
        return bytes
    }
}

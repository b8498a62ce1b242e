import MPinCrypto
import MPinSecrets

/// The client's side of one login: first the commitments `u` and `ut`, then the answer to the server's challenge. A
/// proof answers one challenge only, because the client secret can be computed from its answers to two different
/// challenges.
struct Proof: ~Copyable {
    /// The commitment without a time permit, x * A, 65 bytes. A is the identity's point in G1.
    let u: [UInt8]
    /// The commitment with a time permit, x * (A + D), 65 bytes. D is the point of the M-Pin ID and the date. Empty if
    /// the backend uses no time permits.
    let ut: [UInt8]
    private let x: SecretBytes
    private let sec: SecretBytes

    /// Draws a new random x and computes the commitments.
    init(_ credential: Credential, _ number: PINNumber, _ login: User.Login, random: RandomSource) throws(SDKError) {
        let x = try freshScalar(random)
        try self.init(
            id: credential.id, point: credential.point, token: credential.token, pinScalar: number.scalar,
            pinBits: number.bits, login: login, x: x)
    }

    /// Computes the commitments for a given x. `point` and `token` have 65 bytes, `pinScalar` and `x` have 32 bytes each.
    init(
        id: [UInt8], point: [UInt8]? = nil, token: SecretBytes, pinScalar: SecretBytes, pinBits: Int,
        login: User.Login, x: SecretBytes
    ) throws(SDKError) {
        let sec = SecretBytes(count: MPinSize.g1)
        var u = [UInt8](repeating: 0, count: MPinSize.g1)
        var ut = [UInt8](repeating: 0, count: login.permit == nil ? 0 : MPinSize.g1)
        try cryptoStep("pass 1") { () throws(MPinError) in
            var secOctets = sec.mutableSpan
            var uOctets = u.mutableSpan
            var utOctets = ut.mutableSpan
            try Client.pass1(
                date: login.date, id: id.span, point: point?.span, x: x.span, pinScalar: pinScalar.span,
                pinBits: pinBits, token: token.span, permit: login.permit?.span, sec: &secOctets, u: &uOctets,
                ut: &utOctets)
        }
        self.u = u
        self.ut = ut
        self.x = x
        self.sec = sec
    }

    /// The answer to the challenge `y`, 65 bytes: -(x + y) * sec. Here sec is the client secret, plus the time permit
    /// if there is one. `y` has 32 bytes and must not be a multiple of the group order.
    consuming func answer(_ y: [UInt8]) throws(SDKError) -> [UInt8] {
        var v = [UInt8](repeating: 0, count: MPinSize.g1)
        let (x, sec) = (x, sec)
        try cryptoStep("pass 2") { () throws(MPinError) in
            var challenge = [UInt8](repeating: 0, count: MPinSize.scalar)
            var challengeOctets = challenge.mutableSpan
            try Client.challenge(y.span, into: &challengeOctets)
            var octets = v.mutableSpan
            try Client.pass2(x: x.span, y: challenge.span, sec: sec.span, into: &octets)
        }
        return v
    }
}

/// A random number below the group order, 32 bytes.
func freshScalar(_ random: RandomSource) throws(SDKError) -> SecretBytes {
    let x = SecretBytes(count: MPinSize.scalar)
    try cryptoStep("random number") { () throws(MPinError) in
        var octets = x.mutableSpan
        try RandomScalar.generate(into: &octets, random: random)
    }
    return x
}

/// Runs a function of `MPinCrypto` and converts its error to an ``SDKError``.
func cryptoStep<Result>(_ name: String, _ body: () throws(MPinError) -> Result) throws(SDKError) -> Result {
    do {
        return try body()
    } catch .randomFailed {
        throw SDKError(.randomFailed, "\(name): the random generator failed")
    } catch { throw SDKError(.cryptoError, "\(name): \(error)") }
}

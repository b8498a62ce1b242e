import MPinCrypto
import MPinSecrets

/// The client's side of one login: commitment, then answer to the server's challenge. Good for one challenge only: two
/// answers to different challenges give the secret away.
struct Proof: ~Copyable {
    /// x * A, 65 bytes.
    let u: [UInt8]
    /// x * (A + D(date)), 65 bytes; empty where no time permits are used.
    let ut: [UInt8]
    private let x: SecretBytes
    private let sec: SecretBytes

    /// For a user's login, with a fresh x. The PIN is 4 to 6 ASCII digits.
    init(_ record: UserRecord, _ login: User.Login, pin: SecretBytes, random: RandomSource) throws(SDKError) {
        guard let token = record.token?.secret, let mapping = record.mapping else {
            throw SDKError(.cryptoError, "the user has no token")
        }
        let scalar = try pinScalar(pin, mapping)
        let x = SecretBytes(count: MPinSize.scalar)
        try cryptoStep("pass 1") { () throws(MPinError) in
            var octets = x.mutableSpan
            try RandomScalar.generate(into: &octets, random: random)
        }
        let id = try MPinID.bytes(record.mpinID ?? "")
        try self.init(id: id, token: token, pinScalar: scalar, pinBits: mapping.bits, login: login, x: x)
    }

    /// `token` 65 bytes, `pinScalar` and `x` 32 bytes.
    init(
        id: [UInt8], token: SecretBytes, pinScalar: SecretBytes, pinBits: Int, login: User.Login, x: SecretBytes
    ) throws(SDKError) {
        let sec = SecretBytes(count: MPinSize.g1)
        var u = [UInt8](repeating: 0, count: MPinSize.g1)
        var ut = [UInt8](repeating: 0, count: login.permit == nil ? 0 : MPinSize.g1)
        try cryptoStep("pass 1") { () throws(MPinError) in
            var secOctets = sec.mutableSpan
            var uOctets = u.mutableSpan
            var utOctets = ut.mutableSpan
            try Client.pass1(
                date: login.date, id: id.span, x: x.span, pinScalar: pinScalar.span, pinBits: pinBits,
                token: token.span, permit: login.permit?.span, sec: &secOctets, u: &uOctets, ut: &utOctets)
        }
        self.u = u
        self.ut = ut
        self.x = x
        self.sec = sec
    }

    /// -(x + y) * sec, 65 bytes.
    consuming func answer(_ y: [UInt8]) throws(SDKError) -> [UInt8] {
        var v = [UInt8](repeating: 0, count: MPinSize.g1)
        let (x, sec) = (x, sec)
        try cryptoStep("pass 2") { () throws(MPinError) in
            var octets = v.mutableSpan
            try Client.pass2(x: x.span, y: y.span, sec: sec.span, into: &octets)
        }
        return v
    }
}

/// The number that a PIN of 4 to 6 ASCII digits stands for, 32 bytes.
func pinScalar(_ pin: SecretBytes, _ mapping: PINMapping) throws(SDKError) -> SecretBytes {
    guard pin.count > 0 else { throw SDKError(.pinInputCanceled, "the PIN is empty") }
    guard (4...6).contains(pin.count), isDigits(pin.span) else {
        throw SDKError(.pinInvalid, "the PIN is not 4 to 6 digits")
    }
    let scalar = SecretBytes(count: MPinSize.scalar)
    try cryptoStep("PIN") { () throws(MPinError) in
        var octets = scalar.mutableSpan
        try mapping.scalar(pin: pin.span, into: &octets)
    }
    return scalar
}

/// Looks at every byte, whatever the first ones are.
private func isDigits(_ text: Span<UInt8>) -> Bool {
    var others: UInt8 = 0
    for index in text.indices { others |= text[index] &- 48 > 9 ? 1 : 0 }
    return others == 0
}

/// Runs a primitive; its failure becomes a status.
func cryptoStep<Result>(_ name: String, _ body: () throws(MPinError) -> Result) throws(SDKError) -> Result {
    do {
        return try body()
    } catch .randomFailed {
        throw SDKError(.randomFailed, "\(name): the random generator failed")
    } catch { throw SDKError(.cryptoError, "\(name): \(error)") }
}

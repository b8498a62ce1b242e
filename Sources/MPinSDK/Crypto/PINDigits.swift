import MPinCrypto
import MPinSecrets

/// The number that a PIN and the factors beside it stand for, with the width that hides it.
struct PINNumber {
    /// 32 bytes, big-endian.
    let scalar: SecretBytes
    let bits: Int

    /// `length` nil: any that a PIN can have. An empty PIN means that the user gave up.
    init(_ pin: SecretBytes, _ factors: [SecretBytes], _ mapping: PINMapping, length: Int?) throws(SDKError) {
        try PINDigits.check(pin, length: length)
        let scalar = try pinScalar(pin, mapping)
        for factor in factors { try Self.add(pinScalar(factor, mapping), to: scalar) }
        self.scalar = scalar
        // The sum of at most nine numbers is at most four bits wider than they are.
        bits = factors.isEmpty ? mapping.bits : mapping.bits + 4
    }

    /// Constant time: both are small, so no carry leaves the array.
    private static func add(_ term: SecretBytes, to sum: SecretBytes) {
        let digits = term.span
        var result = sum.mutableSpan
        var carry: UInt16 = 0
        for index in result.indices.reversed() {
            carry = carry &+ UInt16(result[index]) &+ UInt16(digits[index])
            result[index] = UInt8(truncatingIfNeeded: carry)
            carry >>= 8
        }
    }
}

/// What a PIN looks like.
enum PINDigits {
    static let lengths = 4...6
    static let maxFactors = 8

    /// `length` nil: any that a PIN can have.
    static func check(_ pin: SecretBytes, length: Int?) throws(SDKError) {
        guard pin.count > 0 else { throw SDKError(.pinInputCanceled, "the PIN is empty") }
        guard lengths.contains(pin.count), isDigits(pin.span) else {
            throw SDKError(.pinInvalid, "the PIN is not 4 to 6 digits")
        }
        if let length, pin.count != length { throw SDKError(.pinInvalid, "a PIN here has \(length) digits") }
    }

    /// Looks at every byte, whatever the first ones are.
    private static func isDigits(_ text: Span<UInt8>) -> Bool {
        var others: UInt8 = 0
        for index in text.indices { others |= text[index] &- 48 > 9 ? 1 : 0 }
        return others == 0
    }
}

/// The number that digits stand for, 32 bytes.
func pinScalar(_ pin: SecretBytes, _ mapping: PINMapping) throws(SDKError) -> SecretBytes {
    let scalar = SecretBytes(count: MPinSize.scalar)
    try cryptoStep("PIN") { () throws(MPinError) in
        var octets = scalar.mutableSpan
        try mapping.scalar(pin: pin.span, into: &octets)
    }
    return scalar
}

/// The token for a PIN and its factors, 65 bytes: client secret minus their number times the identity's point.
func makeToken(id: [UInt8], _ number: PINNumber, clientSecret: SecretBytes) throws(SDKError) -> SecretBytes {
    let token = SecretBytes(count: MPinSize.g1)
    try cryptoStep("token") { () throws(MPinError) in
        var octets = token.mutableSpan
        try Client.extractPIN(
            id: id.span, pinScalar: number.scalar.span, pinBits: number.bits, clientSecret: clientSecret.span,
            into: &octets)
    }
    return token
}

/// Tells whether a PIN is the one that a login has proved, without keeping the PIN.
struct ProvenPIN {
    private let key: SecretBytes
    private let digest: SecretBytes

    /// Nil where the random generator fails.
    init?(_ number: PINNumber, random: RandomSource) {
        guard let key = try? SecretBytes.random(count: SHA256.size, from: random) else { return nil }
        self.key = key
        digest = Self.digest(number, key)
    }

    /// In constant time.
    func isOf(_ number: PINNumber) -> Bool { Self.digest(number, key) == digest }

    private static func digest(_ number: PINNumber, _ key: SecretBytes) -> SecretBytes {
        let digest = SecretBytes(count: SHA256.size)
        var octets = digest.mutableSpan
        SHA256.hash(key.span, number.scalar.span, into: &octets)
        return digest
    }
}

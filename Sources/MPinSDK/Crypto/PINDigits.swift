import MPinCrypto
import MPinSecrets

/// The number that a PIN and its factors yield: the sum of their numbers. Factors are further secrets of 4 to 6 digits,
/// such as a second PIN, that the user has added to the PIN. `bits` is the maximum length of the sum in bits.
/// Computations take the same time for all numbers of up to `bits` bits.
struct PINNumber {
    /// The number, 32 bytes, big-endian.
    let scalar: SecretBytes
    let bits: Int

    /// Throws if the PIN does not have `length` digits. If `length` is nil, 4 to 6 digits are allowed. An empty PIN
    /// means that the user gave up, which is an error of its own.
    init(_ pin: SecretBytes, _ factors: [SecretBytes], _ mapping: PINMapping, length: Int?) throws(SDKError) {
        try PINDigits.check(pin, length: length)
        let scalar = try pinScalar(pin, mapping)
        for factor in factors { try Self.add(pinScalar(factor, mapping), to: scalar) }
        self.scalar = scalar
        // A PIN and at most eight factors are nine numbers. Their sum is at most four bits longer than each of them.
        bits = factors.isEmpty ? mapping.bits : mapping.bits + 4
    }

    /// Adds `term` to `sum` in constant time. Both numbers are so small that the sum fits into its 32 bytes.
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

/// The rules for the digits of a PIN.
enum PINDigits {
    static let lengths = 4...6
    static let maxFactors = 8

    /// Throws if the PIN does not have `length` digits or, if `length` is nil, 4 to 6 digits.
    static func check(_ pin: SecretBytes, length: Int?) throws(SDKError) {
        guard pin.count > 0 else { throw SDKError(.pinInputCanceled, "the PIN is empty") }
        guard lengths.contains(pin.count), isDigits(pin.span) else {
            throw SDKError(.pinInvalid, "the PIN is not 4 to 6 digits")
        }
        if let length, pin.count != length { throw SDKError(.pinInvalid, "a PIN here has \(length) digits") }
    }

    /// Whether all bytes are ASCII digits. Always looks at every byte, so that the time does not depend on the PIN.
    private static func isDigits(_ text: Span<UInt8>) -> Bool {
        var others: UInt8 = 0
        for index in text.indices { others |= text[index] &- 48 > 9 ? 1 : 0 }
        return others == 0
    }
}

/// The number that `mapping` makes of a PIN or factor, 32 bytes, big-endian.
func pinScalar(_ pin: SecretBytes, _ mapping: PINMapping) throws(SDKError) -> SecretBytes {
    let scalar = SecretBytes(count: MPinSize.scalar)
    try cryptoStep("PIN") { () throws(MPinError) in
        var octets = scalar.mutableSpan
        try mapping.scalar(pin: pin.span, into: &octets)
    }
    return scalar
}

/// The token for a PIN and its factors, 65 bytes: the client secret minus `number` times the identity's point.
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

/// Remembers the PIN of a successful login, so that a later PIN can be compared with it. Keeps a keyed hash and not the
/// PIN.
struct ProvenPIN {
    private let key: SecretBytes
    private let digest: SecretBytes

    /// Remembers the PIN with this `number`. Nil if the random generator fails.
    init?(_ number: PINNumber, random: RandomSource) {
        guard let key = try? SecretBytes.random(count: SHA256.size, from: random) else { return nil }
        self.key = key
        digest = Self.digest(number, key)
    }

    /// Whether the login was with the PIN of this `number`. Compares in constant time.
    func isOf(_ number: PINNumber) -> Bool { Self.digest(number, key) == digest }

    private static func digest(_ number: PINNumber, _ key: SecretBytes) -> SecretBytes {
        let digest = SecretBytes(count: SHA256.size)
        var octets = digest.mutableSpan
        SHA256.hash(key.span, number.scalar.span, into: &octets)
        return digest
    }
}

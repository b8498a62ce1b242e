import MPinCrypto
package import MPinSecrets
package import MPinStore

/// A D-TA's share of one master secret.
package struct MasterShare: Sendable {
    /// The id of the master secret at both D-TAs: a decimal number, which each rotation increases.
    package let keyID: String
    /// The share: a number from 1 to the order of the curve's groups less 1, in 32 bytes.
    package let secret: SecretBytes
    /// When the share was made.
    package let startTime: Moment
    /// When an old share stops being served; nil for the current share.
    package let servedUntil: Moment?

    /// Makes a share with the system's random generator.
    static func generated(keyID: String, at now: Moment) throws -> MasterShare {
        let secret = SecretBytes(count: MPinSize.scalar)
        var bytes = secret.mutableSpan
        try RandomScalar.generate(into: &bytes, random: systemRandom)
        return MasterShare(
            keyID: keyID, secret: secret, startTime: Moment(microseconds: now.seconds * 1_000_000), servedUntil: nil)
    }

    package func isServed(at now: Moment) -> Bool { servedUntil.map { now < $0 } ?? true }
}

/// The key or passphrase with which an operator seals a D-TA's master shares.
package enum Seal: Sendable {
    /// A key of 32 bytes.
    case key(SecretBytes)
    case passphrase(SecretBytes)

    /// The name in messages to the operator.
    var name: String {
        switch self {
        case .key: "key file"
        case .passphrase: "passphrase"
        }
    }
}

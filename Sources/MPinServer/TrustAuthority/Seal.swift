package import MPinSecrets

/// What an operator seals a D-TA's master shares with.
package enum Seal: Sendable {
    /// 32 bytes.
    case key(SecretBytes)
    case passphrase(SecretBytes)

    /// For a person.
    var name: String {
        switch self {
        case .key: "key file"
        case .passphrase: "passphrase"
        }
    }
}

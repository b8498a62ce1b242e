import MPinSecrets

/// A PIN, or a further factor: 4 to 6 decimal digits, in memory that is wiped when it goes.
public struct PIN: Sendable {
    let bytes: SecretBytes

    /// Reads ASCII digits, such as a terminal's bytes. Whether they are a PIN is found out when it is used.
    public init(ascii digits: some Collection<UInt8>) {
        bytes = SecretBytes(copying: Array(digits).span)
    }

    /// Reads the digits of a string. The string itself cannot be wiped: where that matters, read bytes.
    public init(_ digits: String) { self.init(ascii: Array(digits.utf8)) }
}

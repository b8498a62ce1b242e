import MPinSecrets

/// A PIN, or a further factor: 4 to 6 decimal digits. Its memory is wiped when it is freed.
public struct PIN: Sendable {
    let bytes: SecretBytes

    /// Makes a PIN from ASCII digits, such as bytes from a terminal. The digits are checked when the PIN is used.
    public init(ascii digits: some Collection<UInt8>) {
        bytes = SecretBytes(copying: Array(digits).span)
    }

    /// Makes a PIN from a string. A string cannot be wiped, so prefer ``init(ascii:)``.
    public init(_ digits: String) { self.init(ascii: Array(digits.utf8)) }
}

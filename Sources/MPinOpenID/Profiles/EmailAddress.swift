/// A mail address, such as `alice@example.com`.
package struct EmailAddress: Sendable, Equatable {
    /// The longest address in bytes of UTF-8 (RFC 5321 section 4.5.3.1).
    package static let maxBytes = 254

    package let text: String

    /// Nil if `text` is not one plain address. It has one `@`, a name of 1 to 64 bytes before it, and a domain of at
    /// least one label behind it. It has no blanks, control characters or quoting, so that it cannot name a second
    /// address or add a header to a mail; and nothing that a program behind the mail server could take for something else:
    /// an option (`-f`), a template (`{{`), an encoded word (`=?`, RFC 2047).
    package init?(_ text: String) {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, let name = parts.first, let domain = parts.last, text.utf8.count <= Self.maxBytes,
            (1...64).contains(name.utf8.count), name.first != "-", !text.contains("=?"), Self.isPlain(text),
            domain.split(separator: ".", omittingEmptySubsequences: false).allSatisfy(Self.isLabel)
        else { return nil }
        self.text = text
    }

    /// Returns whether no character could end the address, or could not be seen by the person who confirms it.
    private static func isPlain(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { scalar in
            scalar.value > 0x20 && !"<>\",;:\\()[]{}".unicodeScalars.contains(scalar)
                && ![.control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator].contains(
                    scalar.properties.generalCategory)
        }
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
    }
}

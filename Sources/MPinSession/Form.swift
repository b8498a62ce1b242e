import MPinHTTP
import MPinSecrets
import MPinWire

/// The body of a form POST, in memory that is wiped.
struct Form {
    private var parts: [SecretBytes] = []

    /// Adds a member. Its name must not need escaping.
    mutating func add(_ name: String, _ value: String) { add(name, SecretText(value)) }

    mutating func add(_ name: String, _ value: SecretText) {
        parts += [SecretBytes(utf8: "\(parts.isEmpty ? "" : "&")\(name)="), percentEncoded(value.secret)]
    }

    var body: SecretBytes { SecretBytes(joining: parts) }
}

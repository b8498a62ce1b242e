/// An origin as browsers send it (RFC 6454 section 6.2): `https://host`, or `http` on this machine, and the port where it
/// is not the scheme's own.
package struct WebOrigin: Sendable, Hashable {
    package let text: String

    /// nil for anything else.
    package init?(_ text: String) {
        guard let uri = try? RedirectURI(text), uri.isBare else { return nil }
        guard uri.port != (uri.scheme == "https" ? 443 : 80) else { return nil }
        self.text = text
    }
}

/// In JSON its text.
extension WebOrigin: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let origin = WebOrigin(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no origin")
        }
        self = origin
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

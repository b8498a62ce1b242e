/// A web origin in the form that browsers send (RFC 6454 section 6.2): `https://host`, or `http` on this machine. It
/// names the port only if that is not the scheme's default.
package struct WebOrigin: Sendable, Hashable {
    package let text: String

    /// Nil if `text` is not an origin in that form.
    package init?(_ text: String) {
        guard let uri = try? RedirectURI(text), uri.isBare else { return nil }
        guard uri.port != (uri.scheme == "https" ? 443 : 80) else { return nil }
        self.text = text
    }
}

/// Encodes the origin in JSON as its text.
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

import HTTPTypes
import Hummingbird
import NIOCore

/// The name, logo and colour of the website: the operator's, or the built-in ones.
package struct Brand: Sendable {
    package var name = "M-Pin"
    package var logo: Logo?
    package var accent = Color.indigo

    package init() {}

    /// The variables of the style sheet: the accent colour, its text colour (black or white), and a darker and a
    /// lighter form that can be read on the pages' backgrounds (those of `style.css`).
    package var style: String {
        let light = accent.readable(on: [.white, Color(bytes: [0xf6, 0xf5, 0xfb])], towards: .black)
        let dark = accent.readable(
            on: [Color(bytes: [0x14, 0x13, 0x1d]), Color(bytes: [0x1f, 0x1d, 0x2b])], towards: .white)
        return """
            :root { --accent: \(accent.css); --on-accent: \(accent.textOnIt.css); --accent-ink: \(light.css); }
            @media (prefers-color-scheme: dark) { :root { --accent-ink: \(dark.css); } }

            """
    }

    /// The picture beside the name and in the browser's tab.
    var icon: Asset { logo?.asset ?? .icon(accent) }

    /// The answer to a request for /favicon.ico, which some browsers send instead of using the page's icon. It is the
    /// built-in icon, or, if the operator has changed logo or colour, a redirection to the page's icon.
    func favicon() -> Response {
        guard logo == nil, accent == .indigo else {
            return Response(status: .found, headers: [.location: icon.path, .cacheControl: Asset.caching])
        }
        return Asset.favicon.response
    }
}

/// The operator's logo, which is read at the start.
package struct Logo: Sendable {
    let asset: Asset
    private static let maxBytes = 256 * 1024

    /// Finds the type of the picture by its first bytes, because browsers would not show a logo of a wrong type.
    package init(_ bytes: [UInt8]) throws(Unusable) {
        guard bytes.count <= Self.maxBytes else { throw Unusable(reason: "is larger than \(Self.maxBytes / 1024) KiB") }
        guard let (ending, type) = Self.kind(bytes) else { throw Unusable(reason: "is no SVG, PNG, JPEG or WebP") }
        asset = Asset(path: "/logo." + ending, type: type, bytes: bytes)
    }

    package struct Unusable: Error { package let reason: String }

    private static func kind(_ bytes: [UInt8]) -> (ending: String, type: String)? {
        if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return ("png", "image/png") }
        if bytes.starts(with: [0xff, 0xd8, 0xff]) { return ("jpg", "image/jpeg") }
        if bytes.starts(with: Array("RIFF".utf8)), bytes.dropFirst(8).starts(with: Array("WEBP".utf8)) {
            return ("webp", "image/webp")
        }
        guard let text = String(validating: bytes, as: UTF8.self), text.contains("<svg") else { return nil }
        return ("svg", "image/svg+xml")
    }
}

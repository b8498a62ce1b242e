import HTTPTypes
import Hummingbird
import NIOCore

/// A file of the website, which is a part of the program or comes from the operator.
struct Asset: Sendable {
    let path: String
    let type: String
    private let bytes: [UInt8]

    static let caching = "public, max-age=300"

    init(path: String, type: String, bytes: [UInt8]) {
        self.path = path
        self.type = type
        self.bytes = bytes
    }

    /// All files of the website but the favicon, with the operator's colours and logo.
    static func all(_ brand: Brand) -> [Asset] {
        [
            Asset(
                path: "/style.css", type: "text/css; charset=UTF-8",
                bytes: Array(brand.style.utf8) + PackageResources.style_css),
            script("live", PackageResources.live_js), script("times", PackageResources.times_js),
            script("resend", PackageResources.resend_js), script("submit", PackageResources.submit_js),
            script("once", PackageResources.once_js),
            icon(brand.accent),
        ] + (brand.logo.map { [$0.asset] } ?? [])
    }

    private static func script(_ name: String, _ bytes: [UInt8]) -> Asset {
        Asset(path: "/\(name).js", type: "text/javascript; charset=UTF-8", bytes: bytes)
    }

    /// The built-in icon: five dots on the accent colour.
    static func icon(_ accent: Color) -> Asset {
        let template = try? Template(String(decoding: PackageResources.icon_svg, as: UTF8.self))
        let picture = template?.filled(["accent": accent.css, "dots": accent.textOnIt.css]) ?? ""
        return Asset(path: "/icon.svg", type: "image/svg+xml", bytes: Array(picture.utf8))
    }

    static let favicon = Asset(path: "/favicon.ico", type: "image/x-icon", bytes: PackageResources.favicon_ico)

    var response: Response {
        // The operator's picture may contain styles. The policy forbids scripts and everything else, which a browser
        // would run if somebody opened the picture directly.
        Response(
            status: .ok,
            headers: [
                .contentType: type, .cacheControl: Self.caching,
                .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            ],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

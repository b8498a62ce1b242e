import HTTPTypes
import Hummingbird
import NIOCore

/// A file of the website that is a part of the program.
struct Asset: Sendable {
    let path: String
    private let type: String
    private let bytes: [UInt8]

    static let all = [
        Asset(path: "/style.css", type: "text/css; charset=UTF-8", bytes: PackageResources.style_css),
        Asset(path: "/live.js", type: "text/javascript; charset=UTF-8", bytes: PackageResources.live_js),
        Asset(path: "/icon.svg", type: "image/svg+xml", bytes: PackageResources.icon_svg),
    ]

    var response: Response {
        Response(
            status: .ok, headers: [.contentType: type, .cacheControl: "public, max-age=300"],
            body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

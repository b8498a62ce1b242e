import HTTPTypes
import Hummingbird
import MPinHTTP
import MPinService
import MPinWire
import NIOCore

/// The pages on which the browser itself is the client: no app is needed.
struct BrowserClientRoutes: Sendable {
    let client: BrowserClient
    let site: SiteConfig
    let limits: Limits

    /// Where links in mails lead if the project has no page of its own (TRUST wire section 2.3).
    static let mailPath = "/verification/confirmation"

    var routes: [Route] {
        client.routes + [
            site.page(.get, BrowserClient.path, .other) { request, _ in page(request) },
            site.page(.post, BrowserClient.path + "/code", .access) { request, _ in try await code(request) },
            site.page(.get, "/client.webmanifest", .other) { request, _ in manifest(request) },
            site.page(.get, "/offline", .other) { request, _ in site.pages(request).offline.response() },
            site.page(.get, Self.mailPath, .register) { request, _ in confirmation(request) },
        ]
    }

    /// The page that lists this browser's identities. It is also the page of a QR code, and of a link in a mail: its
    /// script reads from the URL what it is to do.
    private func page(_ request: Request) -> Response { site.pages(request).client.response() }

    /// The page of a link in a mail. At the site's origin it leads to that of the client.
    private func confirmation(_ request: Request) -> Response {
        guard !client.isAt(request), let origin = client.origin else { return page(request) }
        return Response(status: .seeOther, headers: [.location: origin + request.uri.string])
    }

    /// POST /client/code: draws the QR code with which another device registers. The members of its URL are behind `#`,
    /// so that they are in no log.
    private func code(_ request: Request) async throws -> Response {
        guard request.isFromThisSite else { throw APIError.foreignPage }
        let wish = try await request.json(CodeRequest.self, limits)
        // The time for a drawing grows with the text.
        guard wish.userId.utf8.count <= limits.service.userIDBytes, wish.projectId.utf8.count <= 64,
            wish.code.utf8.count <= 64
        else { throw APIError(.badRequest, "too long") }
        let members = percentEncodedQuery([
            ("user_id", wish.userId), ("project_id", wish.projectId), ("code", wish.code),
        ])
        guard let drawing = QRCode.drawing("\(site.clientURL)\(BrowserClient.path)#\(members)") else {
            throw APIError(.badRequest, "too long")
        }
        return .json(CodeDrawing(side: drawing.side, path: drawing.path))
    }

    private struct CodeRequest: Codable {
        let userId: String
        let projectId: String
        let code: String
    }

    private struct CodeDrawing: Codable {
        let side: Int
        let path: String
    }

    /// The manifest with which browsers install the page as an app (W3C Web Application Manifest).
    private func manifest(_ request: Request) -> Response {
        let manifest = Manifest(
            name: site.brand.name, lang: site.language(request).code, start_url: BrowserClient.path, scope: "/",
            display: "standalone", icons: icons)
        var response = Response.json(manifest)
        response.headers[.contentType] = "application/manifest+json"
        return response
    }

    /// The operator's logo, or the built-in icon in the sizes that browsers ask for.
    private var icons: [Manifest.Icon] {
        guard site.brand.logo == nil, site.brand.accent == .indigo else {
            let icon = site.brand.icon
            return [.init(src: icon.path, sizes: "any", type: icon.type, purpose: "any")]
        }
        return [
            ("icon-192", "192x192", "any"), ("icon-512", "512x512", "any"), ("icon-maskable", "512x512", "maskable"),
        ]
        .map { .init(src: client.url("\($0.0).png"), sizes: $0.1, type: "image/png", purpose: $0.2) }
    }

    private struct Manifest: Codable {
        let name: String
        let lang: String
        let start_url: String
        let scope: String
        let display: String
        let icons: [Icon]

        struct Icon: Codable {
            let src: String
            let sizes: String
            let type: String
            let purpose: String
        }
    }
}

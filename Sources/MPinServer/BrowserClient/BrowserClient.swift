import Foundation
import HTTPTypes
import Hummingbird
import MPinSecrets
package import MPinService
import NIOCore

/// The files of the client that runs in browsers (`make browser-client`). They are read once, at the start, so that a
/// page and its files always belong together.
package struct BrowserClient: Sendable {
    /// Where the client's page is, and under which path its files are.
    static let path = "/client"
    /// The script of the pages that run the client.
    static let script = "page-client.js"
    /// The scripts that pages have in their heads.
    private static let scripts = [script, "page-home.js"]
    /// What every folder of the client has.
    private static let needed =
        scripts + [
            "client.js", "worker.js", "mpin-pad.js", "mpin.wasm", "service-worker.js",
            "icon-192.png", "icon-512.png", "icon-maskable.png",
        ]
    /// The types of the files, by the ends of their names.
    private static let types = [
        "js": "text/javascript; charset=UTF-8", "wasm": "application/wasm", "png": "image/png",
    ]

    /// The origin of the client's pages, if they have one of their own: other programs at the site's origin then have no
    /// part in them.
    package var origin: String?
    private let files: [String: File]
    /// The folder in the files' URLs. It is a hash of all files, so browsers may keep a file for ever: another version
    /// has other URLs.
    private let version: String
    /// The elements in the heads of pages, by the names of their scripts.
    private var heads: [String: HTML] = [:]

    /// Reads the client's scripts and its module. Throws if the folder does not have them.
    package init(folder: String) throws(StartError) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var files: [String: File] = [:]
        for name in names {
            guard let type = name.split(separator: ".").last.flatMap({ Self.types[String($0)] }) else { continue }
            guard let bytes = try? PlainFile.bytes(folder + "/" + name) else {
                throw StartError("--browser-client: \(folder)/\(name) cannot be read")
            }
            files[name] = File(type, bytes)
        }
        if let missing = Self.needed.first(where: { files[$0] == nil }) {
            throw StartError("--browser-client: \(folder) has no \(missing); `make browser-client` makes such a folder")
        }
        self.files = files
        let list = files.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.integrity)\n" }.joined()
        version = String(Hex.encode(SHA256.hash(Array(list.utf8))).prefix(16))
        for name in Self.scripts { heads[name] = makeHead(name) }
    }

    /// The folder beside this program, if it is installed there: `share/mpin/browser-client` of the same prefix.
    package static var installedFolder: String? {
        guard let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") else {
            return nil
        }
        let prefix = URL(fileURLWithPath: program).deletingLastPathComponent().deletingLastPathComponent()
        let folder = prefix.appendingPathComponent("share/mpin/browser-client").path
        return FileManager.default.fileExists(atPath: folder) ? folder : nil
    }

    /// Whether the client's pages have the origin that a request was sent to.
    func isAt(_ request: Request) -> Bool {
        guard let origin else { return true }
        return request.head.authority.map { origin.hasSuffix("://" + $0.lowercased()) } ?? false
    }

    func url(_ name: String) -> String { "\(Self.path)/\(version)/\(name)" }

    func integrity(_ name: String) -> String { files[name]?.integrity ?? "" }

    /// The elements in the head of a page whose script is `name`: one of ``scripts``.
    func head(_ name: String) -> HTML { heads[name] ?? "" }

    /// The elements in the head of a page. Its script and all modules are loaded at once, and only with these hashes. The
    /// modules of the Worker are among them, so that they are there when the script has started it.
    private func makeHead(_ name: String) -> HTML {
        let worker = name == Self.script ? modules(of: "worker.js") : []
        var imports = modules(of: name)
        imports += worker.filter { !imports.contains($0) }
        let links = imports.dropFirst().reduce("" as HTML) {
            "\($0)<link rel=\"modulepreload\" href=\"\(url($1))\" integrity=\"\(integrity($1))\">\n"
        }
        return """
            \(links)<link rel="apple-touch-icon" href="\(url("icon-192.png"))">
            <script type="module" src="\(url(name))" integrity="\(integrity(name))"></script>
            """
    }

    /// A script and the modules that it imports statically, each of them once.
    private func modules(of name: String) -> [String] {
        var found = [name]
        var next = 0
        while next < found.count {
            let text = files[found[next]]?.text ?? ""
            for match in text.matches(of: /\b(?:from|import) "\.\/([a-z-]+\.js)"/)
            where !found.contains(String(match.1)) {
                found.append(String(match.1))
            }
            next += 1
        }
        return found
    }

    /// The files of the pages.
    var routes: [Route] {
        let routes = files.map { name, file in Route(.get, url(name), limit: .other) { _, _ in file.response } }
        guard let worker = files["service-worker.js"] else { return routes }
        // A service worker has control only below its own path.
        return routes + [Route(.get, "/service-worker.js", limit: .other) { _, _ in worker.current }]
    }

    /// One file, as it is served.
    private struct File: Sendable {
        let type: String
        let bytes: ByteBuffer
        /// The value of the attribute `integrity` (Subresource Integrity, W3C).
        let integrity: String

        init(_ type: String, _ bytes: [UInt8]) {
            self.type = type
            integrity = "sha256-" + Data(SHA256.hash(bytes)).base64EncodedString()
            self.bytes = ByteBuffer(bytes: bytes)
        }

        var text: String { String(buffer: bytes) }

        var response: Response { response(caching: "public, max-age=31536000, immutable") }

        /// The answer under a URL that stays the same for other versions.
        var current: Response { response(caching: "no-cache") }

        /// A Worker obeys the policy of its own file.
        private func response(caching: String) -> Response {
            Response(
                status: .ok,
                headers: [
                    .contentType: type, .cacheControl: caching,
                    .contentSecurityPolicy:
                        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'",
                ], body: .init(byteBuffer: bytes))
        }
    }
}

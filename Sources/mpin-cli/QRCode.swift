import Foundation
import MPin

/// The URL in a QR code that a page shows: `https://host/#code`. It is not trusted, because anybody can show a QR code.
struct QRCode {
    /// The access code, which is the part after the `#`.
    let code: String
    /// The page's origin, `https://host:port`, with the port if the URL has one. Empty if the text is only `#code`,
    /// which means the current backend.
    let origin: String
    private let url: URLComponents

    /// Reads the text of a QR code. Nil unless the text is an http URL with a fragment, or a fragment alone.
    init?(_ text: String) {
        guard let hash = text.lastIndex(of: "#"), hash < text.index(before: text.endIndex),
            let url = URLComponents(string: String(text[..<hash])),
            let origin = hash == text.startIndex ? "" : url.origin
        else { return nil }
        code = String(text[text.index(after: hash)...])
        self.origin = origin
        self.url = url
    }

    /// Makes the service of the page the current backend, if the page belongs to another backend. The user must agree
    /// first, unless the page and its service are both in a trusted domain.
    func settle(_ client: MPinClient, backend: String, trusted: [String]) async throws {
        guard !origin.isEmpty, let current = URLComponents(string: backend), !url.isSameOrigin(as: current) else {
            return
        }
        let service: Service
        do { service = try await client.service(at: origin) } catch {
            throw Failure(
                "the QR code is of \(origin), not of \(backend), and tells of no service: refused (\(error.text))")
        }
        guard let named = URLComponents(string: service.backend), let target = named.origin else {
            throw Failure("the QR code is of \(origin), whose service names no address: refused")
        }
        if named.isSameOrigin(as: current) { return }
        say("The QR code is of \(origin): service \(service.name), at \(target), not \(backend).")
        let isTrusted = [url, named].allSatisfy { part in trusted.contains { part.isWithin($0) } }
        guard isTrusted || isWanted("Log in there? [y/N] ") else {
            throw Failure("\(target) is not your server: refused (--trust-domain \(named.host ?? "") allows it)")
        }
        try await client.setBackend(service.backend, prefix: service.prefix)
    }
}

extension URLComponents {
    fileprivate var origin: String? {
        guard let scheme = scheme?.lowercased(), scheme == "https" || scheme == "http", let host, !host.isEmpty,
            user == nil, password == nil
        else { return nil }
        return "\(scheme)://\(host.lowercased())" + (port.map { ":\($0)" } ?? "")
    }

    private var place: (String, Int) {
        let name = (host ?? "").lowercased()
        let isHere = ["localhost", "127.0.0.1", "[::1]", "::1"].contains(name)
        return (isHere ? "localhost" : name, port ?? (scheme?.lowercased() == "http" ? 80 : 443))
    }

    fileprivate func isSameOrigin(as other: URLComponents) -> Bool {
        place == other.place && scheme?.lowercased() == other.scheme?.lowercased()
    }

    /// Whether the URL is https and its host is `domain` or a subdomain of it.
    fileprivate func isWithin(_ domain: String) -> Bool {
        guard scheme?.lowercased() == "https", let host = host?.lowercased() else { return false }
        return host == domain.lowercased() || host.hasSuffix(".\(domain.lowercased())")
    }
}

import MPinHTTP

/// A redirect URI on this machine, at which the app itself receives the browser (RFC 8252 section 7.3).
package struct LoopbackURI: Sendable {
    /// As it is written, such as `127.0.0.1`, `[::1]` or `localhost`: providers compare the text.
    let host: String
    /// The port to listen at. 0: any that is free, which providers must accept at an address.
    let port: UInt16
    /// Path and query as they are written; empty if there are none.
    private let rest: String

    /// Nil if `text` is no http URL of this machine.
    package init?(_ text: String) {
        let scheme = "http://"
        guard text.lowercased().hasPrefix(scheme), HTTPRequest.isLoopback(text) else { return nil }
        let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let end = authority.firstIndex(of: "]").map { authority.index(after: $0) } ?? authority.firstIndex(of: ":")
        host = String(authority[..<(end ?? authority.endIndex)])
        port = UInt16(authority.dropFirst(host.count).dropFirst()) ?? 0
        rest = String(text[authority.endIndex...])
    }

    /// The addresses at which a browser may come. For the name, these are both, because the browser decides which one
    /// it is (RFC 8252 section 8.3).
    package var addresses: [String] {
        if host.lowercased() == "localhost" { return ["127.0.0.1", "::1"] }
        return [host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host]
    }

    /// The path that the browser then asks for.
    package var path: String {
        let path = rest.prefix { $0 != "?" && $0 != "#" }
        return path.isEmpty ? "/" : String(path)
    }

    /// The URI with the port of a listener.
    package func text(port: UInt16) -> String { "http://\(host):\(port)\(rest)" }
}

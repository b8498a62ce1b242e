import Hummingbird

/// The host names by which a listener may be called. A page whose owner has led its name to a loopback address (DNS
/// rebinding) calls the listener by that name.
struct OwnHosts: Sendable {
    /// In lower case; an IPv6 address is in brackets.
    private let names: Set<String>

    /// `address`: that of the listener, which is a loopback address.
    init(_ address: ListenAddress) {
        let own = address.host.contains(":") ? "[\(address.host)]" : address.host
        names = ["localhost", "127.0.0.1", "[::1]", own.lowercased()]
    }

    func contain(_ request: Request) -> Bool {
        guard let host = request.head.authority.flatMap(Self.host) else { return false }
        return names.contains(host)
    }

    /// The host of an authority in lower case, without its port (RFC 9110 section 7.2: `host [ ":" port ]`, and no user).
    /// Nil if it has another form. The port is not compared, because it is another one if the request comes through a
    /// tunnel.
    private static func host(_ authority: String) -> String? {
        let isAddress = authority.hasPrefix("[")
        let end = isAddress ? authority.firstIndex(of: "]").map { authority.index(after: $0) } : nil
        guard !isAddress || end != nil else { return nil }
        let host = authority[..<(end ?? authority.firstIndex(of: ":") ?? authority.endIndex)]
        let port = authority[host.endIndex...]
        let digits = port.dropFirst().utf8
        guard port.isEmpty || port.hasPrefix(":") && digits.allSatisfy({ (0x30...0x39).contains($0) }),
            digits.count <= 5
        else { return nil }
        return host.lowercased()
    }
}

import HTTPTypes
import Hummingbird

/// The proxies in front of the server whose headers about a request are trusted.
package struct TrustedProxies: Sendable, Equatable {
    /// The networks of the proxies. If there is none, the peer of the connection is the caller.
    package var networks: [IPNetwork]

    package init(_ networks: [IPNetwork] = []) { self.networks = networks }

    package func trusts(_ address: IPAddress) -> Bool { networks.contains { $0.contains(address) } }

    /// The address of the caller: the rightmost one in `X-Forwarded-For` that is not a trusted proxy, because a caller
    /// can invent the addresses to the left of it. The search ends at an entry that is not an address.
    func caller(peer: IPAddress, forwarded: [String]) -> IPAddress {
        var caller = peer
        for entry in forwarded.joined(separator: ",").split(separator: ",").reversed() {
            guard trusts(caller), let next = IPAddress(entry.trimmingSpaces) else { return caller }
            caller = next
        }
        return caller
    }
}

/// Reads the caller's address, whether the caller used TLS, and the request's id. Only the headers of a trusted proxy
/// count.
struct ForwardedHeaders: Sendable {
    let proxies: TrustedProxies
    let isTLS: Bool

    func read(_ request: Request, _ context: RequestContext) -> RequestContext {
        var context = context
        context.isSecure = isTLS
        guard let peer = context.remoteAddress, proxies.trusts(peer) else { return context }
        context.isFromTrustedProxy = true
        context.remoteAddress = proxies.caller(peer: peer, forwarded: request.headers[values: .xForwardedFor])
        context.isSecure = request.headers[values: .xForwardedProto].last?.lowercased() == "https"
        if let id = request.headers[.xRequestID], Self.isPlain(id) { context.requestID = id }
        return context
    }

    /// Whether a request's id consists of 1 to 64 letters, digits, `-`, `_` or `.`.
    private static func isPlain(_ id: String) -> Bool {
        (1...64).contains(id.utf8.count)
            && id.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0)
                    || [0x2d, 0x2e, 0x5f].contains($0)
            }
    }
}

extension HTTPField.Name {
    static let xForwardedFor = constant("X-Forwarded-For")
    static let xForwardedProto = constant("X-Forwarded-Proto")
    static let xRequestID = constant("X-Request-Id")
}

extension StringProtocol {
    /// The text without blanks and tabs at both ends.
    fileprivate var trimmingSpaces: String {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}

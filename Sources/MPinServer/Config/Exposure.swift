import MPinService

/// How the listeners of this process are protected where other machines can reach them.
package enum Exposure: Sendable {
    /// Not at all: loopback addresses only.
    case loopback
    /// TLS 1.2 or later, ended here. Of these proxies, such as an RPA on another machine, the word about a caller counts.
    case tls(TLSIdentity, TrustedProxies = TrustedProxies())
    /// TLS ends at these proxies.
    case behindProxy(TrustedProxies)

    var identity: TLSIdentity? { if case .tls(let identity, _) = self { identity } else { nil } }

    var proxies: TrustedProxies {
        switch self {
        case .loopback: TrustedProxies()
        case .tls(_, let proxies), .behindProxy(let proxies): proxies
        }
    }

    /// The base URL of a listener, without a slash at its end.
    func url(_ address: ListenAddress) -> String { (identity == nil ? "http://" : "https://") + address.description }

    /// Whether connections from there are served. What comes past the proxy would travel in the clear.
    package func admits(_ peer: IPAddress?) -> Bool {
        guard case .behindProxy(let proxies) = self else { return true }
        return peer.map { $0.isLoopback || proxies.trusts($0) } ?? false
    }

    /// Refuses an address that other machines can reach when what it serves would travel in the clear.
    func require(_ address: ListenAddress) throws(StartError) {
        guard case .loopback = self, !address.isLoopback else { return }
        throw StartError(
            "\(address.host): a listener without TLS must be on a loopback address; give --tls-cert and --tls-key, "
                + "or --behind-proxy")
    }
}

import MPinService

/// How the listeners of this process are protected if other machines can reach them.
package enum Exposure: Sendable {
    /// Not protected, so only loopback addresses are allowed.
    case loopback
    /// Protected by TLS 1.2 or later in this process. The proxies are trusted to name a caller's address. An RPA on
    /// another machine may be one of these proxies.
    case tls(TLSIdentity, TrustedProxies = TrustedProxies())
    /// Protected by these proxies: they receive TLS and pass its contents on without TLS.
    case behindProxy(TrustedProxies)

    var identity: TLSIdentity? { if case .tls(let identity, _) = self { identity } else { nil } }

    var proxies: TrustedProxies {
        switch self {
        case .loopback: TrustedProxies()
        case .tls(_, let proxies), .behindProxy(let proxies): proxies
        }
    }

    /// The base URL of a listener, without a slash at the end.
    func url(_ address: ListenAddress) -> String { (identity == nil ? "http://" : "https://") + address.description }

    /// Whether connections from `peer` are served. Behind a proxy only the connections of the proxy are, because others
    /// would be without TLS.
    package func admits(_ peer: IPAddress?) -> Bool {
        guard case .behindProxy(let proxies) = self else { return true }
        return peer.map { $0.isLoopback || proxies.trusts($0) } ?? false
    }

    /// Throws if other machines can reach the address without TLS.
    func require(_ address: ListenAddress) throws(StartError) {
        guard case .loopback = self, !address.isLoopback else { return }
        throw StartError(
            "\(address.host): a listener without TLS must be on a loopback address; give --tls-cert and --tls-key, "
                + "or --behind-proxy")
    }
}

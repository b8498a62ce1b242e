package import Logging
import MPinService
import MPinStore

/// The values of the options that every part has.
extension Settings {
    package var logLevel: Logger.Level { Logger.Level(rawValue: self[ServerOptions.logLevel]) ?? .info }

    /// How the listeners are protected. Reads the certificate and its key, if the options name them.
    package func exposure() throws -> Exposure {
        let proxies = try trustedProxies()
        switch (self[ServerOptions.tlsCert], self[ServerOptions.tlsKey], self[ServerOptions.behindProxy]) {
        case (nil, nil, false) where proxies.isEmpty: return .loopback
        case (nil, nil, true):
            let loopback = ["127.0.0.0/8", "::1"].compactMap { IPNetwork($0) }
            return .behindProxy(TrustedProxies(proxies.isEmpty ? loopback : proxies))
        case (let certificate?, let key?, false):
            return .tls(try TLSIdentity(certificateFile: certificate, keyFile: key), TrustedProxies(proxies))
        case (_?, _?, true): throw SettingsError("give either --tls-cert and --tls-key, or --behind-proxy")
        case (nil, nil, false):
            throw SettingsError("--trusted-proxy needs --behind-proxy, or --tls-cert and --tls-key")
        default: throw SettingsError("--tls-cert and --tls-key go together")
        }
    }

    private func trustedProxies() throws(SettingsError) -> [IPNetwork] {
        let networks = try networks(ServerOptions.trustedProxy)
        for (network, text) in zip(networks, self[ServerOptions.trustedProxy]) where network.isTooWide {
            throw SettingsError(
                "trusted-proxy: \"\(text)\" would take the word of callers for who they are: name the proxies, by "
                    + "networks of 8 bits or more (IPv6: 7)")
        }
        return networks
    }

    /// Returns the networks that an option lists, in its order.
    func networks(_ option: ServerOption<[String]>) throws(SettingsError) -> [IPNetwork] {
        var networks: [IPNetwork] = []
        for text in self[option] {
            guard let network = IPNetwork(text) else {
                throw SettingsError("\(option.row.name): \"\(text)\" is not ADDRESS or ADDRESS/BITS")
            }
            networks.append(network)
        }
        return networks
    }

    func rates() -> RateLimits {
        guard self[ServerOptions.rateLimits] == "on" else { return .off }
        var limits = RateLimits()
        limits.memoryShares = true
        for (option, row) in zip(ServerOptions.rates, ServerOptions.rateTable) {
            limits[keyPath: row.1] = RateLimit(self[option])
        }
        return limits
    }

    func adminListen() throws(StartError) -> ListenAddress? {
        guard let address = try self[ServerOptions.adminListen].map(ListenAddress.init(_:)) else { return nil }
        guard address.isLoopback else {
            throw StartError("\(address): the admin listener must be on a loopback address")
        }
        return address
    }

    func healthListen() throws(StartError) -> ListenAddress? {
        try self[ServerOptions.healthListen].map(ListenAddress.init(_:))
    }

    func apply(to limits: inout Limits) {
        limits.connections = self[ServerOptions.connections]
        limits.connectionsPerAddress = self[ServerOptions.connectionsPerAddress]
        // A network has at least the share of each of its addresses.
        limits.connectionsPerNetwork = max(self[ServerOptions.connectionsPerNetwork], limits.connectionsPerAddress)
        limits.memoryBudget = self[ServerOptions.memoryBudget] << 20
        limits.memoryPerAddress = self[ServerOptions.memoryPerAddress] << 10
        limits.memoryPerNetwork = max(self[ServerOptions.memoryPerNetwork] << 10, limits.memoryPerAddress)
        limits.requestsInFlight = self[ServerOptions.requestsInFlight]
        limits.bodyBytes = self[ServerOptions.bodyBytes]
        limits.headerBytes = self[ServerOptions.headerBytes]
        limits.headerSeconds = self[ServerOptions.headerSeconds]
        limits.readSeconds = self[ServerOptions.readSeconds]
        limits.idleSeconds = self[ServerOptions.idleSeconds]
        limits.drainSeconds = self[ServerOptions.drainSeconds]
    }
}

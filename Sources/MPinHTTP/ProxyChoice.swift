import CCurl
import Glibc

/// Decides which proxy carries a request. libcurl could read the environment itself, but it does not tell whether it
/// used a proxy. We must know, because the address of a proxy is not the address of the server.
enum ProxyChoice {
    /// The proxy for `url`; nil if there is none. `configured` takes precedence over the environment and is used for
    /// every host except this machine, because plain http to this machine must not leave it.
    static func proxy(for url: RemoteURL, configured: String?, environment: (String) -> String? = variable) -> String? {
        if url.isLoopback { return nil }
        if let configured { return configured }
        // HTTP_PROXY in upper case is not read: in a CGI program, it is the client's header `Proxy`.
        let names = url.scheme == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        let found = (names + ["all_proxy", "ALL_PROXY"]).lazy.compactMap(environment).first
        guard let found, !found.isEmpty else { return nil }
        let exceptions = environment("no_proxy") ?? environment("NO_PROXY") ?? ""
        return isExcepted(url.host, exceptions) ? nil : found
    }

    /// Whether `exceptions`, the value of `no_proxy`, contains the host. In it, a name, with or without a leading dot,
    /// includes its subdomains; `10.0.0.0/8` is a network; `*` is every host.
    private static func isExcepted(_ host: String, _ exceptions: String) -> Bool {
        exceptions.split { $0 == "," || $0 == " " || $0 == "\t" }.contains { entry in
            let name = entry.drop { $0 == "." }.lowercased()
            let isNamed = !name.isEmpty && (host == name || host.hasSuffix(".\(name)"))
            return entry == "*" || isNamed || isIn(name, host)
        }
    }

    private static func isIn(_ network: String, _ host: String) -> Bool {
        let parts = network.split(separator: "/")
        guard parts.count == 2, let bits = Int(parts[1]), let first = bytes(String(parts[0])), let host = bytes(host),
            first.count == host.count, (0...8 * host.count).contains(bits)
        else { return false }
        return zip(first, host).enumerated().allSatisfy { index, pair in
            let rest = 8 - min(max(bits - 8 * index, 0), 8)
            return (pair.0 ^ pair.1) >> rest == 0
        }
    }

    /// The bytes of an IP address, 4 or 16; nil if the text is not one.
    private static func bytes(_ text: String) -> [UInt8]? {
        var (v4, v6) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &v4) == 1 { return withUnsafeBytes(of: &v4) { Array($0) } }
        return inet_pton(AF_INET6, text, &v6) == 1 ? withUnsafeBytes(of: &v6) { Array($0) } : nil
    }

    /// The value of an environment variable. An empty one counts as unset, as in libcurl.
    private static let variable: @Sendable (String) -> String? = { name in
        mpin_curl_secure_getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }
}

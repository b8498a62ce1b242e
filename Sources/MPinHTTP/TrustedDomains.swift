import Glibc

/// The domains that requests may go to. A host must equal one of them or be a subdomain of one. If the list is empty,
/// every host is allowed.
package struct TrustedDomains: Sendable, Equatable {
    /// The domains in lower case, without the final dot.
    private var domains: Set<String> = []

    package init() {}

    /// Adds a domain. False, with nothing added, if `domain` is not a host name: labels of letters, digits, hyphens and
    /// underscores, separated by dots. A name with non-ASCII letters must be in its ASCII form (`xn--`), because its
    /// letters may look like others.
    package mutating func add(_ domain: String) -> Bool {
        let name = Self.withoutRoot(domain.lowercased())
        guard domain.utf8.count <= 254, Self.isHostName(name) else { return false }
        domains.insert(name)
        return true
    }

    package mutating func removeAll() { domains = [] }

    /// Whether requests may go to `url`. If the list is not empty, the URL must be https.
    func allows(_ url: RemoteURL) -> Bool {
        if domains.isEmpty { return true }
        guard url.scheme == "https" else { return false }
        let host = Self.withoutRoot(url.host)
        if domains.contains(host) { return true }
        // An IP address has no parent domain, although it contains dots.
        guard !Self.isAddress(host) else { return false }
        return domains.contains { host.hasSuffix(".\($0)") && !Self.isAddress($0) }
    }

    /// The host without its final dot: "api.example." and "api.example" are the same name.
    private static func withoutRoot(_ host: String) -> String { host.hasSuffix(".") ? String(host.dropLast()) : host }

    private static func isHostName(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.utf8.count <= 63 && label.first != "-" && label.last != "-"
                && label.utf8.allSatisfy(isHostCharacter)
        }
    }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private static func isAddress(_ host: String) -> Bool {
        var address = in_addr()
        return host.contains(":") || inet_pton(AF_INET, host, &address) == 1
    }
}

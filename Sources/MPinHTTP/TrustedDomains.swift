import Glibc

/// Domains that requests may go to: a host equals one of them or ends in one by whole labels. With none in the list
/// every host is allowed.
package struct TrustedDomains: Sendable, Equatable {
    /// Lower case, without the dot of the root.
    private var domains: Set<String> = []

    package init() {}

    /// False, with nothing added, where `domain` is no host name: letters, digits, hyphens and underscores in labels that
    /// dots part. A name in another script is to be given as it is asked for (`xn--`): its letters may look like others.
    package mutating func add(_ domain: String) -> Bool {
        let name = Self.withoutRoot(domain.lowercased())
        guard domain.utf8.count <= 254, Self.isHostName(name) else { return false }
        domains.insert(name)
        return true
    }

    package mutating func removeAll() { domains = [] }

    /// Whether requests may go to `url`: by https only, where there is a list.
    func allows(_ url: RemoteURL) -> Bool {
        if domains.isEmpty { return true }
        guard url.scheme == "https" else { return false }
        let host = Self.withoutRoot(url.host)
        if domains.contains(host) { return true }
        // The digits behind the first dot of an address are no parent of it.
        guard !Self.isAddress(host) else { return false }
        return domains.contains { host.hasSuffix(".\($0)") && !Self.isAddress($0) }
    }

    /// "api.example." is what "api.example" means in full.
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

import Glibc

/// The kind of network that an address belongs to. The kind determines which machines can be reached at the address.
package enum AddressClass: Sendable, Hashable, CaseIterable {
    /// The public Internet.
    case global
    /// This machine: 127.0.0.0/8 and ::1, and also 0.0.0.0/8 and ::, which systems treat as this machine.
    case loopback
    /// Networks of a home or a company: 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16 and 100.64.0.0/10 (RFC 1918 and
    /// 6598), 198.18.0.0/15 and 192.0.0.0/24 (RFC 6890), fc00::/7 (ULA, RFC 4193), 64:ff9b:1::/48 (RFC 8215) and the
    /// former fec0::/10. All these networks are one class, because one host may have addresses in several of them.
    case `private`
    /// 169.254.0.0/16 and fe80::/10. Cloud providers serve the credentials of their machines there.
    case linkLocal
    /// Multicast and reserved addresses.
    case special

    /// The class of a socket address. Nil if the address is neither IPv4 nor IPv6.
    init?(_ address: UnsafePointer<sockaddr>) {
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            self = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Self.of($0.pointee.sin_addr) }
        case AF_INET6:
            self = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { Self.of($0.pointee.sin6_addr) }
        default: return nil
        }
    }

    /// The class of a host that is an IP address or `localhost`. Nil for other names.
    package init?(host: String) {
        var v4 = in_addr()
        var v6 = in6_addr()
        if host == "localhost" {
            self = .loopback
        } else if inet_pton(AF_INET, host, &v4) == 1 {
            self = Self.of(v4)
        } else if inet_pton(AF_INET6, host, &v6) == 1 {
            self = Self.of(v6)
        } else {
            return nil
        }
    }

    /// The name of the class for error messages.
    package var name: String {
        switch self {
        case .global: "global"
        case .loopback: "loopback"
        case .private: "private"
        case .linkLocal: "link-local"
        case .special: "special"
        }
    }

    private static func of(_ address: in_addr) -> AddressClass { v4(UInt32(bigEndian: address.s_addr)) }

    private static func v4(_ address: UInt32) -> AddressClass {
        func isIn(_ network: UInt32, _ bits: UInt32) -> Bool { (address ^ network) >> (32 - bits) == 0 }
        if isIn(0x7f00_0000, 8) || isIn(0, 8) { return .loopback }
        if isIn(0x0a00_0000, 8) || isIn(0xac10_0000, 12) || isIn(0xc0a8_0000, 16) || isIn(0x6440_0000, 10) {
            return .private
        }
        if isIn(0xc612_0000, 15) || isIn(0xc000_0000, 24) { return .private }
        if isIn(0xa9fe_0000, 16) { return .linkLocal }
        return isIn(0xe000_0000, 3) ? .special : .global
    }

    private static func of(_ address: in6_addr) -> AddressClass {
        let words = withUnsafeBytes(of: address) { bytes in
            [0, 4, 8, 12].map { UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: $0, as: UInt32.self)) }
        }
        let first = words[0]
        if first == 0, words[1] == 0, words[2] == 0, words[3] < 2 { return .loopback }
        // An IPv6 address that contains an IPv4 address has the class of the IPv4 address. Such addresses are mapped
        // and compatible ones (RFC 4291), translated ones (RFC 2765 and 6052), and 6to4 ones (RFC 3056).
        let isMapped = first == 0 && words[1] == 0 && [0, 0xffff, 0xffff_0000].contains(words[2])
        if isMapped || (first == 0x0064_ff9b && words[1] == 0 && words[2] == 0) { return v4(words[3]) }
        if first >> 16 == 0x2002 { return v4(first << 16 | words[1] >> 16) }
        if first == 0x0064_ff9b, words[1] >> 16 == 1 { return .private }
        if first >> 25 == 0xfc >> 1 || first >> 22 == 0xfec0 >> 6 { return .private }
        if first >> 22 == 0xfe80 >> 6 { return .linkLocal }
        return first >> 24 == 0xff ? .special : .global
    }
}

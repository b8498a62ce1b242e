import Glibc
import NIOCore

/// An IPv4 or IPv6 address in 16 bytes. IPv4 is stored as `::ffff:a.b.c.d`, so that both forms of one address are
/// equal.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The first eight bytes; the other eight are in `low`.
    let high: UInt64
    let low: UInt64

    /// Reads the forms that inet_pton(3) accepts, without a port, with or without square brackets. A zone (`%eth0`) is
    /// cut off.
    package init?(_ text: String) {
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text[...]
        let address = String(bare.prefix { $0 != "%" })
        var v4 = in_addr()
        if inet_pton(AF_INET, address, &v4) == 1 {
            self.init(v4)
            return
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, address, &v6) == 1 else { return nil }
        self.init(v6)
    }

    /// The address of a socket; nil for a Unix domain socket.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let address): self.init(address.address.sin_addr)
        case .v6(let address): self.init(address.address.sin6_addr)
        case .unixDomainSocket: return nil
        }
    }

    private init(_ address: in_addr) {
        self.init(high: 0, low: 0xffff_0000_0000 | UInt64(UInt32(bigEndian: address.s_addr)))
    }

    private init(_ address: in6_addr) {
        (high, low) = withUnsafeBytes(of: address) {
            (
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    private init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    var isIPv4: Bool { high == 0 && low >> 32 == 0xffff }

    /// Whether the address is in 127.0.0.0/8 or is ::1.
    package var isLoopback: Bool { isIPv4 ? UInt8(truncatingIfNeeded: low >> 24) == 127 : high == 0 && low == 1 }

    /// The first `bits` of the 128 bits; the others are zero.
    func prefix(_ bits: Int) -> IPAddress {
        func mask(_ count: Int) -> UInt64 { count <= 0 ? 0 : count >= 64 ? .max : ~(.max >> UInt64(count)) }
        return IPAddress(high: high & mask(bits), low: low & mask(bits - 64))
    }

    /// The address under which limits count this caller: an IPv4 address itself, or the /64 of an IPv6 address, because
    /// one host may use every address in it.
    var caller: IPAddress { isIPv4 ? self : prefix(64) }

    /// The network that the limits for networks count: the /24 of an IPv4 address, or the /48 of an IPv6 address. It
    /// usually belongs to one owner.
    var network: IPAddress { isIPv4 ? prefix(128 - 8) : prefix(48) }

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        if isIPv4 {
            var address = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
            _ = inet_ntop(AF_INET, &address, &text, socklen_t(text.count))
        } else {
            var bytes = (high.bigEndian, low.bigEndian)
            _ = inet_ntop(AF_INET6, &bytes, &text, socklen_t(text.count))
        }
        return text.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    }
}

/// A range of addresses, such as `10.0.0.0/8` or `2001:db8::/32`. Without a length it contains one address.
package struct IPNetwork: Sendable, Equatable {
    private let first: IPAddress
    /// The length of the prefix in bits, out of 128.
    private let bits: Int

    /// Reads a range; nil unless the text is an address, optionally with a slash and a valid length.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
        let size = address.isIPv4 ? 32 : 128
        guard let length = parts.count == 1 ? size : Int(parts[1]), (0...size).contains(length) else { return nil }
        bits = 128 - size + length
        first = address.prefix(bits)
    }

    func contains(_ address: IPAddress) -> Bool { address.prefix(bits) == first }

    /// Whether the range is wider than any network of one owner: an IPv4 prefix shorter than 8 bits, an IPv6 prefix
    /// shorter than 7 bits, or an IPv6 range that contains all of IPv4.
    var isTooWide: Bool {
        guard !first.isIPv4 else { return bits < 128 - 32 + 8 }
        return bits < 7 || IPAddress("::ffff:0.0.0.0").map(contains) ?? true
    }
}

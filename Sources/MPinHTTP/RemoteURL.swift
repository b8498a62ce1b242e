import Glibc

/// A URL that was parsed strictly. A text that two programs could interpret differently is refused, so the host that is
/// checked is always the host that is contacted.
struct RemoteURL {
    /// The scheme in lower case.
    let scheme: String
    /// The host in lower case, without the brackets of an IPv6 address.
    let host: String
    let port: UInt16
    /// The port as it was given, with its ":"; empty if there is none.
    private let givenPort: Substring
    /// Path, query and fragment as they were given. The text is empty or begins with "/", "?" or "#".
    private let rest: Substring

    /// Parses `text`. Nil unless it is an absolute URL with one of `schemes` (RFC 3986 section 3). User names,
    /// passwords, spaces and control characters are refused, and so is a percent sign in the host. A host name with
    /// non-ASCII letters must be in its ASCII form (`xn--`). An address must be four decimal numbers or an IPv6 address
    /// in brackets.
    init?(_ text: String, schemes: [String]) {
        // The text is compared by Unicode scalars: as a character, a "/" with a combining accent would not equal "/".
        let scalars = text.unicodeScalars
        guard scalars.allSatisfy({ $0.value > 32 && $0.value != 127 }), let colon = scalars.firstIndex(of: ":"),
            scalars[colon...].starts(with: "://".unicodeScalars)
        else { return nil }
        scheme = text[..<colon].lowercased()
        let authority = scalars[colon...].dropFirst(3).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        rest = text[authority.endIndex...]
        let endOfHost = Self.endOfHost(authority)
        givenPort = Substring(authority[endOfHost...])
        guard schemes.contains(scheme), let host = Self.host(String(authority[..<endOfHost])),
            let port = Self.port(givenPort, scheme)
        else { return nil }
        self.host = host
        self.port = port
    }

    /// The URL to request.
    var text: String { "\(scheme)://\(hostInURL)\(givenPort)\(rest)" }

    /// The origin `scheme://host:port` for messages. Path and query are left out, because they may contain one-time
    /// tokens.
    var origin: String { "\(scheme)://\(hostInURL):\(port)" }

    private var hostInURL: String { host.contains(":") ? "[\(host)]" : host }

    /// Whether the host is this machine: 127.0.0.0/8, ::1 or localhost. libcurl never asks a name server for localhost.
    var isLoopback: Bool {
        if host == "localhost" { return true }
        var v4 = in_addr()
        if inet_pton(AF_INET, host, &v4) == 1 { return UInt32(bigEndian: v4.s_addr) >> 24 == 127 }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, host, &v6) == 1 else { return false }
        return withUnsafeBytes(of: &v6) { $0.last == 1 && $0.dropLast().allSatisfy { $0 == 0 } }
    }

    /// The failure if the host is an address whose class is not in `reach`, else nil.
    func refusal(_ reach: Set<AddressClass>?) -> HTTPFailure? {
        guard let reach, let kind = AddressClass(host: host), !reach.contains(kind) else { return nil }
        return .forbiddenAddress(origin, kind)
    }

    private static func endOfHost(_ authority: Substring.UnicodeScalarView) -> String.Index {
        guard authority.first == "[", let bracket = authority.firstIndex(of: "]") else {
            return authority.firstIndex(of: ":") ?? authority.endIndex
        }
        return authority.index(after: bracket)
    }

    private static func host(_ text: String) -> String? {
        if text.hasPrefix("[") {
            let address = text.dropFirst().dropLast().lowercased()
            var v6 = in6_addr()
            return inet_pton(AF_INET6, address, &v6) == 1 ? address : nil
        }
        guard !text.isEmpty, text.utf8.allSatisfy(isHostCharacter) else { return nil }
        // Text such as "127.1" and "0x7f.0.0.1" is refused, because some programs treat it as an address and others as
        // a name.
        var v4 = in_addr()
        return inet_aton(text, &v4) == 0 || inet_pton(AF_INET, text, &v4) == 1 ? text.lowercased() : nil
    }

    private static func isHostCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }

    /// The port in `text`, which is what follows the host; the scheme's default port if `text` has no digits.
    private static func port(_ text: Substring, _ scheme: String) -> UInt16? {
        guard text.isEmpty || text.first == ":" else { return nil }
        let digits = text.dropFirst()
        if digits.isEmpty { return defaultPorts[scheme] }
        guard digits.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) else { return nil }
        return UInt16(digits)
    }

    private static let defaultPorts: [String: UInt16] = ["http": 80, "https": 443, "smtp": 25, "smtps": 465]
}

extension AddressClass {
    /// The class of the URL's host, if the host is an address or `localhost`; else nil.
    package init?(url: String) {
        guard let host = RemoteURL(url, schemes: ["http", "https"])?.host else { return nil }
        self.init(host: host)
    }
}

extension HTTPRequest {
    /// The origin `scheme://host:port` for logs. Path and query are left out, because they may contain one-time tokens.
    package var origin: String { Self.origin(of: url) ?? "no URL" }

    /// The origin `scheme://host:port` of a URL; nil if it is no http or https URL.
    package static func origin(of url: String) -> String? { RemoteURL(url, schemes: ["http", "https"])?.origin }

    /// Whether the host of a URL is this machine.
    package static func isLoopback(_ url: String) -> Bool {
        RemoteURL(url, schemes: ["http", "https"])?.isLoopback ?? false
    }
}

/// Whether `text` is an absolute URL with one of `schemes`, without user name and password, that all programs parse in
/// the same way.
package func isURL(_ text: String, schemes: [String]) -> Bool { RemoteURL(text, schemes: schemes) != nil }

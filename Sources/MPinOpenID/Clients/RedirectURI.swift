import Glibc
package import MPinStore

/// An address that a browser is sent to with an answer: `https`, `http` on this machine, or an app's own scheme (RFC
/// 6749 section 3.1.2, RFC 8252 section 7). Texts that two programs could read differently are refused, and nothing is
/// normalised, so two URIs are equal exactly if their texts are.
package struct RedirectURI: Sendable, Hashable {
    /// The largest text in bytes.
    package static let maxBytes = 2048

    /// The URI as it was given, in ASCII.
    package let text: String
    /// In lower case, because other texts are refused.
    package let scheme: String
    /// In lower case; an IPv6 address is in brackets. Empty if the scheme is an app's own.
    package let host: String
    /// Nil if the URI names no port.
    package let port: UInt16?
    /// Path and query; for an app's own scheme, all that follows the ":".
    private let rest: String

    /// Throws the reason if `text` is not acceptable as a redirect URI.
    package init(_ text: String) throws(RedirectURIFault) {
        try Self.checkCharacters(Array(text.utf8))
        guard let colon = text.firstIndex(of: ":") else { throw .scheme }
        let scheme = String(text[..<colon])
        let afterScheme = text[text.index(after: colon)...]
        self.text = text
        self.scheme = scheme
        guard scheme == "https" || scheme == "http" else {
            guard Self.isAppScheme(scheme), !afterScheme.isEmpty else { throw .scheme }
            (host, port, rest) = ("", nil, String(afterScheme))
            return
        }
        guard afterScheme.hasPrefix("//") else { throw .host }
        let authority = afterScheme.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        rest = String(afterScheme[authority.endIndex...])
        (host, port) = try Self.hostAndPort(authority)
        guard scheme == "https" || Self.loopbackHosts.contains(host) else { throw .plainHTTP }
        guard !Self.hasDotSegment(rest) else { throw .dotSegment }
    }

    /// Whether this is an http URI with a loopback address. The name `localhost` does not count, because a name server
    /// could give it the address of another machine.
    package var isLoopbackAddress: Bool { scheme == "http" && Self.loopbackAddresses.contains(host) }

    /// Whether the scheme is an app's own, such as `com.example.app:`, and not http or https.
    package var hasAppScheme: Bool { host.isEmpty }

    /// Whether there is neither path nor query.
    var isBare: Bool { rest.isEmpty && !hasAppScheme }

    /// Returns the source for this URI in a `Content-Security-Policy`: `https://host:port`, or `com.example.app:`.
    package var origin: String {
        hasAppScheme ? "\(scheme):" : "\(scheme)://\(host)" + (port.map { ":\($0)" } ?? "")
    }

    /// Returns whether a browser may be sent to `requested` if this URI is registered. The texts must be equal; with
    /// `anyPort`, the port of the same loopback address may differ (RFC 8252 section 7.3).
    package func admits(_ requested: RedirectURI, anyPort: Bool) -> Bool {
        if text == requested.text { return true }
        return anyPort && isLoopbackAddress && requested.isLoopbackAddress && host == requested.host
            && rest == requested.rest
    }
}

/// The reason why a text is not accepted as a redirect URI.
package enum RedirectURIFault: Error, Equatable, CustomStringConvertible {
    case length
    case character
    case fragment
    case scheme
    case userInfo
    case host
    case port
    case plainHTTP
    case dotSegment

    /// For the operator. The message prints it after the URI and a colon.
    package var description: String {
        switch self {
        case .length: "must have 1 to \(RedirectURI.maxBytes) characters"
        case .character: "has a character that no URI has, or a % without two hex digits"
        case .fragment: "must have no fragment (#)"
        case .scheme: "must begin with https://, http:// on this machine, or a scheme like com.example.app:"
        case .userInfo: "must have no user name (@)"
        case .host: "needs a host name in lower case, or an address"
        case .port: "has no port number between 1 and 65535 behind the host"
        case .plainHTTP: "must be https; http is for 127.0.0.1, [::1] and localhost only"
        case .dotSegment: "must have no . or .. in its path"
        }
    }
}

extension RedirectURI {
    private static let loopbackAddresses = ["127.0.0.1", "[::1]"]
    private static let loopbackHosts = loopbackAddresses + ["localhost"]

    /// Throws if there is a character that RFC 3986 does not allow, or a `%` without two hex digits.
    private static func checkCharacters(_ bytes: [UInt8]) throws(RedirectURIFault) {
        guard (1...maxBytes).contains(bytes.count) else { throw .length }
        guard !bytes.contains(UInt8(ascii: "#")) else { throw .fragment }
        var digitsDue = 0
        for byte in bytes {
            if digitsDue > 0 {
                guard Character(UnicodeScalar(byte)).isHexDigit else { throw .character }
                digitsDue -= 1
            } else if byte == UInt8(ascii: "%") {
                digitsDue = 2
            } else {
                guard (0x21...0x7E).contains(byte), !notInURIs.contains(byte) else { throw .character }
            }
        }
        guard digitsDue == 0 else { throw .character }
    }

    private static let notInURIs = Array("\"<>\\^`{|}".utf8)

    /// Returns whether `scheme` is a domain name in reverse order, as an app that owns the domain uses it (RFC 8252
    /// section 7.1). It must contain a dot, so `javascript` and `data` are refused.
    private static func isAppScheme(_ scheme: String) -> Bool {
        let labels = scheme.split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && scheme.first?.isLetter == true
            && labels.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(isNameByte) }
    }

    private static func hostAndPort(_ authority: Substring) throws(RedirectURIFault) -> (String, UInt16?) {
        guard !authority.contains("@") else { throw .userInfo }
        let host: Substring
        if authority.hasPrefix("[") {
            guard let bracket = authority.firstIndex(of: "]") else { throw .host }
            host = authority[...bracket]
        } else {
            host = authority.prefix { $0 != ":" }
        }
        guard isHost(host) else { throw .host }
        let port = authority[host.endIndex...]
        if port.isEmpty { return (String(host), nil) }
        let digits = port.dropFirst()
        guard port.first == ":", digits.first != "0", digits.utf8.allSatisfy(isDigit), let number = UInt16(digits)
        else {
            throw .port
        }
        return (String(host), number)
    }

    /// Returns whether `host` is a DNS name in lower case, an IPv4 address of four decimal numbers, or an IPv6 address
    /// in brackets.
    private static func isHost(_ host: Substring) -> Bool {
        if host.hasPrefix("[") {
            var v6 = in6_addr()
            return host == host.lowercased() && inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &v6) == 1
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard host.utf8.count <= 253, labels.allSatisfy(isLabel) else { return false }
        // Browsers read a host as an IPv4 address if its last label is a number.
        guard let last = labels.last, last.utf8.first.map(isDigit) == true else { return true }
        var v4 = in_addr()
        return inet_pton(AF_INET, String(host), &v4) == 1
    }

    private static func isLabel(_ label: Substring) -> Bool {
        (1...63).contains(label.utf8.count) && label.utf8.allSatisfy(isNameByte) && label.first != "-"
            && label.last != "-"
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: "-") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// Returns whether the path has a segment `.` or `..`, also if its dots are escaped. Browsers would remove it and
    /// go to another path.
    private static func hasDotSegment(_ rest: String) -> Bool {
        rest.prefix { $0 != "?" }.lowercased().replacing("%2e", with: ".").split(separator: "/")
            .contains { $0 == "." || $0 == ".." }
    }
}

/// Encodes the URI in JSON as its text.
extension RedirectURI: Codable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do { try self.init(container.decode(String.self)) } catch let fault as RedirectURIFault {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: fault.description)
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Packs the parts, too, because parsing the text costs more than reading them.
extension RedirectURI: Packable {
    package init(packed members: inout Unpacker) throws {
        text = try members.text()
        scheme = try members.text()
        host = try members.text()
        guard let port = UInt16(exactly: try members.number()) else { throw Unpacker.foreign }
        self.port = port == 0 ? nil : port
        rest = try members.text()
    }

    /// No URI has the port 0, so it stands for none.
    package func pack(into members: inout Packer) {
        for part in [text, scheme, host] { members.put(part) }
        members.put(Int64(port ?? 0))
        members.put(rest)
    }
}

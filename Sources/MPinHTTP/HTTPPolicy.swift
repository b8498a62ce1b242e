/// What a transport allows.
package struct HTTPPolicy: Sendable {
    /// Plain http to hosts other than loopback ones.
    package var allowInsecure: Bool
    /// PEM file with the certificate authorities to trust instead of the system's.
    package var caFile: String?
    /// The largest answer in bytes, headers and body each.
    package var maxAnswerBytes: Int
    /// None is sent when nil.
    package var userAgent: String?
    /// Where requests may go.
    package var trustedDomains = TrustedDomains()
    /// `http://host:port` for all requests that leave this machine; nil: that of the environment.
    package var proxy: String?
    /// Public keys that a server's certificate may have: `sha256//BASE64;sha256//BASE64` of the SubjectPublicKeyInfo;
    /// nil: any that a trusted authority vouches for.
    package var pinnedKeys: String?

    package init(
        allowInsecure: Bool = false, caFile: String? = nil, maxAnswerBytes: Int = 1 << 20, userAgent: String? = nil
    ) {
        self.allowInsecure = allowInsecure
        self.caFile = caFile
        self.maxAnswerBytes = maxAnswerBytes
        self.userAgent = userAgent
    }

    /// Why `url` may not be asked, whoever would carry the request; nil: it may, as far as can be told before a lookup.
    package func refusal(of url: String, reach: Set<AddressClass>? = nil) -> HTTPFailure? {
        do throws(HTTPFailure) {
            return try checked(url).refusal(reach)
        } catch { return error }
    }

    /// `text` as a URL that may be asked.
    func checked(_ text: String) throws(HTTPFailure) -> RemoteURL {
        guard let url = RemoteURL(text, schemes: ["http", "https"]) else { throw .invalidURL }
        guard trustedDomains.allows(url) else { throw .untrustedDomain }
        guard url.scheme == "https" || url.isLoopback || allowInsecure else { throw .insecureURL }
        return url
    }

    /// Whether ``proxy`` and ``pinnedKeys`` are what they should be. libcurl would take other text for a file's name.
    package var isWellFormed: Bool {
        if let proxy, RemoteURL(proxy, schemes: ["http", "https"]) == nil { return false }
        guard let pinnedKeys else { return true }
        return pinnedKeys.split(separator: ";", omittingEmptySubsequences: false).allSatisfy { pin in
            // 32 bytes in base64 (RFC 4648 section 4).
            pin.hasPrefix("sha256//") && pin.utf8.count == 52 && pin.hasSuffix("=")
                && pin.utf8.dropFirst(8).dropLast().allSatisfy(isBase64Digit)
        }
    }

    private func isBase64Digit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}

/// The rules for the requests of a transport.
package struct HTTPPolicy: Sendable {
    /// Whether plain http is allowed to hosts other than loopback ones.
    package var allowInsecure: Bool
    /// A PEM file with the certificate authorities to trust; nil means those of the system.
    package var caFile: String?
    /// The limit in bytes for the headers of an answer, and also for its body.
    package var maxAnswerBytes: Int
    /// The User-Agent header; nil means none.
    package var userAgent: String?
    /// The domains that requests may go to.
    package var trustedDomains = TrustedDomains()
    /// The proxy, `http://host:port`, of all requests that leave this machine; nil means the proxy that environment
    /// variables name (``ProxyChoice``).
    package var proxy: String?
    /// The public keys that a server's certificate may have, as `sha256//HASH;sha256//HASH`. HASH is the SHA-256 hash
    /// of the key's SubjectPublicKeyInfo in base64. Nil means any key that a trusted authority certifies.
    package var pinnedKeys: String?

    package init(
        allowInsecure: Bool = false, caFile: String? = nil, maxAnswerBytes: Int = 1 << 20, userAgent: String? = nil
    ) {
        self.allowInsecure = allowInsecure
        self.caFile = caFile
        self.maxAnswerBytes = maxAnswerBytes
        self.userAgent = userAgent
    }

    /// Why `url` must not be requested. Nil if it may be requested, as far as this can be decided without resolving the
    /// host name.
    package func refusal(of url: String, reach: Set<AddressClass>? = nil) -> HTTPFailure? {
        do throws(HTTPFailure) {
            return try checked(url).refusal(reach)
        } catch { return error }
    }

    /// Parses `text` as a URL. Throws if the URL must not be requested.
    func checked(_ text: String) throws(HTTPFailure) -> RemoteURL {
        guard let url = RemoteURL(text, schemes: ["http", "https"]) else { throw .invalidURL }
        guard trustedDomains.allows(url) else { throw .untrustedDomain }
        guard url.scheme == "https" || url.isLoopback || allowInsecure else { throw .insecureURL }
        return url
    }

    /// Whether ``proxy`` and ``pinnedKeys`` have the right form. libcurl would take other text in ``pinnedKeys`` for a
    /// file name.
    package var isWellFormed: Bool {
        if let proxy, RemoteURL(proxy, schemes: ["http", "https"]) == nil { return false }
        guard let pinnedKeys else { return true }
        return pinnedKeys.split(separator: ";", omittingEmptySubsequences: false).allSatisfy { pin in
            // A SHA-256 hash, 32 bytes, in base64 (RFC 4648 section 4).
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

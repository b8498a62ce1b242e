import CCurl
import Glibc

/// A URL as libcurl reads it, so that what is checked is what is fetched.
final class RemoteURL {
    let handle: OpaquePointer
    private(set) var scheme = ""
    /// Without the brackets of an IPv6 address.
    private(set) var host = ""
    private(set) var port = ""

    /// Nil unless `text` is an absolute URL of one of `schemes`, without user name, password and control characters.
    init?(_ text: String, schemes: [String]) {
        guard text.utf8.allSatisfy({ $0 > 32 && $0 != 127 }), let handle = curl_url() else { return nil }
        self.handle = handle
        guard curl_url_set(handle, CURLUPART_URL, text, UInt32(CURLU_DISALLOW_USER)) == CURLUE_OK,
            let scheme = Self.part(handle, CURLUPART_SCHEME), schemes.contains(scheme),
            let host = Self.part(handle, CURLUPART_HOST),
            let port = Self.part(handle, CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT))
        else { return nil }
        self.scheme = scheme
        self.host = String(host.drop { $0 == "[" }.prefix { $0 != "]" }).lowercased()
        self.port = port
    }

    deinit { curl_url_cleanup(handle) }

    /// `scheme://host:port`, for messages: path and query may hold one-time tokens.
    var origin: String { host.contains(":") ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)" }

    /// Whether the host is this machine: 127.0.0.0/8, ::1 or localhost (which libcurl never asks a name server for).
    var isLoopback: Bool {
        if host == "localhost" { return true }
        var v4 = in_addr()
        if inet_pton(AF_INET, host, &v4) == 1 { return UInt32(bigEndian: v4.s_addr) >> 24 == 127 }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, host, &v6) == 1 else { return false }
        return withUnsafeBytes(of: &v6) { $0.last == 1 && $0.dropLast().allSatisfy { $0 == 0 } }
    }

    private static func part(_ handle: OpaquePointer, _ what: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, what, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}

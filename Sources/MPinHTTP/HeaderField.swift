import Glibc

/// Header names and values of a request.
package enum HeaderField {
    /// Whether `name` is a token (RFC 9110 section 5.6.2).
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 32 && $0 < 127 && !":;,\"()<>@[]{}/\\?=".utf8.contains($0) }
    }

    /// Whether `value` contains no control characters other than tabs.
    package static func isValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 9 }
    }
}

extension HTTPResponse {
    /// The seconds to wait that the server asks for (RFC 9110 section 10.2.3), as a number or as a date. Nil if it does
    /// not ask.
    package var retryAfter: Int64? {
        guard let text = header("Retry-After") else { return nil }
        if let seconds = Int64(text) { return seconds >= 0 ? seconds : nil }
        return secondsSince1970(httpDate: text).map { max(0, $0 &- Int64(time(nil))) }
    }
}

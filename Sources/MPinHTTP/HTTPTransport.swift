import Glibc
package import MPinSecrets

/// An HTTP request. Redirects are not followed: the caller receives the answer with status 3xx.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    package var method: Method
    /// An absolute http or https URL without user name and password.
    package var url: String
    /// A query that contains a secret. It is appended to `url`, which must have no query then. It may only contain
    /// characters that are allowed in a query.
    package var secretQuery: SecretBytes?
    /// Names and values. A line break in either is refused.
    package var headers: [(String, String)]
    /// Further headers, whose values are secret. The same rules hold for them.
    package var secretHeaders: [(String, SecretBytes)] = []
    /// The body. A GET must have none.
    package var body: [UInt8]?
    /// The body if it may contain a secret. It takes precedence over `body`.
    package var secretBody: SecretBytes?
    package var deadline: Deadline
    /// Whether the transport may send the request twice, which it does if a kept connection turns out to be dead. All
    /// other retries are up to the caller.
    package var mayRepeat: Bool
    /// The classes of addresses that the host may have; nil means all. Set this for URLs that come from a server.
    package var reach: Set<AddressClass>?

    /// Makes a request. If `mayRepeat` is nil, only a GET may be repeated.
    package init(
        method: Method = .get, url: String, headers: [(String, String)] = [], body: [UInt8]? = nil, deadline: Deadline,
        mayRepeat: Bool? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.deadline = deadline
        self.mayRepeat = mayRepeat ?? (method == .get)
    }

    /// The URL `url` followed by the secret query, as a C string.
    package func cString(_ url: String) -> SecretBytes {
        let parts = [url, secretQuery == nil ? "" : "?"].map { SecretBytes(utf8: $0) }
        let end = SecretBytes(count: 1)
        return SecretBytes(joining: parts + [secretQuery, end].compactMap(\.self))
    }

    /// Calls `use` with the body, which is empty if there is none.
    package func withBody(_ use: (UnsafeBufferPointer<UInt8>) -> Void) {
        if let secretBody { return secretBody.span.withUnsafeBufferPointer(use) }
        (body ?? []).withUnsafeBufferPointer(use)
    }
}

/// An HTTP answer.
package struct HTTPResponse: Sendable {
    package let status: Int
    package let headers: [(String, String)]
    /// The body. It is wiped when the last reference to it is gone, because it may contain a share.
    package let body: SecretBytes
    /// The class of the server's address; nil if the transport does not know it.
    package let peer: AddressClass?

    package init(status: Int, headers: [(String, String)] = [], body: SecretBytes, peer: AddressClass? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    /// The body as an array, for answers without secrets.
    package var bytes: [UInt8] { body.span.withUnsafeBufferPointer { Array($0) } }

    /// The value of the first header called `name`; upper and lower case count as equal. Nil if there is no such
    /// header.
    package func header(_ name: String) -> String? {
        headers.first { $0.0.lowercased() == name.lowercased() }?.1
    }
}

/// Why there is no answer.
package enum HTTPFailure: Error, Equatable, CustomStringConvertible {
    /// The URL is not an absolute http or https URL, or contains a user name.
    case invalidURL
    /// The URL is plain http to a host that is not loopback, and ``HTTPPolicy/allowInsecure`` is false.
    case insecureURL
    /// There is a list of trusted domains, and the URL is not https or its host is not in the list.
    case untrustedDomain
    /// The address of the host is of a class that the request must not reach. The text is the origin,
    /// `scheme://host:port`.
    case forbiddenAddress(String, AddressClass)
    /// A header contains a line break or another control character, or a GET has a body.
    case invalidRequest
    /// There was no connection, the certificate is not trusted, or the answer is incomplete. The text names the host,
    /// but never path or query.
    case network(String)
    /// This machine cannot send requests, for example because libcurl is missing. A retry is useless.
    case unavailable(String)
    case timedOut
    case cancelled
    case answerTooLarge

    /// One line for the user. It contains neither path nor query.
    package var description: String {
        switch self {
        case .invalidURL: "not a URL that begins with https:// or http://"
        case .insecureURL: "plain http is allowed to loopback hosts only"
        case .untrustedDomain: "the host is none of the trusted domains, or the URL not https"
        case .forbiddenAddress(let origin, let kind):
            "\(origin) has a \(kind.name) address, which the backend itself has not"
        case .invalidRequest: "a header or body that HTTP does not allow"
        case .network(let text), .unavailable(let text): text
        case .timedOut: "no answer within the time allowed"
        case .cancelled: "canceled"
        case .answerTooLarge: "the answer is too large"
        }
    }
}

/// Sends requests. It may be called from any thread, and each call sends one request.
package protocol HTTPTransport: Sendable {
    /// Blocks until there is an answer, the deadline has passed, or `isCancelled` returns true. It calls `isCancelled`
    /// about every 50 ms.
    func execute(
        _ request: HTTPRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(HTTPFailure) -> HTTPResponse
}

extension HTTPTransport {
    /// Calls ``execute(_:isCancelled:)`` without a way to cancel.
    package func execute(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        try execute(request, isCancelled: { false })
    }
}

/// Checks for the header names and values of a request.
package enum HeaderField {
    /// Whether `name` is a token (RFC 9110 section 5.6.2).
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 32 && $0 < 127 && !":;,\"()<>@[]{}/\\?=".utf8.contains($0) }
    }

    /// Whether `value` contains no control characters other than tabs.
    package static func isValue(_ value: String) -> Bool { value.utf8.allSatisfy(isAllowed) }

    /// The same for a secret value.
    package static func isValue(_ value: SecretBytes) -> Bool {
        value.span.withUnsafeBufferPointer { $0.allSatisfy(isAllowed) }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool { byte >= 32 && byte != 127 || byte == 9 }
}

extension HTTPResponse {
    /// The seconds to wait that the server asks for (RFC 9110 section 10.2.3), as a number or as a date. Nil if it does
    /// not ask.
    package var retryAfter: Int64? {
        guard let text = header("Retry-After") else { return nil }
        if let seconds = Int64(text) { return seconds >= 0 ? seconds : nil }
        return secondsSince1970(httpDate: text).map { max(0, $0 &- Int64(time(nil))) }
    }

    /// The time of the server's clock when it answered (RFC 9110 section 6.6.1), in seconds since 1970. Nil if it did
    /// not say.
    package var date: Int64? { header("Date").flatMap { secondsSince1970(httpDate: $0) } }
}

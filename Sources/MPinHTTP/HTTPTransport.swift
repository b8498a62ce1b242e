package import MPinSecrets

/// One request. A redirect is never followed: the caller sees the 3xx.
package struct HTTPRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
    }

    package var method: Method
    /// Absolute, http or https, without user name and password.
    package var url: String
    /// A query that holds a secret; it goes behind `url`, which has none then. Characters of a query only.
    package var secretQuery: SecretBytes?
    /// Names and values; a line break in either is refused.
    package var headers: [(String, String)]
    /// Not with GET.
    package var body: [UInt8]?
    /// The body, where it may hold a secret.
    package var secretBody: SecretBytes?
    package var deadline: Deadline
    /// Whether the server may get it twice, where a kept connection turns out to be dead. When to try again is otherwise
    /// for the transport's caller.
    package var mayRepeat: Bool
    /// Where the host's address may lie; nil: anywhere. For URLs that a server has named.
    package var reach: Set<AddressClass>?

    /// `mayRepeat` nil: a GET may, others may not.
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

    /// The whole URL of this request, given its beginning, as a C string.
    package func cString(_ url: String) -> SecretBytes {
        let parts = [url, secretQuery == nil ? "" : "?"].map { SecretBytes(utf8: $0) }
        let end = SecretBytes(count: 1)
        return SecretBytes(joining: parts + [secretQuery, end].compactMap(\.self))
    }

    /// The body, empty where there is none.
    package func withBody<Result>(_ use: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let secretBody { return secretBody.span.withUnsafeBufferPointer(use) }
        return (body ?? []).withUnsafeBufferPointer(use)
    }
}

/// One answer.
package struct HTTPResponse: Sendable {
    package let status: Int
    package let headers: [(String, String)]
    /// Wiped when the last reference to it is gone, for it may hold a share.
    package let body: SecretBytes
    /// Where the server's address lies; nil where the transport does not know.
    package let peer: AddressClass?

    package init(status: Int, headers: [(String, String)] = [], body: SecretBytes, peer: AddressClass? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.peer = peer
    }

    /// The body as an array, for answers without secrets.
    package var bytes: [UInt8] { body.span.withUnsafeBufferPointer { Array($0) } }

    /// The value of the first header of that name in any case, nil without one.
    package func header(_ name: String) -> String? {
        headers.first { $0.0.lowercased() == name.lowercased() }?.1
    }
}

/// Why there is no answer.
package enum HTTPFailure: Error, Equatable, CustomStringConvertible {
    /// Not an absolute http or https URL, or one with a user name.
    case invalidURL
    /// Plain http to a host that is not loopback.
    case insecureURL
    /// Not https to a host of the list, where there is one.
    case untrustedDomain
    /// The address of the host, of which the text names the origin, lies where the request may not go.
    case forbiddenAddress(String, AddressClass)
    /// A line break or another control character in a header, or a body with GET.
    case invalidRequest
    /// No connection, no trust, or an answer that breaks off; the text names the host, never path or query.
    case network(String)
    /// Nothing on this machine can send requests, now or later.
    case unavailable(String)
    case timedOut
    case cancelled
    case answerTooLarge

    /// One line for a person; it carries neither path nor query.
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

/// Carries out requests, one at a time for each caller; callers may come from any thread.
package protocol HTTPTransport: Sendable {
    /// Blocks until there is an answer, the deadline is over or `isCancelled` says true (asked every 50 ms or so).
    func execute(
        _ request: HTTPRequest, isCancelled: @escaping @Sendable () -> Bool
    ) throws(HTTPFailure) -> HTTPResponse
}

extension HTTPTransport {
    /// As ``execute(_:isCancelled:)``, for callers that never cancel.
    package func execute(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        try execute(request, isCancelled: { false })
    }
}

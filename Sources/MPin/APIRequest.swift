import MPinHTTP
import MPinSDK

/// A request to an API, without the header Authorization.
public struct APIRequest: Sendable {
    /// The methods of requests.
    public enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// The method.
    public var method: Method
    /// An absolute URL.
    public var url: String
    /// The headers, in the order in which they are sent.
    public var headers: [(name: String, value: String)]
    /// The body; a GET has none.
    public var body: [UInt8]?

    /// Makes a request.
    public init(
        _ method: Method = .get, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// The request for the transport. The session sets the deadline.
    var core: HTTPRequest {
        HTTPRequest(
            method: HTTPRequest.Method(rawValue: method.rawValue) ?? .get, url: url,
            headers: headers.map { ($0.name, $0.value) }, body: body, deadline: .after(milliseconds: 0))
    }
}

/// The answer of an API.
public struct APIResponse: Sendable {
    /// The HTTP status.
    public let status: Int
    /// The headers as they came.
    public let headers: [(name: String, value: String)]
    /// At most 1 MiB; a larger answer is an error.
    public let body: [UInt8]

    init(_ response: HTTPResponse) {
        status = response.status
        headers = response.headers.map { ($0.0, $0.1) }
        body = response.bytes
    }

    /// The value of the first header called `name`; upper and lower case count as equal. Nil if there is none.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}

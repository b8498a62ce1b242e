import MPinHTTP
import MPinSecrets
import MPinWire

/// Another part of the system, which this process calls over HTTP. The calls run on threads of ``Workers``.
struct Peer: Sendable {
    /// An answer with any status.
    struct Answer: Sendable {
        let status: Int
        let body: SecretBytes
        /// The seconds of `Retry-After`, if the answer has one.
        let retryAfter: Int?

        /// The body, decoded from JSON; nil if it is not JSON of this type.
        func json<T: Decodable>(_ type: T.Type) -> T? {
            let body = body
            return try? JSON.decode(type, from: body.span)
        }
    }

    /// The base URL, without a slash at the end.
    let url: String
    let seconds: Int
    /// Whether the peer sends a mail before it answers. Such requests may take long, so they run on threads of their
    /// own.
    private let isMailing: Bool
    private let transport: CurlTransport

    init(url: String, seconds: Int, isMailing: Bool = false, userAgent: String? = "mpind") {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.seconds = seconds
        self.isMailing = isMailing
        transport = CurlTransport(policy: HTTPPolicy(userAgent: userAgent))
    }

    func get(_ target: String, bearer: String? = nil) async throws -> Answer {
        try await send(.get, target, headers: [], body: nil, bearer: bearer)
    }

    /// Posts a body as JSON. `mayRepeat`: the request may be sent a second time if a kept connection turns out to be
    /// broken. Otherwise it is sent once, on a new connection.
    func post(
        _ target: String, headers: [(String, String)] = [], _ body: some Encodable & Sendable, bearer: String?,
        mayRepeat: Bool = false
    ) async throws -> Answer {
        try await send(.post, target, headers: headers, body: JSON.bytes(body), bearer: bearer, mayRepeat: mayRepeat)
    }

    private func send(
        _ method: HTTPRequest.Method, _ target: String, headers: [(String, String)], body: [UInt8]?, bearer: String?,
        mayRepeat: Bool = true
    ) async throws -> Answer {
        var headers = headers
        if body != nil { headers.append(("Content-Type", "application/json")) }
        if let bearer { headers.append(("Authorization", "Bearer \(bearer)")) }
        // The deadline begins here, so that it includes the time until a thread is free.
        let request = HTTPRequest(
            method: method, url: url + target, headers: headers, body: body,
            deadline: .after(milliseconds: UInt32(seconds * 1000)), mayRepeat: mayRepeat)
        let execute: @Sendable () throws -> HTTPResponse = { try transport.execute(request) }
        let answer = try await isMailing ? Workers.register(execute) : Workers.call(execute)
        return Answer(
            status: answer.status, body: answer.body, retryAfter: answer.header("Retry-After").flatMap { Int($0) })
    }
}

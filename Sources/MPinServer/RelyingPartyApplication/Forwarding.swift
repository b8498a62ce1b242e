import HTTPTypes
import Hummingbird
import MPinHTTP
import NIOConcurrencyHelpers
import NIOCore

/// Passes what lies below the prefix on to the RPS (wire section 8.6): clients know the RPA's address and no other. Where
/// RPS and RPA share a listener there is nothing to pass on.
struct Forwarding: Sendable {
    /// Base URL of the RPS's public listener.
    private let url: String
    private let prefix: String
    private let limits: Limits
    private let transport = CurlTransport(policy: HTTPPolicy())
    /// Phones and browsers that wait for each other, by who they are: each holds a thread, and nobody may hold them all.
    private let waiting = NIOLockedValueBox([IPAddress?: Int]())
    private static let waitsOfOne = Workers.waits / 4

    init(url: String, prefix: String, limits: Limits) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        self.prefix = prefix
        self.limits = limits
    }

    func addRoutes(to router: Router<RequestContext>) {
        let pass: Handler = { request, context in try await self.pass(request, context) }
        router.serve("/\(prefix)/**", [.get: pass, .post: pass, .put: pass])
        // Phones begin there that know nothing but a URL (wire section 6.15).
        router.serve("/service", [.get: pass])
    }

    private func pass(_ request: Request, _ context: RequestContext) async throws -> Response {
        // What the RPS serves has plain names: nothing here may mean another path to it.
        guard request.uri.path.wholeMatch(of: /[A-Za-z0-9_\/-]+/) != nil,
            let method = MPinHTTP.HTTPRequest.Method(rawValue: request.method.rawValue)
        else { throw APIError.notFound }
        let body = method == .get ? nil : Array(try await request.bytes(limits).readableBytesView)
        let seconds = limits.waitSeconds + limits.callSeconds
        let onward = MPinHTTP.HTTPRequest(
            method: method, url: url + target(request), headers: headers(request, context), body: body,
            deadline: .after(milliseconds: UInt32(seconds * 1000)))
        do {
            return response(
                try await request.kind == .wait ? waited(onward, context.remoteAddress?.caller) : called(onward))
        } catch is HTTPFailure {
            throw APIError(.internalServerError, "The relying party service cannot be reached")
        }
    }

    /// Path and query, and not the host that a request may name with them.
    private func target(_ request: Request) -> String {
        request.uri.path + (request.uri.query.map { "?" + $0 } ?? "")
    }

    private func called(_ request: MPinHTTP.HTTPRequest) async throws -> MPinHTTP.HTTPResponse {
        let execute: @Sendable () throws -> MPinHTTP.HTTPResponse = { try transport.execute(request) }
        // PUT is what starts a registration, and nothing else.
        return try await request.method == .put ? Workers.register(execute) : Workers.call(execute)
    }

    private func waited(_ request: MPinHTTP.HTTPRequest, _ caller: IPAddress?) async throws -> MPinHTTP.HTTPResponse {
        let isAdmitted = waiting.withLockedValue { waiting in
            let count = waiting[caller, default: 0]
            let all = waiting.values.reduce(0, +)
            guard count < Self.waitsOfOne, all < Workers.waits else { return false }
            waiting[caller] = count + 1
            return true
        }
        guard isAdmitted else { throw APIError.overloaded }
        defer {
            waiting.withLockedValue { waiting in
                let count = waiting[caller, default: 1]
                waiting[caller] = count > 1 ? count - 1 : nil
            }
        }
        return try await Workers.wait { try transport.execute(request) }
    }

    /// All of the client's, the Host included, but for those that are about the connection or this website; and who it is.
    private func headers(_ request: Request, _ context: RequestContext) -> [(String, String)] {
        var headers = request.headers.filter { !Self.isOurs($0.name) && $0.name != .cookie }.map {
            ($0.name.rawName, $0.value)
        }
        if let host = request.head.authority { headers.append(("Host", host)) }
        if let address = context.remoteAddress { headers.append(("X-Forwarded-For", address.description)) }
        headers.append(("X-Forwarded-Proto", context.isSecure ? "https" : "http"))
        headers.append(("X-Request-Id", context.requestID))
        return headers
    }

    private func response(_ answer: MPinHTTP.HTTPResponse) -> Response {
        var headers = HTTPFields()
        for (name, value) in answer.headers {
            // Who may read an answer from another website is said once, by this server.
            guard let name = HTTPField.Name(name), !Self.isOurs(name),
                !name.canonicalName.hasPrefix("access-control-")
            else { continue }
            headers.append(HTTPField(name: name, value: value))
        }
        let body = answer.body
        let bytes = body.span.withUnsafeBufferPointer { ByteBuffer(bytes: $0) }
        return Response(
            status: .init(code: min(answer.status, 500)), headers: headers, body: .init(byteBuffer: bytes))
    }

    /// What each of the two connections has for itself (RFC 9110 section 7.6.1), and what this server says of a caller.
    private static func isOurs(_ name: HTTPField.Name) -> Bool {
        [
            "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect",
            "content-length", "date", "x-forwarded-for", "x-forwarded-proto", "x-request-id",
        ].contains(name.canonicalName)
    }
}

import AsyncHTTPClient
import HTTPTypes
import Hummingbird
import MPinHTTP
import MPinService
import NIOCore
import NIOHTTP1

/// Forwards requests below the prefix to the RPS (wire section 8.6), because clients know only the RPA's address. It is
/// not needed if RPS and RPA share a listener.
struct Forwarding: Sendable {
    /// Base URL of the RPS's public listener.
    private let url: String
    private let prefix: String
    private let cors: CORSPolicy
    private let limits: Limits
    private let client = ForwardingClient()
    private let registrations = TaskLimit(Workers.registrations)

    init(url: String, _ config: RelyingPartyApplicationConfig) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        prefix = config.prefix
        cors = .rps(config.allowOrigin)
        limits = config.limits
    }

    /// The operations of the RPS that this server knows, and all others below the prefix, which an RPS of another version
    /// may have.
    var routes: [Route] {
        let known = Dictionary(grouping: RPSOperation.all, by: { $0.path(prefix: prefix) })
        // Phones that know only a URL begin with this request (wire section 6.15).
        let first = Route(.service, prefix: prefix, cors: cors) { try await pass($0, $1, .other) }
        return [first]
            + [.get, .post, .put].flatMap { method in
                known.filter { $0.key.hasPrefix("/\(prefix)/") }.map { path, operations in
                    let same = operations.first { $0.method == method }
                    return route(method, path, (same ?? operations.first)?.limit ?? .other, same?.kind ?? .other)
                } + [route(method, "/\(prefix)/**", .other, .other)]
            }
    }

    private func route(
        _ method: HTTPRequest.Method, _ path: String, _ limit: Route.Limit, _ kind: Route.Kind
    ) -> Route {
        Route(method, path, limit: limit, kind: kind, cors: cors) { try await pass($0, $1, kind) }
    }

    private func pass(_ request: Request, _ context: RequestContext, _ kind: Route.Kind) async throws -> Response {
        // The RPS's paths contain only these characters. Others are refused, because RPA and RPS could understand them
        // differently.
        guard request.uri.path.wholeMatch(of: /[A-Za-z0-9_\/-]+/) != nil else { throw APIError.notFound }
        var onward = HTTPClientRequest(url: url + target(request))
        guard HTTPPolicy().refusal(of: onward.url) == nil else { throw Self.unreachable }
        onward.method = HTTPMethod(rawValue: request.method.rawValue)
        onward.headers = headers(request, context)
        if request.method != .get { onward.body = .bytes(try await request.bytes(limits)) }
        switch kind {
        case .page, .phone: return try await waited(onward, kind)
        // Clients use PUT only to start a registration, which must not be sent twice.
        case _ where request.method == .put:
            return try await registrations.run { try await answered(onward, .other, mayRepeat: false) }
        default: return try await answered(onward, .other, mayRepeat: request.method == .get)
        }
    }

    /// The path and query of the request. Its target may also contain a host, which is left out.
    private func target(_ request: Request) -> String {
        request.uri.path + (request.uri.query.map { "?" + $0 } ?? "")
    }

    /// Forwards a request that waits for a person. The request is cancelled when the server is to stop or the client
    /// disconnects, so that its place is free at once, here and at the RPS. A page's request may be repeated, because
    /// it changes nothing.
    private func waited(_ request: HTTPClientRequest, _ kind: Route.Kind) async throws -> Response {
        let answer = Task(executorPreference: EventLoopExecutor.shared) {
            try await answered(request, kind, mayRepeat: kind == .page)
        }
        do {
            return try await runWhileNeeded {
                try await answer.value
            } onEnd: {
                answer.cancel()
            }
        } catch  where answer.isCancelled {
            throw ClientDisconnect.current?.hasHappened == true ? APIError.gone : APIError.ending
        }
    }

    private func answered(
        _ request: HTTPClientRequest, _ kind: Route.Kind, mayRepeat: Bool
    ) async throws -> Response {
        do {
            let seconds =
                limits.callSeconds + (kind == .page ? limits.service.pageWaitSeconds : limits.service.waitSeconds)
            return response(try await client.send(request, seconds: seconds, mayRepeat: mayRepeat), kind)
        } catch { throw Self.unreachable }
    }

    private static let unreachable = APIError(
        .internalServerError, "The relying party service cannot be reached")

    /// The headers for the RPS: all of the client's, including Host, except those about the connection and the
    /// website's cookies; and the client's address.
    private func headers(_ request: Request, _ context: RequestContext) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for field in request.headers where !Self.isOurs(field.name) && field.name != .cookie {
            headers.add(name: field.name.rawName, value: field.value)
        }
        if let host = request.head.authority { headers.add(name: "Host", value: host) }
        if let address = context.remoteAddress { headers.add(name: "X-Forwarded-For", value: address.description) }
        headers.add(name: "X-Forwarded-Proto", value: context.isSecure ? "https" : "http")
        headers.add(name: "X-Request-Id", value: context.requestID)
        return headers
    }

    private func response(_ answer: ForwardingClient.Answer, _ kind: Route.Kind) -> Response {
        var headers = HTTPFields()
        for (name, value) in answer.response.headers {
            // This server itself adds the headers that decide which websites may read an answer.
            guard let name = HTTPField.Name(name), !Self.isOurs(name),
                !name.canonicalName.hasPrefix("access-control-")
            else { continue }
            headers.append(HTTPField(name: name, value: value))
        }
        let status = Int(answer.response.status.code)
        // Milagro's servers send no status above 500, so Milagro's clients may not know one. The answer of a request
        // that waits for a person may still be 503.
        let most = kind.waits && status == 503 ? 503 : 500
        return Response(
            status: .init(code: min(status, most)), headers: headers, body: .init(byteBuffer: answer.body))
    }

    /// Whether a header is not forwarded, because it belongs to only one of the two connections (RFC 9110 section
    /// 7.6.1), or because this server sets it to describe the caller.
    private static func isOurs(_ name: HTTPField.Name) -> Bool {
        [
            "connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect",
            "content-length", "date", "x-forwarded-for", "x-forwarded-proto", "x-request-id",
        ].contains(name.canonicalName)
    }
}

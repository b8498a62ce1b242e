import HTTPTypes
import Hummingbird
import Logging
import NIOCore

/// Everything that happens around a handler, outermost first.
func middleware(
    cors: [CORSPolicy], limits: Limits
) -> [any MiddlewareProtocol<Request, Response, RequestContext>] {
    [
        ForwardedHeaders(proxies: TrustedProxies(), isTLS: false), RequestLog(), StandardHeaders(cors: cors),
        ErrorRenderer(), RequestChecks(limits: limits),
    ]
}

/// One log line a request: the template of its path, never the path or query, which carry M-Pin IDs and one-time
/// tokens.
private struct RequestLog: RouterMiddleware {
    typealias Context = RequestContext

    func handle(
        _ request: Request, context: RequestContext, next: (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await next(request, context)
        let elapsed = start.duration(to: .now)
        context.logger.info(
            "request",
            metadata: [
                "method": "\(request.method.rawValue)", "route": "\(context.endpointPath ?? "-")",
                "status": "\(response.status.code)",
                "ms": "\(elapsed.components.seconds * 1000 + elapsed.components.attoseconds / 1_000_000_000_000_000)",
            ])
        return response
    }
}

/// Turns every error into the one shape, and an unforeseen one into 500 and a log line.
private struct ErrorRenderer: RouterMiddleware {
    typealias Context = RequestContext

    func handle(
        _ request: Request, context: RequestContext, next: (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as APIError {
            return error.response
        } catch let error as HTTPError {
            return (error.status == .notFound ? APIError.notFound : APIError(error.status, error.status.reasonPhrase))
                .response
        } catch {
            context.logger.error("request failed", metadata: ["error": "\(error)"])
            return APIError.internalError.response
        }
    }
}

/// What is refused before any handler looks at the request.
private struct RequestChecks: RouterMiddleware {
    typealias Context = RequestContext
    let limits: Limits

    func handle(
        _ request: Request, context: RequestContext, next: (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        guard request.uri.string.utf8.count <= limits.targetBytes else { throw APIError.targetTooLong }
        // Any path, known or not (wire section 2).
        if request.method == .options { return .json(["message": "options request"]) }
        return try await next(request, context)
    }
}

/// The CORS headers of the paths below `prefix` (wire section 2).
struct CORSPolicy: Sendable {
    let prefix: String
    let methods: String
    let headers: String
    /// Compared as a whole with the request's `Origin`; `*` stands for every origin.
    let origins: [String]
    /// Old D-TAs and RPAs send `*` even to requests without an `Origin`.
    let always: Bool

    private static let common =
        "Content-Type, Depth, User-Agent, X-File-Size, X-Requested-With, X-Requested-By, If-Modified-Since, "
        + "X-File-Name, Cache-Control"

    static func rps(prefix: String, origins: [String]) -> CORSPolicy {
        CORSPolicy(
            prefix: "/\(prefix)/", methods: "GET,PUT,POST,DELETE,OPTIONS", headers: common + ", WWW-Authenticate",
            origins: origins, always: false)
    }

    static let dta = CORSPolicy(prefix: "/", methods: "GET, OPTIONS", headers: common, origins: ["*"], always: true)
    static let rpa = CORSPolicy(
        prefix: "/", methods: "GET,POST,HEAD,OPTIONS", headers: common + ", Pragma, Expires, WWW-Authenticate",
        origins: ["*"], always: true)

    func apply(_ request: Request, to fields: inout HTTPFields) {
        fields[.accessControlAllowCredentials] = "true"
        fields[.accessControlAllowMethods] = methods
        fields[.accessControlAllowHeaders] = headers
        if always {
            fields[.accessControlAllowOrigin] = "*"
        } else if let origin = request.headers[.origin] {
            fields[.vary] = "Origin"
            if origins.contains(origin) {
                fields[.accessControlAllowOrigin] = origin
            } else if origins.contains("*") {
                fields[.accessControlAllowOrigin] = "*"
            }
        }
    }
}

/// CORS, and what tells browsers and proxies to keep nothing and guess nothing.
private struct StandardHeaders: RouterMiddleware {
    typealias Context = RequestContext
    let cors: [CORSPolicy]

    private static let fixed: [(HTTPField.Name, String)] = [
        (.cacheControl, "no-store"),
        (.xContentTypeOptions, "nosniff"),
        (.referrerPolicy, "no-referrer"),
        (.contentSecurityPolicy, "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"),
        (.xFrameOptions, "DENY"),
    ]

    func handle(
        _ request: Request, context: RequestContext, next: (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        if request.method == .head { response = response.createHeadResponse() }
        for (name, value) in Self.fixed where response.headers[name] == nil { response.headers[name] = value }
        cors.first { request.uri.path.hasPrefix($0.prefix) }?.apply(request, to: &response.headers)
        return response
    }
}

extension HTTPField.Name {
    static let referrerPolicy = constant("Referrer-Policy")
    static let xFrameOptions = constant("X-Frame-Options")

    static func constant(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .server }
}

import HTTPTypes
import Hummingbird

/// CORS, and what tells browsers and proxies to keep nothing and guess nothing.
struct StandardHeaders: RouterMiddleware {
    typealias Context = RequestContext
    let cors: [CORSPolicy]

    private static let fixed: [(HTTPField.Name, String)] = [
        (.cacheControl, "no-store"),
        (.xContentTypeOptions, "nosniff"),
        (.referrerPolicy, "no-referrer"),
        (.contentSecurityPolicy, "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"),
        (.xFrameOptions, "DENY"),
        (.crossOriginOpenerPolicy, "same-origin"),
        (.crossOriginResourcePolicy, "same-origin"),
        (.permissionsPolicy, "camera=(), microphone=(), geolocation=()"),
    ]

    func handle(
        _ request: Request, context: RequestContext, next: (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        if request.method == .head { response = response.createHeadResponse() }
        for (name, value) in Self.fixed where response.headers[name] == nil { response.headers[name] = value }
        // A year, after which browsers may try plain HTTP again.
        if context.isSecure { response.headers[.strictTransportSecurity] = "max-age=31536000" }
        cors.first { request.uri.path.hasPrefix($0.prefix) }?.apply(request, to: &response.headers)
        return response
    }
}

extension HTTPField.Name {
    static let referrerPolicy = constant("Referrer-Policy")
    static let xFrameOptions = constant("X-Frame-Options")
    static let crossOriginOpenerPolicy = constant("Cross-Origin-Opener-Policy")
    static let crossOriginResourcePolicy = constant("Cross-Origin-Resource-Policy")
    static let permissionsPolicy = constant("Permissions-Policy")

    static func constant(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .server }
}

import HTTPTypes
import Hummingbird

/// Adds the headers of every answer: the request's id, CORS, and those that forbid caching and guessing of types.
struct StandardHeaders: Sendable {
    private static let fixed: [HTTPField] = [
        HTTPField(name: .cacheControl, value: "no-store"),
        HTTPField(name: .xContentTypeOptions, value: "nosniff"),
        HTTPField(name: .referrerPolicy, value: "no-referrer"),
        HTTPField(
            name: .contentSecurityPolicy,
            value: "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"),
        HTTPField(name: .xFrameOptions, value: "DENY"),
        HTTPField(name: .crossOriginOpenerPolicy, value: "same-origin"),
        HTTPField(name: .crossOriginResourcePolicy, value: "same-origin"),
        HTTPField(name: .permissionsPolicy, value: "camera=(), microphone=(), geolocation=()"),
    ]

    func add(
        to response: inout Response, _ request: Request, _ context: RequestContext, _ cors: CORSPolicy?
    ) async {
        if request.method == .head { response = response.createHeadResponse() }
        response.headers.reserveCapacity(response.headers.count + 16)
        for field in Self.fixed where !response.headers.contains(field.name) { response.headers.append(field) }
        // Makes browsers use only HTTPS for this host, for a year (in seconds).
        if context.isSecure { response.headers[.strictTransportSecurity] = "max-age=31536000" }
        await cors?.add(to: &response.headers, request)
        response.headers.append(HTTPField(name: .xRequestID, value: context.requestID))
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

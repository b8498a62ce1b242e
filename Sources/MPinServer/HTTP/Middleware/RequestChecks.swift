import Hummingbird

/// What is refused before any handler looks at the request.
struct RequestChecks: RouterMiddleware {
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

import Hummingbird

/// Tells the audit log who sent the request that leads to a line.
struct AuditOrigin: RouterMiddleware {
    typealias Context = RequestContext

    func handle(
        _ request: Request, context: RequestContext, next: (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        try await Audit.$origin.withValue(context.remoteAddress?.description) { try await next(request, context) }
    }
}

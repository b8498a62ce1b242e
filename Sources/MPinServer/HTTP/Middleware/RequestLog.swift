import Hummingbird
import Logging

/// One log line and one count a request: the template of its path, never the path or query, which carry M-Pin IDs and
/// one-time tokens.
struct RequestLog: RouterMiddleware {
    typealias Context = RequestContext
    let listener: String
    let metrics: Metrics

    func handle(
        _ request: Request, context: RequestContext, next: (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let response = try await next(request, context)
        let elapsed = start.duration(to: .now)
        let (method, route) = (request.method.knownName, context.endpointPath ?? "-")
        metrics.count(.requests, [listener, method, route, String(response.status.code)])
        metrics.observe(.requestSeconds, elapsed / .seconds(1), [listener, method, route])
        context.logger.info(
            "request",
            metadata: [
                "listener": "\(listener)", "method": "\(method)", "route": "\(route)",
                "status": "\(response.status.code)", "ms": "\(Int(elapsed / .milliseconds(1)))",
                "remote": "\(context.remoteAddress?.description ?? "-")",
            ])
        return response
    }
}

extension HTTPRequest.Method {
    /// The method, unless somebody made it up: then `OTHER`.
    fileprivate var knownName: String {
        let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options, .connect, .trace]
        return known.contains(self) ? rawValue : "OTHER"
    }
}

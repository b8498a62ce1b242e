import HTTPTypes
import Hummingbird
import Logging

/// Logs and counts each request. The log line and the metrics contain the template of the path, never the path or
/// query, because these contain M-Pin IDs and one-time tokens.
struct RequestLog: Sendable {
    let listener: String
    let metrics: Metrics

    /// `path`: the template of the path; nil if nobody has it.
    func record(
        _ request: Request, _ context: RequestContext, _ status: HTTPResponse.Status, at path: String?,
        since start: ContinuousClock.Instant
    ) {
        let elapsed = start.duration(to: .now)
        let method = request.method.knownName
        let route = path ?? (status == .notFound ? "NotFound" : "-")
        metrics.count(.requests, [listener, method, route, String(status.code)])
        metrics.observe(.requestSeconds, elapsed / .seconds(1), [listener, method, route])
        guard context.logs(.info) else { return }
        context.logger.info(
            "request",
            metadata: [
                "listener": "\(listener)", "method": "\(method)", "route": "\(route)",
                "status": "\(status.code)", "ms": "\(Int(elapsed / .milliseconds(1)))",
                "remote": "\(context.remoteAddress?.description ?? "-")",
            ])
    }
}

extension HTTPRequest.Method {
    /// The method if it is a standard one, otherwise `OTHER`: invented names would fill the metrics.
    fileprivate var knownName: String {
        let known: [HTTPRequest.Method] = [.get, .head, .post, .put, .delete, .patch, .options, .connect, .trace]
        return known.contains(self) ? rawValue : "OTHER"
    }
}

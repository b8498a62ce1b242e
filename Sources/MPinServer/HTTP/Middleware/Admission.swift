import Hummingbird
import NIOConcurrencyHelpers

/// Refuses at once what would only wait: a queue without an end makes every answer late, and none of them useful.
final class Admission: RouterMiddleware {
    typealias Context = RequestContext
    private let limit: Int
    private let metrics: Metrics
    private let running = NIOLockedValueBox(0)

    init(limit: Int, metrics: Metrics) {
        self.limit = limit
        self.metrics = metrics
    }

    func handle(
        _ request: Request, context: RequestContext, next: (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        // Phone and browser wait for each other: that costs a connection and no work, and connections have their limit.
        let isWait = request.uri.path.hasSuffix("/authenticate") || request.uri.path.hasSuffix("/access")
        guard !isWait else { return try await next(request, context) }
        let isAdmitted = running.withLockedValue { running in
            guard running < limit else { return false }
            running += 1
            return true
        }
        guard isAdmitted else {
            metrics.count(.overloaded)
            throw APIError.overloaded
        }
        defer { running.withLockedValue { $0 -= 1 } }
        return try await next(request, context)
    }
}

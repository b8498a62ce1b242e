import HTTPTypes
import Hummingbird

/// What answers a request: parse, check, act, render.
typealias Handler = @Sendable (Request, RequestContext) async throws -> Response

extension Router where Context == RequestContext {
    /// Serves `path` with one handler a method; the other methods get 405.
    func serve(_ path: String, _ handlers: [HTTPRequest.Method: Handler]) {
        for method in [.get, .put, .post, .delete, .patch, .head] as [HTTPRequest.Method] {
            let handler = handlers[method] ?? { _, _ in throw APIError.methodNotAllowed }
            on(RouterPath(path), method: method, use: handler)
        }
    }
}

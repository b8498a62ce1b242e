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

/// A wire that programs speak with the service. It reads requests and spells answers, and decides nothing else: whether a
/// PIN is right and what that leads to is the service's.
protocol Face: Sendable {
    /// For everybody.
    func addPublicRoutes(to router: Router<RequestContext>)

    /// For the parts of this system, on a listener of their own.
    func addPrivateRoutes(to router: Router<RequestContext>)

    /// Which pages of other sites may call the public routes.
    var cors: [CORSPolicy] { get }
}

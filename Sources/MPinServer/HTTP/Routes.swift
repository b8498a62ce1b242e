import HTTPTypes
import Hummingbird

/// Answers a request: parses, checks, acts, and makes the answer.
typealias Handler = @Sendable (Request, RequestContext) async throws -> Response

extension Router where Context == RequestContext {
    /// Serves `path` with one handler for each method. Other methods get 405.
    func serve(_ path: String, _ handlers: [HTTPRequest.Method: Handler]) {
        for method in [.get, .put, .post, .delete, .patch, .head] as [HTTPRequest.Method] {
            let handler = handlers[method] ?? { _, _ in throw APIError.methodNotAllowed }
            on(RouterPath(path), method: method, use: handler)
        }
    }
}

/// The HTTP interface of the service for one wire protocol. It reads requests and writes answers. It decides nothing:
/// the service decides whether a PIN is right and what follows.
protocol Face: Sendable {
    /// Adds the routes for everybody.
    func addPublicRoutes(to router: Router<RequestContext>)

    /// Adds the routes for the other parts of this system, on a listener of their own.
    func addPrivateRoutes(to router: Router<RequestContext>)

    /// The rules by which pages of other sites may call the public routes.
    var cors: [CORSPolicy] { get }
}

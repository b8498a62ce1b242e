import HTTPTypes
import Hummingbird

/// The operations of one listener, found by the framework's router.
struct RouteTable: Sendable {
    private static let methods: [HTTPRequest.Method] = [.get, .put, .post, .delete, .patch, .head, .options]

    let routes: [Route]
    /// What holds for requests at paths that no route has.
    let unknown: Route

    /// `cors`, `errors`: for requests at paths that nobody has.
    init(_ routes: [Route], cors: CORSPolicy? = nil, errors: ErrorForm? = nil, limit: Route.Limit) {
        self.routes = routes
        unknown = .rest(below: "", limit: limit, cors: cors, errors: errors)
    }

    /// Makes the router. `edge` does what comes before and after each answer.
    func router(_ edge: ListenerEdge) -> RouterResponder<RequestContext> {
        let router = Router(context: RequestContext.self)
        for (path, routes) in Dictionary(grouping: routes, by: \.path) {
            for method in Self.methods {
                let route = route(method, of: routes)
                router.on(RouterPath(path), method: method) { request, context in
                    try await edge.answer(request, context, route)
                }
            }
        }
        // It is added last, so that it is in the way of unknown paths only.
        router.add(middleware: UnknownPath(edge: edge, route: unknown))
        return router.buildResponder()
    }

    /// The route for a method at a path with `routes`. A method that none of them has gets 405, with the limit of the first
    /// one. Which pages may read answers is a fact of the path, because a browser asks once for all methods.
    private func route(_ method: HTTPRequest.Method, of routes: [Route]) -> Route {
        let cors = routes.lazy.compactMap(\.cors).first
        guard let first = routes.first else { return unknown }
        if first.isRest { return first }
        guard let route = routes.first(where: { $0.method == method }) else {
            return Route(method, first.path, limit: first.limit, cors: cors, errors: first.errors) { _, _ in
                throw APIError.methodNotAllowed
            }
        }
        return Route(
            method, route.path, limit: route.limit, kind: route.kind, cors: cors, errors: route.errors, route.answer)
    }
}

/// Answers requests at paths that no route has.
private struct UnknownPath: RouterMiddleware {
    let edge: ListenerEdge
    let route: Route

    func handle(
        _ request: Request, context: RequestContext,
        next: @concurrent (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        try await edge.answer(request, context, route)
    }
}

import HTTPTypes
import Hummingbird

/// Everything that happens around a handler, as one layer: handing a request on from layer to layer costs more than most
/// of what the layers do.
struct Surroundings: RouterMiddleware {
    typealias Context = RequestContext
    private let forwarded: ForwardedHeaders
    private let log: RequestLog
    private let headers: StandardHeaders
    private let checks: RequestChecks
    private let admission: Admission
    private let rates: RateLimiting?
    private let errorPage: ErrorPage?

    /// `errorPage`: what a website shows to people instead of an error.
    init(
        _ listener: String, _ edge: Edge, cors: [CORSPolicy], rates: RateLimiter?, servesLogins: Bool,
        errorPage: ErrorPage?
    ) {
        self.errorPage = errorPage
        forwarded = ForwardedHeaders(proxies: edge.exposure.proxies, isTLS: edge.exposure.identity != nil)
        log = RequestLog(listener: listener, metrics: edge.metrics)
        headers = StandardHeaders(cors: cors)
        checks = RequestChecks(limits: edge.limits)
        admission = Admission(edge.limits, servesLogins: servesLogins, metrics: edge.metrics)
        self.rates = rates.map(RateLimiting.init)
    }

    func handle(
        _ request: Request, context: RequestContext,
        next: @concurrent (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        let context = forwarded.read(request, context)
        var response = try await Audit.$origin.withValue(context.remoteAddress) {
            do { return try await answer(request, context, next) } catch {
                return try renderedError(error, request, context, page: errorPage)
            }
        }
        log.record(request, context, response.status, since: start)
        await headers.add(to: &response, request, context)
        // Who may not wait leaves its connection to others.
        if response.status == .serviceUnavailable, request.kind.waits { response.headers[.connection] = "close" }
        return response
    }

    private func answer(
        _ request: Request, _ context: RequestContext,
        _ next: @concurrent (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        if let response = try checks.answer(request) { return response }
        // First, so that who sends nothing takes no place from others.
        let request = try await request.withBody(checks.limits)
        let place = try admission.enter(request, from: context.remoteAddress)
        defer { admission.leave(place) }
        try rates?.count(request, context)
        do { return try await next(request, context) } catch let error as APIError {
            try rates?.count(error, request, context)
            throw error
        }
    }
}

/// What is refused, or answered, before any handler looks at the request.
struct RequestChecks: Sendable {
    let limits: Limits

    func answer(_ request: Request) throws(APIError) -> Response? {
        guard request.uri.string.utf8.count <= limits.targetBytes else { throw APIError.targetTooLong }
        // Any path, known or not (wire section 2).
        return request.method == .options ? .json(["message": "options request"]) : nil
    }
}

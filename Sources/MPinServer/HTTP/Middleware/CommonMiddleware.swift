import HTTPTypes
import Hummingbird
import MPinStore

/// All work before and after a handler. It is one middleware, because passing a request from one middleware to the next
/// costs more than most of this work.
struct CommonMiddleware: RouterMiddleware {
    typealias Context = RequestContext
    private let forwarded: ForwardedHeaders
    private let log: RequestLog
    private let headers: StandardHeaders
    private let checks: RequestChecks
    private let admission: Admission
    private let rates: RateLimiting?
    private let errorForm: ErrorForm?

    /// `errorForm`: makes the page that a website shows instead of an error, or an error in the form of another wire.
    init(
        _ listener: String, _ edge: Edge, cors: [CORSPolicy], rates: RateLimiter?, servesLogins: Bool,
        errorForm: ErrorForm?
    ) {
        self.errorForm = errorForm
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
        var response = try await StorePatience.limit {
            try await Audit.$origin.withValue(context.remoteAddress) {
                try await StoreBudget.$asker.withValue(asker(context)) {
                    do { return try await answer(request, context, next) } catch {
                        return try renderedError(error, request, context, form: errorForm)
                    }
                }
            }
        }
        log.record(request, context, response.status, since: start)
        await headers.add(to: &response, request, context)
        // A page or phone that gets 503 does not wait, so its connection is closed and free for others.
        if response.status == .serviceUnavailable, request.kind.waits { response.headers[.connection] = "close" }
        return response
    }

    /// The address that has a share of the memory; nil for the other parts of this system, which come to listeners without
    /// limits.
    private func sharer(_ context: RequestContext) -> IPAddress? { rates?.limiter.sharer(context.remoteAddress) }

    /// Who asks. The other parts of this system ask for strangers, too.
    private func asker(_ context: RequestContext) -> StoreBudget.Asker {
        .stranger(sharer(context).map { .init($0) })
    }

    private func answer(
        _ request: Request, _ context: RequestContext,
        _ next: @concurrent (Request, RequestContext) async throws -> Response
    ) async throws -> Response {
        if let response = try checks.answer(request) { return response }
        // The body is read before the request takes one of the limited places for running requests, so that a client
        // that sends nothing takes none.
        let request = try await admission.withBody(request, from: sharer(context))
        let place = try admission.enter(request, from: context.remoteAddress)
        defer { admission.leave(place) }
        try rates?.count(request, context)
        let response: Response
        do { response = try await next(request, context) } catch let error as APIError {
            try rates?.count(refusal: error.status, request, context)
            throw error
        }
        try rates?.count(refusal: response.status, request, context)
        return response
    }
}

/// Refuses or answers some requests before any handler sees them.
struct RequestChecks: Sendable {
    let limits: Limits

    func answer(_ request: Request) throws(APIError) -> Response? {
        guard request.uri.string.utf8.count <= limits.targetBytes else { throw APIError.targetTooLong }
        // OPTIONS gets the same answer for every path, known or not (wire section 2).
        return request.method == .options ? .json(["message": "options request"]) : nil
    }
}
